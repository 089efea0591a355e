"""What is done after a charge: whatever goes wrong then says that the budget was spent, and nothing of the data."""

from collections.abc import Callable
from typing import TypeVar

from discreet.errors import DiscreetError, NotAnswered

T = TypeVar("T")
HIDDEN = "why is not shown, as it might tell of the data"


def paid(work: Callable[[], T]) -> T:
    """What `work` gives, or NotAnswered: BadInput and its kind mean that nothing was spent."""
    try:
        return work()
    except NotAnswered:
        raise
    except DiscreetError as error:
        why = str(error)
    except Exception:  # noqa: BLE001  its message may hold a value
        why = HIDDEN
    raise NotAnswered(
        f"the budget was spent, and no answer could be made: {why}. If the question had a request id and nothing was "
        "drawn yet, asking again with it costs nothing; otherwise asking again is charged again"
    )
