"""What is assumed before there are data: taken from what was given, or by stated defaults, and said in sentences.

A made-up world: where rows come from, what the truth is, and how far an answer is from it.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.api import function
from discreet.asking import People
from discreet.errors import BadInput
from discreet.forecast.floors import Told
from discreet.privacy.declaration import declared
from discreet.privacy.exact import is_number
from discreet.privacy.neighbours import Neighbours

OURS: Final = ("self", "x", "rng", "epsilon", "delta", "unit")  # of a verb's parameters: never an option here


def verb(name: str) -> Callable[..., Any]:
    """The verb of this name."""
    return function(declared(name).name)


def parameters(name: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a verb, of the one that it passes its options to if it does so."""
    return inspect.signature(verb(name)).parameters


@dataclass(slots=True)
class About:
    """Options of a verb and public assumptions, by name; what is assumed is said as it is asked for."""

    statistic: str
    given: dict[str, Any]
    said: list[str] = field(default_factory=list)
    stretch: float = 1.0  # by how much an effect is larger in a smaller world

    def __post_init__(self) -> None:
        self.given.pop("unit", None)  # what a row is called changes no error

    def take(self, name: str, default: Any) -> Any:
        """An assumption that the verb itself does not take."""
        return self.given.pop(name, default)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A finite number strictly between two."""
        found = self.given.pop(name, default)
        if not is_number(found) or not low < found < high:
            raise BadInput(f"{name} is {found!r}; give a number between {low:g} and {high:g}, {default:g} say")
        return float(found)

    def whole(self, name: str, default: int, low: int = 1, high: int = 10_000) -> int:
        """A whole number from `low` to `high`."""
        found = self.given.pop(name, default)
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            raise BadInput(f"{name} is {found!r}; give a whole number from {low} to {high}, {default} say")
        return found

    def say(self, sentence: str) -> None:
        """One more assumption."""
        self.said.append(sentence)

    @property
    def neighbours(self) -> Neighbours:
        """The relation that is asked for."""
        return People.of(None, None, self.given.get("neighbours", "add_or_remove")).neighbours

    @property
    def bounds(self) -> tuple[float, float] | None:
        """One pair of public bounds, if that is what was given."""
        found = self.given.get("bounds")
        if not isinstance(found, tuple | list) or len(found) != 2 or not all(map(is_number, found)):
            return None
        return (float(found[0]), float(found[1])) if found[0] < found[1] else None

    def options(self) -> dict[str, Any]:
        """What is left: the verb's own options, and nothing else."""
        allowed = [
            name
            for name, one in parameters(self.statistic).items()
            if name not in OURS and one.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        unknown = sorted(set(self.given) - set(allowed))
        if unknown:
            raise BadInput(
                f"{', '.join(unknown)}: neither an option of {self.statistic} nor an assumption that its forecast "
                f"takes; its options are {', '.join(allowed) or 'none'}"
            )
        return dict(self.given)


Floats = npt.NDArray[np.float64]
Generator = Any  # noise/distributions.stream
RUNS = 48


def flat(value: Any) -> Floats:
    """The numbers of an answer, in one row."""
    if hasattr(value, "coef"):
        return np.append(np.asarray(value.coef, dtype=float).ravel(), float(value.intercept))
    if isinstance(value, Mapping):
        return np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in value.values()])
    return np.atleast_1d(np.asarray(value, dtype=float)).ravel()


def norm(errors: Floats, _truth: Floats) -> Floats:
    """The Euclidean length of each row of errors."""
    found: Floats = np.sqrt((errors**2).sum(axis=1))
    return found


@dataclass(frozen=True, kw_only=True)
class World:
    """`make` gives the verb's arguments, `read` the numbers of its answer, `plain` those of an answer without privacy.

    `gap` measures rows of errors. `parts` says that the error of the released number is a sampling part and noise, as
    its own error bar has them, and `skewed` that clipping may bias it; `sums` that errors of several numbers add up
    from both, so that those of different runs may be combined.
    """

    make: Callable[[Generator, int], tuple[Any, ...]]
    truth: Floats
    plain: Callable[..., Floats]
    measure: str
    read: Callable[[Any], Floats] = flat
    gap: Callable[[Floats, Floats], Floats] = norm
    sampling: Callable[[int], float] | None = None  # of the answer without privacy, where it has a closed form
    parts: bool = False
    skewed: bool = False
    sums: bool = True
    rate: float = 0.5  # errors that do not add up fall as this power of the rows
    runs: int = RUNS
    width: Callable[[Any, float], float] | None = None  # of a spread, where intervals of parts are no answer
    most: int = 20_000  # rows that are made up; beyond that errors are scaled
    floor: Callable[[int, Told], float] | None = None
    floor_note: str = "no floor is known for this statistic"
