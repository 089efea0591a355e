"""What is assumed before there are data: given, or by stated defaults, and said in sentences.

A made-up world says where rows come from, what the truth is and what an answer without privacy would be. A statistic
declares its own, in its own module:

    def _world(about: About) -> World:
        entries = AssumedColumn.of(about)
        return World(make=lambda g, n: {"x": entries.draw(g, n)}, truth=entries.location, plain=lambda x: x.mean())

    @statistic({"x": number()}, world=_world)
    def mean(people: Public, x: Columns, *, epsilon: Number) -> Mechanism[float]: ...
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, meant
from discreet.privacy.declaration import Statistic
from discreet.privacy.exact import is_number
from discreet.worlds.floors import Told

Floats = npt.NDArray[np.float64]
Generator = Any  # noise/distributions.stream
Make = Callable[[Generator, int], Mapping[str, Any]]  # made-up arguments of a statistic for so many rows, by name
ONE: Final = "median absolute error, against the population's value"
MANY: Final = "median Euclidean length of the error, against the population's values"
CLOSED: Final = "closed form"
SDS: Final = "standard deviations"
STANDARDISED: Final = "standardised units"  # of numbers about several columns, each with standard deviation 1
NO_FLOOR: Final = "no floor is known for this statistic"


@dataclass(slots=True)
class About:
    """Options of a statistic and public assumptions, by name; what is assumed is said as it is asked for."""

    statistic: Statistic
    rows: int
    given: dict[str, Any]
    said: list[str] = field(default_factory=list)
    standardised: bool = False  # no scale is public: errors are in standard deviations
    unsaid: bool = False  # nobody said what shape the values of a column have: they are taken to be normal
    taken: list[str] = field(default_factory=list)  # the names of assumptions

    def take(self, name: str, default: Any) -> Any:
        """An assumption that the statistic itself does not take."""
        self.taken.append(name)
        return self.given.pop(name, default)

    def option(self, name: str, default: Any) -> Any:
        """An option of the statistic that has to have a value."""
        return self.given.setdefault(name, default)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A finite number strictly between two."""
        found = self.take(name, default)
        if not is_number(found) or not low < found < high:
            raise BadInput(f"{name} is {found!r}; give a number between {low:g} and {high:g}, {default:g} say")
        return float(found)

    def share(self, default: float = 0.5, name: str = "share") -> float:
        """A probability."""
        return min(max(self.number(name, default, -1e-9, 1 + 1e-9), 0.0), 1.0)

    def whole(self, name: str, default: int, low: int = 1, high: int = 10_000) -> int:
        """A whole number from `low` to `high`."""
        found = self.take(name, default)
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            raise BadInput(f"{name} is {found!r}; give a whole number from {low} to {high}, {default} say")
        return found

    def parameters(self, name: str, usual: Mapping[str, float] | None) -> dict[str, float]:
        """The population's parameters of a family: as assumed, or the usual ones."""
        given = self.take("parameters", usual)
        if not isinstance(given, Mapping) or not given or not all(map(is_number, given.values())):
            raise BadInput(f"parameters of {name} are {given!r}; give them by name, parameters={{'shape': 2.0}} say")
        if usual is not None and set(given) != set(usual):
            raise BadInput(f"parameters are of {', '.join(given)}; {name} has {', '.join(usual)}")
        ordered = {key: float(given[key]) for key in (usual or given)}
        self.say(f"{name} has " + ", ".join(f"{key} {value:g}" for key, value in ordered.items()))
        return ordered

    def say(self, sentence: str) -> None:
        """One more assumption."""
        self.said.append(sentence)

    def stretch(self, made: int) -> float:
        """By how much an effect is larger in a world of so many rows: its size times the root of the rows is kept."""
        return math.sqrt(self.rows / made)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """One pair of public bounds, if that is what was given."""
        found = self.given.get("bounds")
        if not isinstance(found, tuple | list) or len(found) != 2 or not all(map(is_number, found)):
            return None
        return (float(found[0]), float(found[1])) if found[0] < found[1] else None

    def options(self) -> dict[str, Any]:
        """What is left: the statistic's own options, and those of every function; nothing else."""
        own = [name for name in self.statistic.options if name not in ("epsilon", "delta")]
        allowed = [*own, *(name for name in ("neighbours", "unit", "missing") if name not in own)]
        unknown = sorted(set(self.given) - set(allowed))
        if unknown:
            near = meant(unknown[0], [*self.taken, *allowed])
            raise BadInput(
                f"{', '.join(unknown)}: neither an option of {self.statistic.name} nor an assumption that its forecast "
                f"takes; {near}{'A' if near else 'a'}ssumptions are {', '.join(dict.fromkeys(self.taken))}, options "
                f"{', '.join(allowed)}"
            )
        return dict(self.given)


def flat(value: Any) -> Floats:
    """The numbers of an answer, in one row."""
    if hasattr(value, "coef"):
        return np.append(np.asarray(value.coef, dtype=float), np.asarray(value.intercept, dtype=float))
    if isinstance(value, Mapping):
        return np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in value.values()])
    return np.atleast_1d(np.asarray(value, dtype=float)).ravel()


def norm(errors: Floats, _truth: Floats) -> Floats:
    """The Euclidean length of each row of errors."""
    found: Floats = np.sqrt((errors**2).sum(axis=1))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What to expect of a release: `error` is the median, `sampling` and `privacy` are standard deviations."""

    error: float | None = None
    half_width: float | None = None
    sampling: float | None = None
    privacy: float | None = None
    without: float | None = None
    floor: float | None = None
    floor_note: str = ""
    refused: str | None = None
    how: str = CLOSED

    @classmethod
    def noise(cls, noise: Any, confidence: float | None, *, bins: int = 1, shown: int | None = None) -> "Expected":
        """Of counts whose target is the table: noise alone. The interval holds for all `shown` bins at once."""
        return cls(
            error=float(noise.radius(0.5, bins)),
            half_width=None if confidence is None else float(noise.radius(confidence, shown or bins)),
            privacy=noise.sd,
            without=0.0,
        )


@dataclass(frozen=True, kw_only=True)
class World:
    """`make` gives made-up arguments by name, `plain` an answer without privacy to them, `truth` the population's.

    Without a `truth` the table itself is the target. `read` takes the numbers out of a released value, `gap` measures
    rows of errors. `parts` says that the error of the released number is a sampling part and noise, as its own error
    bar has them, and `skewed` that clipping may bias it; `sums` that errors of several numbers add up from both, so
    that those of different runs may be combined; `total` that the answer grows with the rows. `closed` gives what to
    expect from one release, the rows and the confidence, where that needs no simulation.
    """

    make: Make
    measure: str = ONE
    truth: Any = None
    plain: Callable[..., Any] | None = None
    closed: Callable[[Any, int, float | None], Expected] | None = None
    read: Callable[[Any], Floats] = flat
    gap: Callable[[Floats, Floats], Floats] = norm
    sampling: Callable[[int], float] | None = None  # of the answer without privacy, where it has a closed form
    parts: bool = False
    skewed: bool = False
    sums: bool = True
    total: bool = False
    rate: float = 0.5  # errors that do not add up fall as this power of the rows
    runs: int = 48
    units: str = SDS  # of errors, where no scale is public
    width: Callable[[Any, float], float] | None = None  # of a spread, where intervals of parts are no answer
    most: int = 20_000  # rows that are made up; beyond that errors are scaled
    floor: Callable[[int, Told], float] | None = None
    floor_note: str = NO_FLOOR
    within: tuple[float, float] | None = None  # public bounds that the answer lies in
    part: Callable[[Any], Any] | None = None  # of a spread of several numbers, that of the one that is read


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The world of a test: `make` gives made-up arguments in which the effect is there.

    With more than `most` rows fewer are made up, with a larger effect (`About.stretch`). `closed` gives the chance to
    reject of the mechanism itself, for so many rows and a level, where that needs no simulation.
    """

    make: Make
    closed: Callable[[Any, int, float], float] | None = None
    most: int = 500
    runs: int = 200
