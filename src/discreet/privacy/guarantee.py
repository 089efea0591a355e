"""The promise as a person reads it: (epsilon, delta), for which change of the data, for what unit."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.loss import group_delta, safe_exp

SMALLEST_EPSILON = 1e-9
LARGEST_EPSILON = 1e6
LARGEST_DELTA_OF_PRIVATE_SIZE = 1e-4


class Neighbours(Enum):
    """Two tables are neighbours if they differ by this change.

    >>> Neighbours("replace") is Neighbours.REPLACE
    True
    """

    REPLACE = "one person's data is replaced"
    ADD_OR_REMOVE = "one person is added or removed"

    @classmethod
    def _missing_(cls, value: object) -> "Neighbours":
        named = {"replace": cls.REPLACE, "add_or_remove": cls.ADD_OR_REMOVE}
        if not isinstance(value, str) or value.lower() not in named:
            raise BadInput(f"neighbours is {value!r}; give 'add_or_remove' or 'replace'")
        return named[value.lower()]

    @property
    def size_is_public(self) -> bool:
        """Whether the number of people may be read: only if no neighbour changes it."""
        return self is Neighbours.REPLACE


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a release promises about one unit (a row, or a person) of the data.

    >>> print(Guarantee(1.0, unit="patient"))
    epsilon 1: adding or removing one patient changes the probability of any output by at most a factor of 2.72
    """

    epsilon: Number
    delta: Number = 0.0
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        if not (is_number(self.epsilon) and self.epsilon >= 0):
            raise BadInput(f"epsilon is {self.epsilon!r}; a guarantee needs a finite number, 0 or more")
        if not (is_number(self.delta) and 0 <= self.delta <= 1):
            raise BadInput(f"delta is {self.delta!r}; a guarantee needs a number in [0, 1]")

    def for_group(self, size: int) -> "Guarantee":
        """The promise to `size` people who change together: k epsilon, delta (e^{k eps} - 1)/(e^eps - 1)."""
        if not isinstance(size, int) or size < 1:
            raise BadInput(f"a group of {size!r}; give a whole number of people, 1 or more")
        delta = group_delta(self.epsilon, self.delta, size)
        return Guarantee(size * exact(self.epsilon), delta, self.neighbours, self.unit)

    def worst_odds(self, prior: float, chance: float = 0.0) -> float:
        """The highest posterior probability of a guess about one unit whose prior probability was `prior`.

        An answer exceeds it with probability at most `chance`: [meaning.7]. With delta > 0 some answers
        may tell everything, so the highest is 1 unless `chance` is above delta.

        >>> round(Guarantee(1.0).worst_odds(0.5), 3)
        0.731
        >>> Guarantee(1.0, 1e-6).worst_odds(0.5), round(Guarantee(1.0, 1e-6).worst_odds(0.5, chance=2e-6), 3)
        (1.0, 0.845)
        """
        if not (is_number(prior) and 0 <= prior <= 1):
            raise BadInput(f"the prior is {prior!r}; give a probability in [0, 1]")
        if not (is_number(chance) and 0 <= chance <= 1):
            raise BadInput(f"the chance is {chance!r}; give a probability in [0, 1]")
        kept = max(0.0, 1 - float(self.delta) / float(chance)) if chance else float(not self.delta)
        shrink = safe_exp(-float(self.epsilon)) * kept
        return prior / (prior + (1 - prior) * shrink) if prior else 0.0

    @property
    def cost(self) -> str:
        """Epsilon, and delta where it is above 0, in words."""
        return f"epsilon {show(self.epsilon)}" + (f", delta {show(self.delta)}" if self.delta else "")

    def __str__(self) -> str:
        replaced = self.neighbours is Neighbours.REPLACE
        change = f"replacing one {self.unit}'s data" if replaced else f"adding or removing one {self.unit}"
        most = f"a factor of {safe_exp(float(self.epsilon)):.3g}"
        rest = f", and beyond that by at most {show(self.delta)}" if self.delta else ""
        return f"{self.cost}: {change} changes the probability of any output by at most {most}{rest}"


def check_budget(epsilon: object, delta: object, size: int | None) -> None:
    """Refuse an epsilon or delta that promises nothing; `size` is the public number of units, or None.

    A delta above 1/(10 n) would allow a mechanism that publishes somebody's record outright with probability
    1 - (1 - delta)^n, one in ten; where the size is private, a public ceiling stands in for 1/(10 n).
    """
    if not is_number(epsilon) or not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:  # type: ignore[operator]
        raise BadInput(
            f"epsilon is {epsilon!r}; it must be a number from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g}; "
            "0.1 to 1 protects people well, 3 is the most that is commonly defended"
        )
    if not is_number(delta) or not 0 <= delta < 1:  # type: ignore[operator]
        raise BadInput(f"delta is {delta!r}; it must be a number in [0, 1): 0 for pure privacy, or about 1e-6")
    if not delta:
        return
    ceiling = LARGEST_DELTA_OF_PRIVATE_SIZE if size is None else 1 / (10 * size)
    if delta > ceiling:  # type: ignore[operator]
        seen = float(delta)  # type: ignore[arg-type]
        why = "the number of people is private here" if size is None else f"1/(10 n) for n = {size}"
        raise BadInput(
            f"delta is {seen:.6g}, above {ceiling:.3g} ({why}): so large a delta allows publishing "
            "somebody's record outright; ask for a smaller delta"
        )
    if delta < 1e-300:  # type: ignore[operator]
        raise BadInput(f"delta is {delta!r}; below 1e-300 give delta=0 for pure privacy")


IRREGULAR: Final = {"person": "people", "child": "children", "man": "men", "woman": "women", "company": "companies"}


def plural(unit: str) -> str:
    """More than one of them, by the rules of English; `unit_plural=` is for words that have their own.

    >>> [plural(unit) for unit in ("person", "row", "sick child", "family", "day", "branch")]
    ['people', 'rows', 'sick children', 'families', 'days', 'branches']
    """
    last = unit.rpartition(" ")[2]
    first = unit.removesuffix(last)
    if last in IRREGULAR:
        return first + IRREGULAR[last]
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{unit}s"
