"""The command line: `discreet demo`, `describe`, `plan`, `release`, `forecast`, `explain`, `ledger`, `report`, `audit`.

Exit codes: 0 done; 1 a fault of ours or of the disk, or the question was answered with no; 2 what was asked cannot be
done, and nothing was spent; 3 refused; 4 over budget; 5 a ledger does not agree with itself, its key or its anchor;
6 the budget was spent, and no answer could be made; 7 an audit found something.
"""

import io
import os
import sys

from discreet.errors import DiscreetError, LedgerChanged, NotAnswered, OverBudget, Refused, printable


def exit_code(error: DiscreetError) -> int:
    """What the shell sees."""
    match error:
        case Refused():
            return 3
        case OverBudget():
            return 4
        case LedgerChanged():
            return 5
        case NotAnswered():
            return 6
        case _:
            return 2


def main() -> None:
    """Run the command line; an error of ours becomes one line and an exit code, never a traceback."""
    from discreet.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another one
    try:
        app()
    except DiscreetError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(exit_code(error))
    except OSError as error:  # a full disk, say
        where = "" if error.filename is None else f": {error.filename}"
        sys.stderr.write(printable(f"{error.strerror or error}{where}\n"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try once more
        sys.exit(1)
    except Exception as error:  # noqa: BLE001  whatever it says may tell of the data
        sys.stderr.write(
            f"a fault of discreet itself, {type(error).__name__}. Its message is not shown, because it might tell of "
            "the data; what was charged stays charged. Please report the command and this name\n"
        )
        sys.exit(1)
