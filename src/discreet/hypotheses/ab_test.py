"""A/B tests: what a treatment changes, with an interval and a p-value, and whether people were shared out as planned.

Releases
    The difference of the two groups, as statistics/difference.py releases it, with nine tenths of epsilon; and the
    test that the share of the treatment's group, among the people of both, is the planned one, as statistics/
    proportion.py has it, with the rest.
Promise
    [ab_test.1] Pure epsilon under ADD_OR_REMOVE; who is in which group is private too. Under REPLACE by [asking.2].
    [ab_test.2] Refusals are those of the difference.
    [ab_test.3] The p-value is the least level at which the interval of the difference leaves out 0: if those intervals
          hold the difference of the population with their confidences, it is at most a with probability at most a
          where there is no difference. A one-sided one is half of that if the difference points that way, else 1.
    [ab_test.4] The p-value of the sample-ratio check is at most a with probability at most a if people are in the
          treatment's group independently with the planned probability; 1 if too few are there to tell.
Why
    [ab_test.1] [difference.1] and [proportion.2], composed; the parts are exact fractions that add up to epsilon. Who
    is in neither group is left out for the check by a function of the person's own entry.
    [ab_test.2] Nothing else refuses.
    [ab_test.3] Post-processing. Intervals grow with their confidence, so that the p-value is at most a only if the
    interval at 1 - a leaves out 0, up to the search, which rounds up; p-values below 10^-9 are given as that. Of a
    two-sided interval each side fails with half of its level: errors of means and shares are symmetric but for a bias
    that the half-width holds already. If the difference points the other way, 1 is on the safe side.
    [ab_test.4] [proportion.4], among answers; where the share is refused the p-value is 1, which rejects nothing.
Needs
    In each group what its mean or share needs; for the check to say anything 70 people over epsilon.
Accuracy
    That of the difference at nine tenths of epsilon; the check finds shares of people that are off by
    4 sqrt(r (1 - r) / n), or by 60 / (n epsilon) where that is more.
Source
    Fabijan et al. 2019 (sample-ratio checks and their level); a test is the inverse of an interval.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.hypotheses.result import ProportionTest
from discreet.privacy.declaration import Columns, Public, Reads, boolean, category, number, statistic
from discreet.privacy.exact import Number, bisect, exact, is_number
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness, in_full
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Comparison, label
from discreet.statistics.difference import (
    WORDS,
    Difference,
    PairSpread,
    difference,
    expected_of_shares,
    first_of,
    half_width,
)
from discreet.statistics.histogram import Categories
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.tables.entries import by_name, key
from discreet.tables.streams import chosen
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import AssumedColumn

Of = Literal["mean", "proportion"]
CHECK: Final = Fraction(1, 10)  # of epsilon, for the sizes of groups
LEAST: Final = 1e-9  # the smallest p-value that is given
WIDEST: Final = 1e-3  # -log of the largest level that is tried


@dataclass(frozen=True, slots=True)
class AbTest:
    """The effect, and the check of sizes; its groups are the treatment's, then the control's.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.privacy.guarantee import Neighbours
    >>> from discreet.statistics.histogram import Categories
    >>> from discreet.statistics.proportion import Proportion
    >>> share = Proportion(0.9, Neighbours.ADD_OR_REMOVE)
    >>> effect = Difference(share, Categories.of(["new", "old"]), 1.8, of="proportion")
    >>> test = AbTest(effect, ProportionTest(0.5, 0.2, neighbours=Neighbours.ADD_OR_REMOVE), 2.0)
    >>> rows = [(k % 5 > k % 2, ("new", "old")[k % 2]) for k in range(4000)]
    >>> found = test.release(rows, Seeded(1)).value
    >>> found.decide(0.01), found.as_planned
    (True, True)
    """

    effect: Difference
    split: ProportionTest
    epsilon: Number
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        check_alternative(self.alternative)
        parts = [exact(part.guarantee.epsilon) for part in (self.effect, self.split)]
        if sum(parts) > exact(self.epsilon):
            raise BadInput("the effect and the check of sizes cost more than epsilon; give them less")
        if self.split.neighbours.size_is_public:
            raise BadInput("how many people a group has is private; give a check under ADD_OR_REMOVE")

    @property
    def guarantee(self) -> Guarantee:
        """Both together. [ab_test.1]"""
        return replace(self.effect.guarantee, epsilon=self.epsilon)

    @property
    def loss(self) -> Approximate:
        """Both together. [ab_test.1]"""
        return Approximate(self.epsilon, 0)  # [ab_test.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Comparison]:
        """Difference, ratio, both groups and the p-values, or a refusal."""
        pairs = by_name(rows, "x", "groups")
        found = self.effect.release(pairs, rng)  # [ab_test.1]
        treated = chosen(partial(_treated, between=self.effect.between), pairs, np.float64)
        sizes = self.split.release(treated, rng)  # [ab_test.1]
        names = [label(one) for one in self.effect.between.names]
        shown: dict[str, Any] = {
            "of": self.effect.of,
            "groups": names,
            "planned": self.split.null,
            "alternative": self.alternative,
        }
        shown |= {"neighbours": self.effect.neighbours}
        notes = (self._null(names), *found.provenance.notes[1:], *self._sizes(sizes, names))
        blank: Release[Comparison] = Release(
            self.guarantee, Provenance("AbTest", shown, rng.secure, notes=notes), name=f"A/B test, {found.name}"
        )
        if found.refusal is not None:  # [ab_test.2]
            return replace(blank, refusal=in_full(found.refusal, self.guarantee, self.effect.guarantee))
        assert isinstance(found.spread, PairSpread)
        cells = np.asarray(found.value)
        p_value = directed(found.spread, float(cells[0]), self.alternative)  # [ab_test.3]
        answer = Comparison(cells, tuple(names), p_value, _split_p_value(sizes))
        return replace(blank, answer=answer, spread=found.spread)

    def _null(self, names: list[str]) -> str:
        """The null hypothesis in words."""
        besides = {"two-sided": "", "greater": ", or a larger one in control", "less": ", or a smaller one in control"}
        said = f"null hypothesis: {names[0]} and {names[1]} have the same {WORDS[self.effect.of]} in the population"
        return f"{said}{besides[self.alternative].replace('control', names[1])}"

    def _sizes(self, sizes: Release[Any], names: list[str]) -> tuple[str, ...]:
        """The sample-ratio check in words. [ab_test.4]"""
        if sizes.refusal is not None:
            return ("sample-ratio check: too few people to say whether the groups have the planned sizes",)
        p = _split_p_value(sizes)
        planned = f"{100 * float(self.split.null):g}% of the people in both groups are planned to be in {names[0]}"
        told = f"sample-ratio check: {planned}; p = {p:.3g}"
        odd = "the groups are not of the planned sizes, find out why before you trust the effect"
        return (f"{told}: {'no objection' if Comparison(np.zeros(4), ('', ''), 1.0, p).as_planned else odd}",)


def _treated(pairs: Mapping[str, Any], *, between: Categories) -> Any:
    """Of everybody in one of the two groups, 1 in the treatment's and 0 in the other. [ab_test.1]"""
    place = between.indices(pairs["groups"])
    return (place[place < 2] == 0).astype(float)


def _split_p_value(sizes: Release[Any]) -> float:
    """That of the check; 1 where there are too few people for one. [ab_test.4]"""
    return 1.0 if sizes.refusal is not None else float(sizes.value.p_value)  # [ab_test.4]


def directed(spread: PairSpread, apart: float, alternative: Alternative) -> float:
    """The least level at which the interval of the difference leaves out 0, rounded up. [ab_test.3]"""

    def covers(x: float) -> bool:
        """Whether the interval at level e^-x holds 0: it does from some x on."""
        bar = spread.interval(-math.expm1(-x))
        return bool(bar.low[0] <= 0 <= bar.high[0])

    if covers(WIDEST):
        p = 1.0
    elif not covers(-math.log(LEAST)):
        p = LEAST
    else:
        p = math.exp(-bisect(covers, WIDEST, -math.log(LEAST), close=1e-3)[0])
    if alternative == "two-sided":
        return p
    return p / 2 if (apart > 0) == (alternative == "greater") else 1.0


def _reads(options: Mapping[str, Any]) -> Reads:
    return boolean(streams=True) if options.get("of") == "proportion" else number(streams=True)


def _world(about: About) -> World:
    for name, group in (("treatment", "a"), ("control", "b")):
        about.option(name, group)
    between = [about.given["treatment"], about.given["control"]]
    planned, of = about.option("planned", 0.5), about.option("of", "mean")
    about.say(f"{100 * planned:g}% of the rows are in {label(between[0])}, and both groups are alike")

    def groups(n: int) -> list[Any]:
        """Spread evenly."""
        return [between[math.floor((k + 1) * planned) == math.floor(k * planned)] for k in range(n)]

    if of == "proportion":
        share = about.share()
        about.say(f"the share is {share:g} in both")
        about.given.pop("equals", None)  # made-up entries are yes and no
        closed = expected_of_shares(share, planned)
        return World(make=lambda g, n: {"x": g.random(n) < share, "groups": groups(n)}, truth=0.0, closed=closed)
    entries = AssumedColumn.of(about)
    return World(
        make=lambda g, n: {"x": entries.draw(g, n), "groups": groups(n)},
        truth=0.0,
        read=lambda value: np.array([value.difference if isinstance(value, Comparison) else value[0]]),
        width=half_width,
        part=first_of,
        sampling=lambda n: entries.scale / math.sqrt(n * planned * (1 - planned)),
        parts=True,
        skewed=True,
        plain=lambda x, groups: float(np.mean(x[_in(groups, between[0])]) - np.mean(x[_in(groups, between[1])])),
    )


def _in(groups: list[Any], one: Any) -> list[bool]:
    return [group == one for group in groups]


@statistic({"x": _reads, "groups": category(streams=True)}, rows=dict, world=_world)
def ab_test(
    people: Public,
    x: Columns,
    groups: Columns,
    *,
    epsilon: Number,
    treatment: Any,
    control: Any,
    of: Of = "mean",
    planned: float = 0.5,
    alternative: Alternative = "two-sided",
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
    equals: Any = None,
) -> AbTest:
    """What a treatment changes: difference and ratio with intervals, a p-value, and a check of the groups' sizes. Pure.

    Null: the public groups `treatment` and `control` have the same mean, or share, in the population; "greater" is for
    a treatment that makes it larger. The p-value is at most 5% if, and only if, the 95% interval of the difference
    leaves out 0. Who is in which group is private. `planned` is the share of both groups' people that were to be in the
    treatment's; the sample-ratio check takes a tenth of epsilon, and its `split_p_value` is small where the groups are
    not of the planned sizes. `difference` compares medians.

    >>> import discreet
    >>> bought, page = [k % 5 > k % 2 for k in range(4000)], ["new", "old"] * 2000
    >>> r = discreet.ab_test(
    ...     bought, page, epsilon=1.0, of="proportion", treatment="new", control="old", rng=discreet.Seeded(1)
    ... )
    >>> r.value.decide(0.01), r.value.as_planned
    (True, True)
    """
    if of not in ("mean", "proportion"):
        raise BadInput(f"of is {of!r}; give 'mean' or 'proportion', or ask for the difference of medians")
    if not is_number(planned) or not 0 < planned < 1:
        raise BadInput(f"planned is {planned!r}; give the share that was to be in {treatment!r}, for example 0.5")
    if key(treatment) == key(control):
        raise BadInput(f"treatment and control are both {treatment!r}; name two groups")
    check_budget(epsilon, 0, None)
    terms: dict[str, Any] = {"of": of, "bounds": bounds, "confidence": confidence}
    effect = difference(people, x, groups, epsilon=exact(epsilon) * (1 - CHECK), between=[treatment, control], **terms)
    check = ProportionTest(float(planned), exact(epsilon) * CHECK, neighbours=people.neighbours, unit=people.unit)
    assert isinstance(effect, Difference)
    return AbTest(effect, check, epsilon, alternative)
