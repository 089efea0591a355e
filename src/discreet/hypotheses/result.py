"""Private tests: a release whose value has a p-value."""

from dataclasses import dataclass
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.statistics.proportion import (
    Alternative,
    KnownSize,
    PrivateSize,
    Proportion,
    check_alternative,
    check_share,
)

PUBLIC_GROUPS: Final = "which group a person is in is public; what is hidden is the person's value"


@dataclass(frozen=True, slots=True)
class ProportionTest:
    """Is the population's share of yes entries equal to `null`?

    Releases
        The private proportion and the p-value computed from it.
    Promise
        That of `Proportion`, [proportion.1] to [proportion.3]: the p-value is post-processing.
    """

    null: float
    epsilon: Number
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_share(self.null)
        check_alternative(self.alternative)
        check_budget(self.epsilon, 0, None)

    @property
    def _proportion(self) -> Proportion:
        return Proportion(self.epsilon, self.neighbours, self.unit)

    @property
    def guarantee(self) -> Guarantee:
        """That of the proportion."""
        return self._proportion.guarantee

    @property
    def loss(self) -> Loss:
        """That of the proportion."""
        return self._proportion.loss

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The test."""
        share = self._proportion.release(rows, rng)
        spread = share.spread
        assert isinstance(spread, KnownSize | PrivateSize)
        p_value = spread.p_value(self.null, self.alternative)
        return Release(
            share.guarantee,
            share.provenance,
            TestResult(share.value, p_value),
            name=f"test that the share is {show(self.null)} ({self.alternative})",
        )


def check_replace(neighbours: object) -> None:
    """Refuse the relation under which the number of rows is private: null laws need it."""
    if neighbours is not Neighbours.REPLACE:
        raise BadInput(
            f"neighbours is {getattr(neighbours, 'name', neighbours)!r}; this test's null law needs the number of "
            "people, so it must be public: give 'replace', or use test_any with blocks=, which needs no number"
        )
