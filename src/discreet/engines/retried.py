"""A fold whose parts may fail, come twice or be lost: what all engines share.

Promise
    [retried.1] `folded` merges every part exactly once, or raises BadInput with one fixed sentence: a part that failed
          is worked on again, TRIES times in all; one that came twice is used once. Nothing that a kernel raised is
          shown or passed on, for it may quote a row.
Why
    [retried.1] Parts that are still missing are asked for by number; the first result of a number is merged, and the
    number is then no longer missing. A kernel is a function of its part and of public numbers, so that every result of
    a part is the same. `sealed` runs where the part is: an exception ends there, as "not done".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from discreet.errors import BadInput

R = TypeVar("R")
TRIES: Final = 3
LOST: Final = (
    "a part of the table was lost where it is worked on, and to try again did not help; an answer without it would be "
    "about other people; look at the cluster, then ask again"
)


@dataclass(frozen=True, slots=True)
class Done:
    """What a kernel gave. In a wrapper, because None says that it failed."""

    found: Any


def sealed(kernel: Callable[[Any], Any], part: Any) -> Done | None:
    """A kernel's result; None if it raised, whatever it said. [retried.1]"""
    try:
        return Done(kernel(part))
    except Exception:  # noqa: BLE001  its message may quote a row
        return None


def folded(
    run: Callable[[list[int]], Iterable[tuple[int, Done | None]]], count: int, merge: Callable[[R, R], R]
) -> R | None:
    """All parts merged; `run` works on those of some numbers, and gives number and result in any order. [retried.1]"""
    missing, whole = set(range(count)), None
    for _ in range(TRIES):
        if not missing:
            break
        for number, done in run(sorted(missing)):
            if done is not None and number in missing:  # [retried.1]
                missing.discard(number)
                whole = done if whole is None else Done(merge(whole.found, done.found))
    if missing:
        raise BadInput(LOST)  # [retried.1]
    return None if whole is None else whole.found


def persistent(kernel: Callable[[Any], Any], part: Any) -> Done | None:
    """The same, tried where the part is as often as a fold would. [retried.1]"""
    tries = (sealed(kernel, part) for _ in range(TRIES))
    return next((done for done in tries if done is not None), None)
