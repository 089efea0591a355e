"""What is assumed before there are data: taken from what was given, or by stated defaults, and said in sentences."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from discreet.errors import BadInput
from discreet.promise.exact import is_number
from discreet.promise.neighbours import Neighbours
from discreet.quick.asked import relation_of

OURS: Final = ("self", "x", "rng", "epsilon", "delta", "unit")  # of a verb's parameters: never an option here
SAME: Final = {"std": "variance", "median": "quantile"}  # verbs with the options of another


def verb(name: str) -> Callable[..., Any]:
    """The verb of this name."""
    from discreet import quick

    if not isinstance(name, str) or name not in quick.__all__:
        raise BadInput(f"the statistic is {name!r}; give the name of a verb: {', '.join(quick.__all__)}")
    found: Callable[..., Any] = getattr(quick, name)
    return found


def parameters(name: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a verb, of the one that it passes its options to if it does so."""
    return inspect.signature(verb(SAME.get(name, name))).parameters


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
        return relation_of(self.given.get("neighbours", "replace"))

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
