"""Ranks of groups: sensitivity by exhaustion, exact distributions, hostile values."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from discreet import anova, audit, two_samples_test
from discreet.audit.worlds import HOSTILE, THORNS, Pair, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.hypotheses.rank_tests import (
    GroupsTest,
    RankSumTest,
    deviation,
    deviation_moves,
    larger_pairs,
    null_deviations,
    rank_sum_distribution,
    ranks,
)
from discreet.noise.distributions import stream
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

VALUES = (0.0, 1.0, 2.0, -np.inf, np.nan)
WORLD = [
    pair for rows in ((0.0, 1.0, 1.0), (2.0, 2.0, 0.0, 1.0)) for pair in neighbours_of(rows, VALUES, Neighbours.REPLACE)
]


@pytest.mark.claim("rank_tests.1")
def test_the_rank_sum_passes_the_audit() -> None:
    audit.check(RankSumTest(2, 40.0), WORLD, hostile_values=False).require()


@pytest.mark.claim("rank_tests.2")
def test_groups_pass_the_audit() -> None:
    audit.check(GroupsTest((1, 2), 40.0, draws=19), WORLD, hostile_values=False).require()
    furthest = Pair([0.0, 3.0, 1.0, 2.0], [9.0, 3.0, 1.0, 2.0])  # as far as is claimed
    audit.check(GroupsTest((2,), 40.0, draws=19), [furthest], hostile_values=False).require()


@pytest.mark.claim("rank_tests.1")
@pytest.mark.parametrize(("one", "other"), [(1, 3), (2, 3), (3, 3)])
def test_one_value_moves_the_pairs_by_the_larger_group(one: int, other: int) -> None:
    assert max(_moves(one + other, lambda found: larger_pairs(found, one))) == max(one, other)


@pytest.mark.claim("rank_tests.2")
@pytest.mark.parametrize("groups", [(2, 2), (2, 2, 1), (1, 1, 3), (1, 1, 1)])
def test_one_value_moves_the_deviation_by_no_more_than_is_proved(groups: tuple[int, ...]) -> None:
    """Reached by two groups of one size."""
    bound = deviation_moves(groups)
    furthest = max(_moves(sum(groups), lambda found: int(deviation(found[None, :], groups)[0])))
    assert furthest == bound if groups == (2, 2) else furthest <= bound


@pytest.mark.claim("rank_tests.2")
@pytest.mark.parametrize("groups", [(1, 4), (4, 1), (1, 5), (2, 4)])
def test_the_smallest_group_moves_the_deviation_most(groups: tuple[int, ...]) -> None:
    """More than n less the largest group would allow; the audit sees it too, with the smallest group's value moved."""
    size = sum(groups)
    furthest = max(_moves(size, lambda found: int(deviation(found[None, :], groups)[0])))
    assert 2 * (size - max(groups)) < furthest <= deviation_moves(groups)
    place, rest = sum(groups[: groups.index(min(groups))]), [float(k) for k in range(1, size)]
    low, high = ([*rest[:place], moved, *rest[place:]] for moved in (size / 2, 99.0))
    audit.check(GroupsTest(groups[:-1], 40.0, draws=19), [Pair(low, high)], hostile_values=False).require()


@pytest.mark.claim("rank_tests.2")
def test_label_changes_move_the_deviation_by_less_than_the_constant_8_says() -> None:
    """Every table of 5 ranks in up to 3 groups, every row moved to every rank and group."""
    furthest, size = 0.0, 5

    def spread(order: tuple[int, ...], labels: tuple[int, ...]) -> float:
        return sum(abs(sum(order[i] - 3 for i in range(size) if labels[i] == g)) for g in range(3))

    for order in permutations(range(1, size + 1)):
        for labels in ((0, 0, 1, 1, 2), (0, 0, 0, 1, 1), (0, 1, 1, 2, 2)):
            for label in range(3):
                for moved in _replaced(np.array(order), 0):
                    step = abs(spread(order, labels) - spread(tuple(moved), (label, *labels[1:])))
                    furthest = max(furthest, step)
    assert furthest <= 2 * (size - 1)


PUBLIC: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}


def _replaced(found: np.ndarray, place: int) -> list[np.ndarray]:
    rest = np.delete(found, place)
    order = np.argsort(np.argsort(rest)) + 1
    return [np.insert(order + (order >= rank), place, rank) for rank in range(1, len(found) + 1)]


def _moves(size: int, statistic) -> set[int]:  # type: ignore[no-untyped-def]
    seen = set()
    for order in permutations(range(1, size + 1)):
        here = statistic(np.array(order))
        for place in range(size):
            seen |= {abs(statistic(moved) - here) for moved in _replaced(np.array(order), place)}
    return seen


@pytest.mark.claim("rank_tests.3")
@pytest.mark.parametrize(("one", "other"), [(1, 1), (1, 6), (3, 4), (5, 4)])
def test_the_distribution_of_pairs_is_that_of_all_orders(one: int, other: int) -> None:
    sums = [sum(chosen) - one * (one + 1) // 2 for chosen in combinations(range(1, one + other + 1), one)]
    distribution = rank_sum_distribution(one, other, 0.8)
    for t in range(-12, one * other + 12):
        assert distribution.upper(t) == pytest.approx(
            noise_beyond(t - np.array(sums), distribution.scale).mean(), abs=1e-11
        )


@pytest.mark.claim("rank_tests.3")
def test_ties_are_broken_at_random() -> None:
    for values in ([1.0, 1.0, 1.0], [np.nan, -np.inf, np.nan], [0.0, -0.0, 0.0]):
        orders = {tuple(ranks(np.array(values), np.array(places))) for places in permutations(range(3))}
        assert len(orders) == 6
    assert ranks(np.array([np.inf, 2.0, np.nan]), np.arange(3)).tolist() == [3, 2, 1]


@pytest.mark.claim("rank_tests.3")
def test_the_normal_limit_of_rank_sums_agrees_with_permutations() -> None:
    """Quantiles of 20,000 draws each, 6,000 rows (the limit) against 4,998: within 5%."""
    far = null_deviations(stream(1), (2000, 2000, 2000), 20_000) / 6000**1.5
    near = null_deviations(stream(2), (60, 60, 60), 20_000) / 180**1.5
    for q in (0.5, 0.9, 0.99):
        assert np.quantile(far, q) == pytest.approx(np.quantile(near, q), rel=0.05)


def test_hostile_values_raise_nothing() -> None:
    for test in (RankSumTest(20, 2.0), GroupsTest((20, 20), 2.0, draws=19)):
        assert 0 < test.release([*HOSTILE, *THORNS, *HOSTILE], Seeded(1)).value.p_value <= 1


def test_decisions() -> None:
    x = [k % 40 for k in range(150)]
    y = [k % 40 + 12 for k in range(170)]
    assert two_samples_test(x, y, epsilon=1.0, **PUBLIC, rng=Seeded(1)).value.decide(1e-4)
    assert two_samples_test(x, y, epsilon=1.0, **PUBLIC, alternative="less", rng=Seeded(1)).value.decide(1e-4)
    assert two_samples_test(x, y, epsilon=1.0, **PUBLIC, alternative="greater", rng=Seeded(1)).value.p_value > 0.99
    assert anova(x, y, x, epsilon=1.0, **PUBLIC, rng=Seeded(1)).value.decide(0.001)
    assert anova(x, x, x, epsilon=1.0, **PUBLIC, rng=Seeded(1)).value.p_value > 1e-3
    assert "rank sum" in str(two_samples_test(x, x, epsilon=1.0, **PUBLIC, rng=Seeded(2)))


def test_refusals_are_by_public_numbers() -> None:
    assert "scales of the noise" in str(two_samples_test([1.0] * 5, [2.0] * 500, epsilon=1.0, **PUBLIC).refusal)
    assert "smallest group" in str(anova([1.0] * 5, [2.0] * 50, epsilon=1.0, **PUBLIC).refusal)
    with pytest.raises(Refused, match="scales of the noise"):
        RankSumTest(5, 1.0).check(505)
    with pytest.raises(Refused, match="smallest group"):
        GroupsTest((5,), 1.0).check(55)
    for test in (RankSumTest(50, 1.0), GroupsTest((50,), 1.0)):
        test.check(100)
        test.check(None)
    with pytest.raises(BadInput, match="two or more"):
        anova([1.0], epsilon=1.0, **PUBLIC)
    with pytest.raises(BadInput, match="sizes"):
        RankSumTest(0, 1.0)
    assert "do not fill" in str(RankSumTest(3, 10.0).release([1.0, 2.0], Seeded(1)).refusal)
    with pytest.raises(BadInput, match="PrivateGroups"):
        GroupsTest((3,), 1.0, neighbours=Neighbours.ADD_OR_REMOVE)


@pytest.mark.claim("rank_tests.3")
def test_a_small_group_among_many_rows_is_not_taken_as_normal() -> None:
    """One rank is uniform: twice its deviation never passes n. Of a normal limit 8% would."""
    found = null_deviations(stream(5), (1, 5_000), 300)
    assert found.max() <= 5_000
    assert (null_deviations(stream(5), (2_000, 3_001), 300) % 1 != 0).any()
    release = GroupsTest((5_000,), 10.0).release([0.0] * 5_001, Seeded(1))
    assert round(release.value.p_value * 1000, 9) % 1 == 0


def test_releases_say_that_groups_are_public() -> None:
    for release in (
        two_samples_test([1.0] * 30, [2.0] * 30, epsilon=1.0, **PUBLIC, rng=Seeded(1)),
        anova([1.0] * 30, [2.0] * 30, epsilon=1.0, **PUBLIC, rng=Seeded(1)),
    ):
        assert "which group a row is in is public" in str(release)


def test_bad_parameters_of_the_classes() -> None:
    with pytest.raises(BadInput, match="draws"):
        GroupsTest((3,), 1.0, draws=0)
    with pytest.raises(BadInput, match="sizes"):
        GroupsTest(3, 1.0)  # type: ignore[arg-type]
