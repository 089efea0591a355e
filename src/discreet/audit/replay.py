"""Replay and meter: a mechanism run on one table, then on its neighbour with the very same answers from the door.

Given equal answers so far, each request on the neighbour must lie within the sensitivity that it claims, and when all
answers are equal so must be everything that leaves. That is the induction behind every composition proof, checked by
machine: whatever reaches the output without passing the door, or moves more than was claimed, is found. What was drawn
must be within the declared loss.

Coins that cost nothing protect nobody. So the promise must hold however the free draws fall, and the replay forces
them: a mechanism that publishes a record with one chance in a million is caught at the first try.

Two runs are alike only if all that can be seen of them is equal: the release to its last digit, or the exception;
warnings, logs and prints. Plain equality would be too coarse (1, 1.0 and True are equal, so are 0.0 and -0.0, and a
fraction rounds to a float), and too fine (a NaN is not equal to itself, a function not to its twin).
"""

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import copy
from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from functools import cache, cached_property
from types import CellType, FunctionType, MethodType
from typing import Any, Literal, TypeVar

import numpy as np

from discreet.accounting.compose import epsilon
from discreet.accounting.currency import mu, pure, slack
from discreet.audit.worlds import Pair
from discreet.noise.randomness import Door, Request, Seeded, Uniform
from discreet.privacy.exact import exact
from discreet.privacy.loss import Approximate, Gaussian, Loss, atoms, compose
from discreet.privacy.mechanism import Mechanism

PLAIN = (type(None), bool, int, float, str, bytes)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: what left, the exception if there was one, and what was said on the side."""

    release: Any
    error: str | None
    said: tuple[str, ...]


def watch(run: Callable[[], Any], *, but: type[BaseException], words: bool = True) -> Seen:
    """All that a run shows; only an exception of type `but` is let through. `words`: also how the release is told."""
    said: list[str] = []
    try:
        with _overhearing(said):
            release = run()
            shown = (trace(release), ADDRESS.sub("", f"{release.to_dict()}\n{release}") if words else "")
        return Seen(shown, None, tuple(said))
    except but:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it is, it must not depend on the data
        return Seen(None, in_words(error), tuple(said))


def in_words(error: BaseException | None) -> str:
    """An exception as a traceback shows it, with those that led to it."""
    told = []
    while error is not None:
        told.append(": ".join([type(error).__name__, str(error), *getattr(error, "__notes__", [])]))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ", after ".join(told)


@contextmanager
def _overhearing(said: list[str]) -> Iterator[None]:
    """Collect warnings, log records and prints."""
    heard = _Ear(said)
    logging.getLogger().addHandler(heard)
    printed = io.StringIO()
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("always")
            try:
                yield
            finally:
                said += [f"{one.category.__name__}: {one.message}" for one in warned]
    finally:
        logging.getLogger().removeHandler(heard)
        said += [printed.getvalue()] if printed.getvalue() else []


class _Ear(logging.Handler):
    """Hears what reaches the root logger."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Note it down."""
        self._said.append(record.getMessage())


def trace(thing: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as nested tuples of texts that are equal if, and only if, nobody can tell the values apart.

    >>> trace(0.0) == trace(-0.0), trace(1) == trace(1.0), trace([float("nan")]) == trace([float("nan")])
    (False, False, True)
    """
    kind = type(thing).__qualname__
    if type(thing) in PLAIN:
        return (kind, repr(thing))
    if id(thing) in above:
        return (kind, "itself")
    within = (*above, id(thing))
    if type(thing) is tuple or type(thing) is list:  # most things are one of these: asked before the patterns
        return (kind, tuple([trace(part, within) for part in thing]))
    if type(thing) is dict:
        return (kind, tuple([(trace(key, within), trace(value, within)) for key, value in thing.items()]))
    match thing:
        case np.ndarray() if thing.dtype.kind != "O":
            # which of the many NaNs it is would be of the machine's making
            same = np.where(np.isnan(thing), np.nan, thing) if thing.dtype.kind in "fc" else thing
            return (kind, str(thing.dtype), thing.shape, same.tobytes())
        case np.ndarray():
            return (kind, thing.shape, tuple(trace(part, within) for part in thing.ravel()))
        case Mapping():
            return (kind, tuple((trace(key, within), trace(value, within)) for key, value in thing.items()))
        case list() | tuple():
            return (kind, tuple(trace(part, within) for part in thing))
        case set() | frozenset():
            return (kind, tuple(sorted(map(repr, (trace(part, within) for part in thing)))))
        case FunctionType():
            caught = [cell.cell_contents for cell in thing.__closure__ or () if cell != CellType()]
            return (thing.__qualname__, trace(caught, within), trace(thing.__defaults__, within))
        case MethodType():
            return (thing.__qualname__, trace(thing.__self__, within))
    state = {} if isinstance(thing, type) else _state(thing)
    return (kind, ADDRESS.sub("", repr(thing)) if isinstance(thing, PLAIN) or not state else "", trace(state, within))


def _state(thing: Any) -> dict[str, Any]:
    """What an object holds, by name."""
    names = _slots(type(thing))  # type: ignore[arg-type]  # a class is hashable
    held = {name: getattr(thing, name) for name in names if hasattr(thing, name)}
    return held | dict(getattr(thing, "__dict__", {}))


@cache
def _slots(kind: type) -> list[str]:
    """The slots of a class and its bases, by the names that Python gives them."""
    found = []
    for base in kind.__mro__:
        listed = base.__dict__.get("__slots__", ())
        for name in (listed,) if isinstance(listed, str) else listed:
            hidden = name.startswith("__") and not name.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


DELTAS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)


def drawn(mechanism: Mechanism[Any], rows: Any, *, seed: int = 0) -> Loss:
    """The composition of everything that one run asks the door for."""
    recorder = Recorder(Seeded(seed))
    mechanism.release(rows, recorder)
    return recorder.spent


def exceeds(spent: Loss, declared: Loss) -> str | None:
    """Where the curve of what was spent lies above the declared one; None if nowhere."""
    if itemised(spent) == itemised(declared) or _sums_to(spent, declared) or _part_by_part(spent, declared):
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


def _part_by_part(spent: Loss, declared: Loss) -> bool:
    """Of one declared pure part and Gaussian noise: whether the pure parts that were spent add up to no more than the
    one, and the rest is within the mu and the slack of the other. No trade-off curve lies beyond then. [currency.6]

    Of several declared pure parts, or of choices, that would not follow: their curves lie within what they add up to.
    """
    (mine, rest), (theirs, others) = (_pure_and_rest(loss) for loss in (spent, declared))
    if len(theirs) != 1 or not all(isinstance(part, Gaussian) for part in others):
        return False
    within = [one <= other for one, other in zip(mu(compose(*rest)), mu(compose(*others)), strict=True)]
    return sum(mine) <= sum(theirs) and all(within) and slack(compose(*rest)) <= slack(compose(*others))


def _pure_and_rest(loss: Loss) -> tuple[list[Fraction], list[Loss]]:
    parts = [part for part in atoms(loss) if isinstance(part, Approximate) and not part.delta]
    return [exact(part.epsilon) for part in parts], [part for part in atoms(loss) if part not in parts]


def itemised(loss: Loss) -> tuple[str, ...]:
    """The parts of a loss, in an order of their own."""
    return tuple(sorted(map(repr, atoms(loss))))


FREE = Approximate(0, 0)
T = TypeVar("T")
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


def _kept(request: T) -> T:
    """A request as it was asked: a mechanism may go on to use its arrays, and those within it, for something else.

    What was cached of it is left out, for it may hold the same arrays.
    """
    kept = copy(request)
    cached = [name for name, one in vars(type(request)).items() if isinstance(one, cached_property)]
    for name in cached:
        vars(kept).pop(name, None)
    for name in getattr(request, "__dataclass_fields__", ()):
        held = getattr(request, name)
        if isinstance(held, np.ndarray | list | dict):
            object.__setattr__(kept, name, copy(held))
        elif is_dataclass(held) and not isinstance(held, type):
            object.__setattr__(kept, name, _kept(held))
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
    """What is wrong, what the first run spent, whether it drew coins that cost nothing, and how often it drew."""

    objections: list[str]
    spent: Loss
    free: bool
    draws: int


def replay(mechanism: Mechanism[Any], pair: Pair, *, seed: int = 0, fate: Fate = "fair") -> list[str]:
    """What is wrong with a mechanism on one pair of neighbours; an empty list if nothing is."""
    return replayed(mechanism, pair, seed=seed, fate=fate).objections


def replayed(
    mechanism: Mechanism[Any],
    pair: Pair,
    *,
    seed: int = 0,
    fate: Fate = "fair",
    again: bool = True,
    words: bool = True,
) -> Replay:
    """Run on the left table, then with the same answers on the right one, and compare all that is seen.

    Without `words` releases are compared by what they hold, to the last bit, and not also by how they are told.
    """
    recorder = Recorder(Seeded(seed), fate)
    first = _watched(mechanism, pair.left, recorder, words=words)
    replayer = Replayer(recorder)
    try:
        second = _watched(mechanism, pair.right, replayer, words=words)
    except _DivergedError:
        return Replay(replayer.objections, recorder.spent, recorder.free, len(recorder.log))
    found = list(replayer.objections)
    if first.error != second.error:
        found.append(f"an exception depends on the data: {first.error or 'none'} and {second.error or 'none'}")
    elif replayer.unused:
        found.append(f"the neighbour asks for {replayer.unused} draws fewer")
    elif first.said != second.said:
        if again:  # a warning at a first import is no fault: look once more
            return replayed(mechanism, pair, seed=seed, fate=fate, again=False, words=words)
        found.append("a warning, a log or a print depends on the data")
    elif not found and first.release != second.release:
        found.append("with equal draws the releases differ: something left without passing the door")
    return Replay(found, recorder.spent, recorder.free, len(recorder.log))


def free_draws(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run asks for draws that cost nothing, on either table."""
    recorder = Recorder(Seeded(0))
    for rows in (pair.left, pair.right):
        _watched(mechanism, rows, recorder)
    return recorder.free


def answers(mechanism: Mechanism[Any], pair: Pair) -> bool:
    """Whether a run ends without an exception."""
    return _watched(mechanism, pair.left, Seeded(0)).error is None


def _watched(mechanism: Mechanism[Any], rows: Any, door: Door, *, words: bool = True) -> Seen:
    """A run on a copy of the rows: one that sorts or empties them must not spoil the next."""
    return watch(lambda: mechanism.release(copy(rows), door), but=_DivergedError, words=words)
