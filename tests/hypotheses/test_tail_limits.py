"""Where far values are limited, and what they count as."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.hypotheses.limited_tests import NEEDED, LimitedMeansTest, LimitedMeanTest
from discreet.hypotheses.tail_limits import (
    INSIDE,
    LONGER,
    NEAR,
    Limits,
    Samples,
    counted_tails,
    limit_shares,
    limited_at,
    limited_steps,
    limits_of,
    tails_seen,
)
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace, atoms, compose

ADD = Neighbours.ADD_OR_REMOVE


@pytest.mark.claim("tail_limits.2")
def test_what_far_values_count_as() -> None:
    """A symmetric sample sums to 0 wherever the limit is; so does an exponential one whose limit is 3 of its means off,
    and a slightly skewed one whose limit is 2 standard deviations off.

    Four million draws: within 6 standard errors, with terms of higher order for the last.
    """
    u, rest = limited_steps(np.array([-9.0, -1.5, 1.5, 9.0, math.nan, math.inf, 2.0]), Limits(0.0, 2.0, 8 / 3), 20)
    assert u[:4].sum() == 0
    assert list(u[2:6] / 2**20) == [pytest.approx(1.5 * 3 / 8, abs=1e-6), 1.0, 0.0, 1.0]
    assert list(rest[2:6] / 2**20) == [pytest.approx((1 - (1.5 * 3 / 8) ** 2) / 2, abs=2e-6), 0.0, 0.5, 0.0]
    people = np.random.default_rng(1)
    u, _ = limited_steps(people.exponential(1, 4_000_000), Limits(1.0, 3.0, 4.0), 26)
    assert abs(u.mean()) < 6 * u.std() / 2000
    u, _ = limited_steps((people.gamma(100, 1, 4_000_000) - 100) / 10, Limits(0.0, 2.0, 8 / 3), 26)
    assert abs(u.mean() / 2**26 * 8 / 3) < 0.004  # a clip at 2 would be 0.007 off


@pytest.mark.claim("tail_limits.1")
def test_a_row_counts_by_at_most_one_in_both_sums() -> None:
    """Every whole number of steps, on a small grid; and rows of all sizes on the one that is used."""
    for bits, values in ((6, np.arange(-64, 65) / 64), (26, np.random.default_rng(0).standard_cauchy(10_000))):
        for most in (Fraction(1), Fraction(9, 16)):
            u, rest = limited_steps(values, Limits(0.0, 1.0, 1.0 if bits == 6 else 4 / 3, most), bits)
            assert rest.min() >= 0
            assert (np.abs(u) + rest).max() == 2**bits
            if bits == 26:  # the spread that is told
                squares = np.minimum((u / 2**bits) ** 2, float(most)).sum()
                assert float(most) * len(u) - 2 * rest.sum() / 2**bits == pytest.approx(squares, rel=1e-3)


@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize("sizes", [(30,), (10, 70), (70, 10), (33, 33)])
def test_a_person_counts_by_at_most_one_in_the_balance(sizes: tuple[int, ...]) -> None:
    """Whichever sample they join, however many are in the other, and wherever they are; and one in a tail of the
    smaller sample counts by exactly one."""
    parts = [np.random.default_rng(size).normal(0, 1, size) for size in sizes]
    before, moved = counted_tails(Samples(parts, sizes, 0.0, ADD), 1.0, 20), {}
    for place in range(len(sizes)):
        for value in (-5.0, 0.0, 1.0, 5.0, math.nan, math.inf, -math.inf, 1e300):
            others = [np.append(part, value) if at == place else part for at, part in enumerate(parts)]
            after = counted_tails(Samples(others, sizes, 0.0, ADD), 1.0, 20)
            moved[place, value] = int(np.abs(after - before).sum())
    assert max(moved.values()) == 2**20
    assert moved[int(np.argmin(sizes)), 5.0] == 2**20


@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize("many", [0, 1, 500, 5000])
def test_whether_tails_are_balanced_is_decided_by_what_was_released(many: int) -> None:
    """With the same noisy numbers the same is decided, however many people there are and wherever. A surplus is clear
    beyond three times the noise and the chance in those beyond: here 3 hypot(1, sqrt(300)) = 52.04."""

    class Deaf:
        def __init__(self, surplus: int, near: int) -> None:
            self.said = surplus, near

        def blur(self, values: object, *, sensitivity: int, cost: Laplace) -> object:
            return np.array([one * sensitivity for one in self.said], dtype=object)

    given = Samples([np.full(many, 7.0)], (1000,), 0.0, ADD)
    least = int(1000 * INSIDE)
    for surplus, near, side in (
        (0, least, 0),
        (0, least - 1, 0),
        (52, least, 0),
        (53, least, 1),
        (-53, least, -1),
        (3, 1000, 0),
        (4, 1000, 1),
        (4, 1010, 1),
    ):
        seen = tails_seen(given, 1.0, Laplace(1.0), Deaf(surplus, near))  # type: ignore[arg-type]
        assert seen == (side, near >= least)


@pytest.mark.claim("tail_limits.3")
@pytest.mark.parametrize("sign", [1, -1])
def test_the_mean_may_lie_to_the_side_of_the_longer_tail(sign: int) -> None:
    """An exponential tail is seen in most of 40 runs, and the mean may then be further to its side, not to the other.
    With balanced tails it may on neither."""
    people, size, sides = np.random.default_rng(4), 2000, []
    test = LimitedMeanTest(0.0, 1.0, neighbours=ADD)
    for run in range(40):
        given = Samples([sign * (people.exponential(1, size) - 1)], (size,), 0.0, ADD)
        at, _ = limited_at(given, test.stages, Seeded(run))
        sides.append((at.below, at.above))
    assert set(sides) <= {(0.0, 0.0), (0.0, LONGER) if sign > 0 else (LONGER, 0.0)}
    assert sides.count((0.0, 0.0)) <= 8  # at most 2 expected
    for relation in Neighbours:  # at the least number of people that is answered too
        asked = LimitedMeanTest(0.0, 1.0, neighbours=relation)
        assert "balance" in asked.stages((int(NEEDED[relation]),))


@pytest.mark.claim("tail_limits.3")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_many_people_show_a_longer_tail_of_few(relation: Neighbours) -> None:
    """20 runs each with 20,000 people. Counts of which 3.7% are in the longer tail: 740 people, where 84 (REPLACE: 91)
    are clear: seen in all. Normal tails: beyond 3 standard errors by chance, in more than 3 of 20 once in 10^7."""
    people, size = np.random.default_rng(6), 20_000
    test = LimitedMeanTest(0.0, 1.0, neighbours=relation)
    seen = []
    for run in range(20):
        for values in (people.poisson(0.3, size) - 0.3, people.normal(0, 1, size)):
            given = Samples([np.asarray(values, dtype=np.float64)], (size,), 0.0, relation)
            at, stages = limited_at(given, test.stages, Seeded(run))
            seen.append((at.above > 0, "limit" in stages))
    assert all(longer and wide for longer, wide in seen[::2])
    assert sum(wide for _, wide in seen[1::2]) <= 3


def test_the_limit_leaves_few_people_out() -> None:
    """Normal data: between 2.2 and 200 standard deviations in 40 runs, whatever the unit; further with more people."""
    people = np.random.default_rng(2)
    test = LimitedMeanTest(0.0, 1.0, neighbours=ADD)
    middles = []
    for size in (1000, 100_000):
        found = []
        for run, unit in enumerate((1.0, 1e9, 1e-9, 3600.0) * 10):
            given = Samples([unit * people.normal(0, 1, size)], (size,), 0.0, ADD)
            found.append(limits_of(given, 0.67 * unit, test.stages((size,)), Seeded(run)).limit / unit)
        assert 2.2 < min(found) < max(found) < 200
        middles.append(np.median(found))
    assert middles[0] < middles[1]


def test_balanced_tails_are_limited_close_by() -> None:
    """40 runs each. Normal tails and those of two skewed samples alike: most are limited within three median
    distances. An exponential tail, or that of one sample of two: hardly any."""
    people, size = np.random.default_rng(3), 2000
    one, two = LimitedMeanTest(0.0, 1.0, neighbours=ADD), LimitedMeansTest(None, 1.0)
    skewed = [people.exponential(1, (40, size)) - 1 for _ in range(2)]
    normal = people.normal(0, 1, (40, size))

    def near(test: LimitedMeanTest | LimitedMeansTest, *samples: object) -> int:
        close = 0
        for run in range(40):
            parts = [np.asarray(sample)[run] for sample in samples]
            at, stages = limited_at(Samples(parts, [size] * len(parts), 0.0, ADD), test.stages, Seeded(run))
            close += "limit" not in stages
            spent = compose(*(draw for draws in stages.parts.values() for draw in draws))
            assert sum(part.epsilon for part in atoms(spent)) == 1  # type: ignore[union-attr, misc]
            assert "limit" in stages or at.limit < 1.5 * NEAR
        return close

    assert near(one, normal) >= 25  # 36 expected
    assert near(two, *skewed) >= 25
    assert near(one, skewed[0]) <= 8  # at most 1 expected
    assert near(two, skewed[0], normal) <= 8


@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize(("relation", "nats"), [(ADD, 1), (Neighbours.REPLACE, 2)])
def test_what_the_balance_costs(relation: Neighbours, nats: int) -> None:
    """85 over n epsilon for one sample, 100 for the smaller of two, twice that where a row is replaced; of many people
    still three twentieths."""
    least = Fraction(3, 20)
    for size, one_of, two_of in ((500 * nats, Fraction(17, 100), Fraction(1, 5)), (10**6, least, least)):
        one = limit_shares((size,), 1.0, relation, False, Fraction(1, 4))["balance"]
        two = limit_shares((size, 2 * size), 1.0, relation, False, Fraction(1, 4))["balance"]
        assert one is not None
        assert two is not None
        assert (one.of, two.of) == (one_of, two_of)
