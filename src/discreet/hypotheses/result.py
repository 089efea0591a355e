"""Private tests: a release whose value has a p-value."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, boolean, statistic
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Randomness, promised
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
from discreet.worlds.assumptions import About, Effect


class PureLoss:
    """The loss of a test whose draws all have Laplace noise: pure, however many there are."""

    def __get__(self, mechanism: Any, owner: type | None = None) -> Approximate:
        return Approximate(mechanism.epsilon, 0)


pure: Final = PureLoss()
NULL: Final = "null hypothesis: "
PUBLIC_GROUPS: Final = "which group a person is in is public; what is hidden is the person's value"


@dataclass(frozen=True, slots=True)
class ProportionTest:
    """Is the population's share of yes entries equal to `null`?

    Releases
        The private proportion with its interval, and the p-value computed from it.
    Promise
        That of `Proportion`, [proportion.1] to [proportion.4]: the p-value is post-processing.
    """

    null: float
    epsilon: Number
    _: KW_ONLY
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

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """That of the proportion."""
        return self._proportion.loss

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The test."""
        share = self._proportion.release(rows, rng)
        spread, name = share.spread, f"test that the share is {show(self.null)} ({self.alternative})"
        if share.refusal is not None:
            return Release(share.guarantee, share.provenance, refusal=share.refusal, name=name)
        assert isinstance(spread, KnownSize | PrivateSize)
        p_value = spread.p_value(self.null, self.alternative)
        answer = TestResult(share.value, p_value, share.value, "share")  # its interval costs nothing more
        null = null_in_words(f"the population's share is {show(self.null)}", "it is {}", self.alternative)
        provenance = replace(share.provenance, notes=(null, *share.provenance.notes))
        return Release(share.guarantee, provenance, answer, spread=spread, name=name)

    def check(self, size: int | None) -> None:
        """As the proportion does."""
        self._proportion.check(size)


def null_in_words(null: str, against: str, alternative: Alternative) -> str:
    """What is tested, and against what, for a note.

    >>> null_in_words("the population's mean is 3", "it is {}", "greater")
    "null hypothesis: the population's mean is 3; alternative: it is larger"
    """
    way = {"two-sided": "larger or smaller", "greater": "larger", "less": "smaller"}[alternative]
    return f"{NULL}{null}; alternative: {against.format(way)}"


def check_replace(neighbours: object) -> None:
    """Groups in which people stay, and their public sizes, are what hides a value; `PrivateGroups` hides people."""
    if neighbours is not Neighbours.REPLACE:
        raise BadInput(
            f"neighbours is {getattr(neighbours, 'name', neighbours)!r}; this test is of groups with public sizes: "
            "give 'replace', or hide who is there and in which group with PrivateGroups (ranks, means) or "
            "IndependenceTest (categories)"
        )


def _world(about: About) -> Effect:
    null = check_share(about.option("null", 0.5))
    effect = about.number("effect", 0.1 if null <= 0.5 else -0.1, -1.0, 1.0)
    share = about.share(min(max(null + effect, 0.0), 1.0))
    about.say(f"the population's share is {share:g}, {null:g} is tested")
    return Effect(make=lambda g, n: {"x": g.random(n) < null + (share - null) * about.stretch(n)}, runs=400)


@statistic({"x": boolean(streams=True)}, world=_world)
def proportion_test(
    people: Public,
    x: Columns,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    equals: Any = None,
) -> ProportionTest:
    """Null: the population's share of true entries is `null`. The value has `.p_value` and `.decide(level)`. Pure.

    With `equals` it is the share of entries that are this text, number or date.

    >>> import discreet
    >>> discreet.proportion_test([1] * 90 + [0] * 10, 0.5, epsilon=2.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    return ProportionTest(null, epsilon, alternative=alternative, neighbours=people.neighbours, unit=people.unit)
