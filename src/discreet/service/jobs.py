"""A worker: it takes approved requests from the queue, one after the other, in a process of its own.

Promise
    [jobs.1] Only a plan that a signed entry approves is run, and it is charged before a row is read.
    [jobs.2] A request is charged once, however often its worker or its server is ended, and one answer is ever shown.
    [jobs.3] What goes wrong after the charge has one sentence, whatever it was; what a worker prints is kept by nobody.
Why
    [jobs.1] `approval` reads the chain ([service_requests.1]) and the plan is bound anew and compared with what was
    signed; then [run_plan.1]. [jobs.2] The plan's digest is the ledger's request ([store.2]); an answer is shown from
    the ledger alone. [jobs.3] Whether something was charged is asked of the ledger, not of the error. If nothing was,
    no row was read, and the sentence is that of the error's kind; else it is the page's, whatever the error.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Final

from discreet.errors import BadInput, OverBudget, Refused
from discreet.ledger.service_requests import Request
from discreet.plan.run_plan import run_plan
from discreet.service.asked_plan import understood
from discreet.service.desk import Desk
from discreet.service.settings import read_settings

PAUSE: Final = 0.2  # seconds between looks at the queue
UNSIGNED: Final = "No signed approval of this plan was found. Nothing was charged."
MOVED: Final = "The table was declared anew after this was approved. Nothing was charged; ask again."
SPENT: Final = "Less than this costs was left of the budget when its turn came. Nothing was charged."
CANNOT: Final = "The table cannot be asked this as it is declared now. Nothing was charged."
BROKEN: Final = "The service could not begin. Nothing was charged; tell its administrator, and ask again."


def work_off(desk: Desk, request: Request) -> None:
    """Answer one request: charge, read, store; and note where its answer is."""
    answered: str | None = None
    said: str | None
    try:
        answered, said = _answer(desk, request)
    except OverBudget:
        said = SPENT
    except (BadInput, Refused):
        said = CANNOT
    except Exception:  # noqa: BLE001  what it says is passed on to nobody: [jobs.3]
        said = BROKEN
    if desk.requests.charged(f"plan {request.plan}"):  # by this try, or by one before: [jobs.3]
        said = None
    desk.requests.finish(request.id, answered=answered, said=said)


def _answer(desk: Desk, request: Request) -> tuple[str | None, str | None]:
    source = desk.sources.named(request.source)
    if not desk.requests.approval(request):  # [jobs.1]
        return None, UNSIGNED
    if source is None:
        return None, CANNOT
    for equal in desk.requests.listed({"question": request.question, "state": "done"}):
        if equal.answered is not None and desk.ledger.answer(equal.answered) is not None:
            return equal.answered, None  # stored already: nothing is charged
    asked = understood(request.text, source, request.analyst, desk.folder)
    if asked.bound.digest != request.plan:  # [jobs.1]
        return None, MOVED
    run_plan(asked.bound)  # [jobs.2]
    return asked.bound.request, None


def main(config: Path, worker: str) -> None:
    """Work until whoever started this is gone: then standard input ends."""
    threading.Thread(target=_until_alone, daemon=True).start()
    desk = Desk(read_settings(config), config.absolute().parent)
    _say("ready")
    while True:
        request = desk.requests.claim(worker, desk.clock())
        if request is None:
            time.sleep(PAUSE)
            continue
        _say("begin", request.id)
        work_off(desk, request)
        _say("end", request.id)


def _say(*words: str) -> None:
    os.write(1, (" ".join(words) + "\n").encode())


def _until_alone() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
