"""The values of tests: a p-value with an effect; of an A/B test both groups, and whether their sizes are as planned."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import is_number, show
from discreet.privacy.value_arrays import Described, matching, place_of

EFFECTS: Final = ("difference", "ratio")  # of the treatment's group and the control's
UNPLANNED: Final = 0.001  # the level of the sample-ratio check, as it is customary: sizes should hardly ever object


@dataclass(frozen=True, slots=True)
class TestResult(Described):
    """A statistic and its p-value, which is at most a with probability at most a if the null hypothesis is true.

    `effect` says how large what was tested is, where there is a number for it, and `measure` what it is: that number is
    what the interval of the release is about.
    """

    __test__ = False  # for pytest, whose tests begin like this

    statistic: float
    p_value: float
    effect: float | None = None
    measure: str = ""

    def _entries(self) -> list[tuple[str, Any]]:
        return self._tested if self.effect is None else [(self.measure, self.effect)]

    @property
    def _tested(self) -> list[tuple[str, Any]]:
        return [("p-value", self.p_value), ("statistic", self.statistic)]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """What has no error bar, where the effect has one."""
        return [] if self.effect is None else self._tested

    def decide(self, level: float) -> bool:
        """Whether to reject the null hypothesis at this level."""
        if not is_number(level) or not 0 < level < 1:
            raise BadInput(f"the level is {level!r}; it must be between 0 and 1, for example 0.05")
        return self.p_value <= level

    def describe(self) -> str:
        """What it decides at 5%."""
        done = "is rejected" if self.decide(0.05) else "is not rejected (which does not show that it is true)"
        return f"The p-value is {self.p_value:.3g}: at the 5% level the null hypothesis {done}."

    def with_effect(self, said: str) -> str:
        """The p-value, and the effect as it is said."""
        return f"p = {self.p_value:.4g}; {self.measure}: {said}"

    def __str__(self) -> str:
        if self.effect is not None:
            return self.with_effect(show(self.effect))
        return f"p = {self.p_value:.4g} (statistic {self.statistic:.6g})"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Described):
    """Treatment beside control: `difference`, `ratio` and both groups, which are what the interval is for.

    `p_value` is that of the difference; `split_p_value` that of the sample-ratio check, whether as many people are in
    each group as were planned.

    >>> found = Comparison(np.array([0.5, 1.25, 2.5, 2.0]), ("new", "old"), 0.003, 0.4)
    >>> found.difference, found["new"], found.decide(0.05), found.as_planned
    (0.5, 2.5, True, True)
    """

    cells: Any
    groups: tuple[str, ...]
    p_value: float
    split_p_value: float

    def __post_init__(self) -> None:
        if np.shape(self.cells) != (4,):
            raise BadInput("a comparison has four numbers: difference, ratio and both groups")
        matching(self.groups, self.cells[2:])

    @property
    def difference(self) -> float:
        """The treatment's group less the control's."""
        return float(self.cells[0])

    @property
    def ratio(self) -> float:
        """The treatment's group over the control's; NaN where the interval of the control's reaches 0."""
        return float(self.cells[1])

    @property
    def as_planned(self) -> bool:
        """Whether the sample-ratio check, at level 0.001, leaves the groups' sizes as they were planned."""
        return bool(self.split_p_value > UNPLANNED)

    def decide(self, level: float) -> bool:
        """Whether to reject, at this level, that both groups are the same in the population."""
        if not is_number(level) or not 0 < level < 1:
            raise BadInput(f"the level is {level!r}; it must be between 0 and 1, for example 0.05")
        return bool(self.p_value <= level)

    def __getitem__(self, name: str) -> float:
        return float(self.cells[place_of(self.labels, name)])

    def _entries(self) -> list[tuple[str, Any]]:
        return list(zip((*EFFECTS, *self.groups), self.cells.tolist(), strict=True))

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The p-values."""
        return [("p-value", self.p_value), ("p-value of the sample-ratio check", self.split_p_value)]

    def describe(self) -> str:
        """The effect, what is decided at 5%, and whether the groups' sizes object."""
        done = "is rejected" if self.decide(0.05) else "is not rejected (which does not show that it is true)"
        odd = "" if self.as_planned else " The groups are not of the planned sizes: find out why before you decide."
        return (
            f"{self.groups[0]} less {self.groups[1]} is {show(self.difference)}; p = {self.p_value:.3g}: at the 5% "
            f"level the null hypothesis {done}.{odd}"
        )

    def __str__(self) -> str:
        odd = "" if self.as_planned else ", groups not of the planned sizes"
        return f"difference {show(self.difference)}, ratio {show(self.ratio)}, p = {self.p_value:.3g}{odd}"
