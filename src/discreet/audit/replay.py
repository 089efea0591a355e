"""Replay: run a mechanism on one table, then on its neighbour with the very same answers from the door.

Given equal answers so far, each request on the neighbour must lie within the sensitivity that it claims, and when all
answers are equal so must be everything that leaves. That is the induction behind every composition proof, checked by
machine: whatever reaches the output without passing the door, or moves more than was claimed, is found.

Coins that cost nothing protect nobody. So the promise must hold however the free draws fall, and the replay forces
them: a mechanism that publishes a record with one chance in a million is caught at the first try.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Literal

from discreet.audit.worlds import Pair
from discreet.noise.door import Door, Request, Uniform
from discreet.noise.seeded import Seeded
from discreet.promise.mechanism import Mechanism
from discreet.promise.release import plain

Fate = Literal["fair", "lowest", "highest"]
FATES: tuple[Fate, ...] = ("fair", "lowest", "highest")


class Recorder(Door):
    """A door that remembers what was asked and answered; free draws fall as they are told to."""

    def __init__(self, inner: Door, fate: Fate = "fair") -> None:
        self.log: list[tuple[Request, Any]] = []
        self._inner, self._fate = inner, fate

    @property
    def secure(self) -> bool:
        """As the door behind it."""
        return self._inner.secure

    def draw(self, request: Request) -> Any:
        """Pass on, and remember."""
        if isinstance(request, Uniform) and self._fate != "fair":
            answer: Any = 0 if self._fate == "lowest" else request.bound - 1
        else:
            answer = self._inner.draw(request)
        self.log.append((request, copy(answer)))
        return answer


class Replayer(Door):
    """A door that gives the answers of an earlier run and compares the questions."""

    def __init__(self, recorded: Recorder) -> None:
        self.objections: list[str] = []
        self._log, self._at, self._secure = recorded.log, 0, recorded.secure

    @property
    def secure(self) -> bool:
        """As it was recorded."""
        return self._secure

    def draw(self, request: Request) -> Any:
        """The recorded answer; object if the question moved too far."""
        if self._at >= len(self._log):
            raise _DivergedError("the neighbour asks for more draws")
        earlier, answer = self._log[self._at]
        self._at += 1
        if type(earlier) is not type(request):
            raise _DivergedError(
                f"draw {self._at} is a {type(earlier).__name__}, on the neighbour a {type(request).__name__}"
            )
        objection = earlier.objection(request)
        if objection is not None:
            self.objections.append(f"draw {self._at} ({type(request).__name__}): {objection}")
        return copy(answer)

    @property
    def unused(self) -> int:
        """How many recorded draws were not asked for."""
        return len(self._log) - self._at


class _DivergedError(Exception):
    """The two runs no longer ask the same kind of question."""


def replay(mechanism: Mechanism[Any], pair: Pair, *, seed: int = 0, fate: Fate = "fair") -> list[str]:
    """What is wrong with a mechanism on one pair of neighbours; an empty list if nothing is."""
    recorder = Recorder(Seeded(seed), fate)
    first, first_error = _attempt(lambda: mechanism.release(pair.left, recorder))
    replayer = Replayer(recorder)
    try:
        second, second_error = _attempt(lambda: mechanism.release(pair.right, replayer))
    except _DivergedError as difference:
        return [*replayer.objections, str(difference)]
    found = list(replayer.objections)
    if first_error != second_error:
        found.append(f"an exception depends on the data: {first_error or 'none'} and {second_error or 'none'}")
    elif replayer.unused:
        found.append(f"the neighbour asks for {replayer.unused} draws fewer")
    elif first_error is None and not found and first != second:
        found.append("with equal draws the releases differ: something left without passing the door")
    return found


def free_draws(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run asks for draws that cost nothing, on either table."""
    recorder = Recorder(Seeded(0))
    for rows in (pair.left, pair.right):
        _attempt(lambda rows=rows: mechanism.release(rows, recorder))  # type: ignore[misc]
    return any(isinstance(request, Uniform) for request, _ in recorder.log)


def answers(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run ends without an exception."""
    return _attempt(lambda: mechanism.release(pair.left, Seeded(0)))[1] is None


def _attempt(run: Callable[[], Any]) -> tuple[Any, str | None]:
    """All that a release shows, or the exception it raised."""
    try:
        release = run()
        return (release.to_dict(), str(release), plain(release)), None
    except _DivergedError:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, it must not depend on the data
        return None, f"{type(error).__name__}: {error}"
