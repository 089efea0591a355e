"""The meter: what a mechanism draws must be within the loss that it declares.

Replay: run a mechanism on one table, then on its neighbour with the very same answers from the door.

Given equal answers so far, each request on the neighbour must lie within the sensitivity that it claims, and when all
answers are equal so must be everything that leaves. That is the induction behind every composition proof, checked by
machine: whatever reaches the output without passing the door, or moves more than was claimed, is found.

Coins that cost nothing protect nobody. So the promise must hold however the free draws fall, and the replay forces
them: a mechanism that publishes a record with one chance in a million is caught at the first try.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.accounting.compose import epsilon
from discreet.accounting.currency import pure
from discreet.audit.seen import Seen, watch
from discreet.audit.worlds import Pair
from discreet.noise.door import Door, Request, Uniform
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.loss import Approximate, Loss, atoms, compose
from discreet.privacy.mechanism import Mechanism

DELTAS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)


def drawn(mechanism: Mechanism[Any], rows: Any, *, seed: int = 0) -> Loss:
    """The composition of everything that one run asks the door for."""
    recorder = Recorder(Seeded(seed))
    mechanism.release(rows, recorder)
    return recorder.spent


def exceeds(spent: Loss, declared: Loss) -> str | None:
    """Where the curve of what was spent lies above the declared one; None if nowhere."""
    if itemised(spent) == itemised(declared) or _sums_to(spent, declared):
        return None
    for delta in DELTAS:
        paid, said = epsilon(spent, delta), epsilon(declared, delta)
        if paid > said * (1 + 1e-9):
            return f"draws cost epsilon {paid:.6g} at delta {delta:g}, the declared loss {said:.6g}"
    return None


def _sums_to(spent: Loss, declared: Loss) -> bool:
    """Whether (epsilon, delta) is declared and the draws' sums are within it: no curve of such draws lies above then.

    Upper bounds of two curves, both nearly as high as they can be, may be out of order by their rounding.
    """
    sums = pure(spent)
    match atoms(declared):
        case (Approximate(most, chance),) if sums is not None:
            return sums[0] <= exact(most) and sums[1] <= exact(chance)
    return False


def itemised(loss: Loss) -> tuple[str, ...]:
    """The parts of a loss, in an order of their own."""
    return tuple(sorted(map(repr, atoms(loss))))


FREE = Approximate(0, 0)
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
        self.log.append((_kept(request), copy(answer)))
        return answer

    @property
    def spent(self) -> Loss:
        """The composition of everything that was asked for."""
        return compose(*(request.loss for request, _ in self.log if request.loss != FREE))

    @property
    def free(self) -> bool:
        """Whether a draw that costs nothing was asked for."""
        return any(isinstance(request, Uniform) for request, _ in self.log)


def _kept(request: Request) -> Request:
    """A request as it was asked: a mechanism may go on to use its arrays for something else."""
    kept = copy(request)
    for name in getattr(request, "__dataclass_fields__", ()):
        if isinstance(getattr(request, name), np.ndarray | list | dict):
            object.__setattr__(kept, name, copy(getattr(request, name)))
    return kept


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
            raise self._diverged("the neighbour asks for more draws")
        earlier, answer = self._log[self._at]
        self._at += 1
        if type(earlier) is not type(request):
            raise self._diverged(
                f"draw {self._at} is a {type(earlier).__name__}, on the neighbour a {type(request).__name__}"
            )
        objection = earlier.objection(request)
        if objection is not None:
            self.objections.append(f"draw {self._at} ({type(request).__name__}): {objection}")
        return copy(answer)

    def _diverged(self, words: str) -> "_DivergedError":
        """Noted as well as raised: a mechanism that catches exceptions does not get away with it."""
        self.objections.append(words)
        return _DivergedError(words)

    @property
    def unused(self) -> int:
        """How many recorded draws were not asked for."""
        return len(self._log) - self._at


class _DivergedError(Exception):
    """The two runs no longer ask the same kind of question."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What is wrong, what the first run spent, and whether it drew coins that cost nothing."""

    objections: list[str]
    spent: Loss
    free: bool


def replay(mechanism: Mechanism[Any], pair: Pair, *, seed: int = 0, fate: Fate = "fair") -> list[str]:
    """What is wrong with a mechanism on one pair of neighbours; an empty list if nothing is."""
    return replayed(mechanism, pair, seed=seed, fate=fate).objections


def replayed(
    mechanism: Mechanism[Any], pair: Pair, *, seed: int = 0, fate: Fate = "fair", again: bool = True
) -> Replay:
    """Run on the left table, then with the same answers on the right one, and compare all that is seen."""
    recorder = Recorder(Seeded(seed), fate)
    first = _watched(mechanism, pair.left, recorder)
    replayer = Replayer(recorder)
    try:
        second = _watched(mechanism, pair.right, replayer)
    except _DivergedError:
        return Replay(replayer.objections, recorder.spent, recorder.free)
    found = list(replayer.objections)
    if first.error != second.error:
        found.append(f"an exception depends on the data: {first.error or 'none'} and {second.error or 'none'}")
    elif replayer.unused:
        found.append(f"the neighbour asks for {replayer.unused} draws fewer")
    elif first.said != second.said:
        if again:  # a warning at a first import is no fault: look once more
            return replayed(mechanism, pair, seed=seed, fate=fate, again=False)
        found.append("a warning, a log or a print depends on the data")
    elif not found and first.release != second.release:
        found.append("with equal draws the releases differ: something left without passing the door")
    return Replay(found, recorder.spent, recorder.free)


def free_draws(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run asks for draws that cost nothing, on either table."""
    recorder = Recorder(Seeded(0))
    for rows in (pair.left, pair.right):
        _watched(mechanism, rows, recorder)
    return recorder.free


def answers(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run ends without an exception."""
    return _watched(mechanism, pair.left, Seeded(0)).error is None


def _watched(mechanism: Mechanism[Any], rows: Any, door: Door) -> Seen:
    """A run on a copy of the rows: one that sorts or empties them must not spoil the next."""
    return watch(lambda: mechanism.release(copy(rows), door), but=_DivergedError)
