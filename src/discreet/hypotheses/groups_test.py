"""Do groups of people in one table differ? Two groups' means, or the distributions of two groups or more, by ranks.

Releases
    What the test of groups of private sizes releases: hypotheses/limited_tests.py for two means, RankSumTest and
    GroupsTest of hypotheses/rank_tests.py within PrivateGroups for distributions.
Promise
    [groups_test.1] That of these tests: pure epsilon when a person is added or removed, for who is in which group too.
         Under REPLACE by [asking.2].
Why
    [groups_test.1] Each person's row becomes the number of the group and the value, by a fixed function of the row;
    whoever is in no listed group has no number, and counts nowhere. Then [private_sizes.1] and [limited_tests.1].
Needs
    In each group what the test needs.
Accuracy
    That of the tests.
Source
    As those modules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.hypotheses.effects import MeanEffect, Named, ShareEffect
from discreet.hypotheses.limited_tests import LimitedMeansTest
from discreet.hypotheses.private_sizes import PrivateGroups
from discreet.hypotheses.rank_tests import GroupsTest, RankSumTest
from discreet.hypotheses.result import NULL
from discreet.privacy.declaration import Columns, Public, Reads, category, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Mechanism, Randomness, check
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult, label
from discreet.statistics.histogram import Categories
from discreet.statistics.proportion import Alternative
from discreet.tables.entries import by_name, numbers_of
from discreet.tables.streams import each
from discreet.tables.wanted import and_between
from discreet.worlds.assumptions import About, Effect

Of = Literal["distribution", "mean"]
NULLS: Final = {"mean": "have one mean in the population", "distribution": "have one distribution in the population"}


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """A test of groups, `inner`, on rows that are pairs of a value and the name of a public group.

    >>> from discreet.noise.randomness import Seeded
    >>> test = NamedGroups(PrivateGroups(RankSumTest(1, 1.0), 2), Categories.of(["a", "b"]), "distribution")
    >>> rows = [(float(k % 50 + 15 * (k % 2)), "ab"[k % 2]) for k in range(1000)]
    >>> test.release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    inner: Mechanism[TestResult]
    between: Categories
    of: Of

    def __post_init__(self) -> None:
        if self.inner.guarantee.neighbours.size_is_public:
            raise BadInput("how many people a group has is private; give a test under ADD_OR_REMOVE")

    @property
    def guarantee(self) -> Guarantee:
        """The test's. [groups_test.1]"""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """The test's. [groups_test.1]"""
        return self.inner.loss

    def check(self, size: int | None) -> None:
        """What the test refuses by public numbers."""
        check(self.inner, size)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The test, with its null hypothesis in words; or a refusal."""
        numbered = each(partial(_numbered, between=self.between), by_name(rows, "x", "groups"), np.float64)
        found = self.inner.release(numbered, rng)  # [groups_test.1]
        names = [label(one) for one in self.between.names]
        stated = next((note for note in found.provenance.notes if note.startswith(NULL)), "")
        against = stated.partition("; ")[2].replace("the first", names[0])
        null = f"{NULL}{and_between(names)} {NULLS[self.of]}" + f"; {against}" * bool(against)
        others = (note for note in found.provenance.notes if note != stated)
        found = replace(found, provenance=replace(found.provenance, notes=(null, *others)))
        if not isinstance(found.spread, MeanEffect | ShareEffect):
            return found
        about = found.spread.about.replace("the first group", names[0]).replace("the second", names[1])
        answer = replace(found.value, measure=found.value.measure.replace("the first", names[0]))
        return replace(found, answer=answer, spread=Named(found.spread, about))


def _numbered(pairs: Mapping[str, Any], *, between: Categories) -> Any:
    """The number of each row's group, -1 for none, and its value. [groups_test.1]"""
    place = between.indices(pairs["groups"])
    return np.column_stack([np.where(place < len(between), place, -1), numbers_of(pairs["x"])])


def _world(about: About) -> Effect:
    between, effect = about.option("between", ["a", "b"]), about.number("effect", 0.3, -1e6, 1e6)
    effect *= -1 if about.given.get("alternative") == "greater" else 1  # that is for a first group that is larger
    about.say(f"normal groups of one size, each shifted by {effect:g} standard deviations from the one before")

    def make(g: Any, n: int) -> dict[str, Any]:
        which = np.arange(n) % len(between)
        x = g.standard_normal(n) + which * effect * about.stretch(n)
        return {"x": x, "groups": [between[place] for place in which.tolist()]}

    return Effect(make=make, most=2000)


def _reads(options: Mapping[str, Any]) -> Reads:
    return number(streams=options.get("of") == "mean")  # ranks are of all values at once


def _groups(options: Mapping[str, Any]) -> Reads:
    return category(streams=options.get("of") == "mean")


@statistic({"x": _reads, "groups": _groups}, rows=dict, world=_world)
def groups_test(
    people: Public,
    x: Columns,
    groups: Columns,
    *,
    epsilon: Number,
    between: Any,
    of: Of = "distribution",
    alternative: Alternative = "two-sided",
    bounds: tuple[float, float] | None = None,
) -> NamedGroups:
    """Null: the public groups `between` have one distribution, or one mean. Who is in which group is private. Pure.

    of="distribution" compares ranks: of two groups as `two_samples_test`, of more as `anova`; exact, whatever the
    distribution. of="mean" compares two means, far values limited alike, as `two_means_test`; public `bounds` may be
    given for it. "greater" is for a first group that tends to be larger. For how far apart two groups are, with an
    interval, ask for their `difference`.

    >>> import discreet
    >>> x, arm = [float(k % 50 + 15 * (k % 2)) for k in range(1000)], ["new", "old"] * 500
    >>> r = discreet.groups_test(x, arm, epsilon=1.0, between=["new", "old"], rng=discreet.Seeded(1))
    >>> r.value.decide(0.01)
    True
    """
    if not isinstance(between, list | tuple) or len(between) < 2:
        raise BadInput(f"between is {between!r}; give the public groups, two or more, as between=['new', 'old']")
    if of not in NULLS:
        raise BadInput(f"of is {of!r}; give 'distribution' or 'mean'")
    if people.neighbours.size_is_public:
        raise BadInput(
            "how many people a group has is private: with neighbours='replace' leave out whoever has a missing entry, "
            "with missing='drop'"
        )
    many = len(between)
    if many > 2 and (of == "mean" or alternative != "two-sided"):
        raise BadInput(f"{many} groups are given; of='mean' and a one-sided alternative are for two")
    if bounds is not None and of != "mean":
        raise BadInput("bounds are for of='mean'; ranks need none: leave them out")
    inner: Mechanism[TestResult]
    if of == "mean":
        inner = LimitedMeansTest(None, epsilon, alternative=alternative, bounds=bounds, unit=people.unit)
    elif many == 2:
        inner = PrivateGroups(RankSumTest(1, epsilon, alternative=alternative, unit=people.unit), 2)
    else:
        inner = PrivateGroups(GroupsTest((1,) * (many - 1), epsilon, unit=people.unit), many)
    return NamedGroups(inner, Categories.of(between), of)
