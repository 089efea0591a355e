"""Groups of private sizes: seats, the audit, levels, refusals."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import anova, audit, two_means_test, two_samples_test
from discreet.audit.worlds import Pair, neighbours_of
from discreet.errors import BadInput
from discreet.hypotheses import private_sizes
from discreet.hypotheses.mean_tests import NormalMeansTest
from discreet.hypotheses.null_distributions import MISS, size_band
from discreet.hypotheses.private_sizes import PrivateGroups, grouped_rows, lost_people, secret_words
from discreet.hypotheses.rank_tests import GroupsTest, RankSumTest
from discreet.noise.distributions import laplace, laplace_scale, stream
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace

ADD = Neighbours.ADD_OR_REMOVE
ROWS = ((0, 1.0), (1, 0.0), (1, np.nan), (0, np.inf), (2, 1.0), "a", 3.0)
CROWD = tuple((k % 2, float(k % 3)) for k in range(8))
TESTS = {
    "rank sums": PrivateGroups(RankSumTest(1, 100.0), 2),
    "groups": PrivateGroups(GroupsTest((1,), 100.0, draws=19), 2),
    "means": PrivateGroups(NormalMeansTest(1, 100.0, bounds=(0.0, 2.0)), 2),
}


@pytest.mark.claim("private_sizes.1")
@pytest.mark.parametrize("name", TESTS)
def test_groups_pass_the_audit(name: str) -> None:
    for rows in ((), CROWD[:1], CROWD[:2], CROWD):
        audit.check(TESTS[name], neighbours_of(rows, ROWS, ADD), hostile_values=len(rows) == 2).require()


@pytest.mark.parametrize("name", ["rank sums", "means"])
def test_a_person_with_two_seats_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A planted mutant: the noisy numbers are right, but every row is seated twice."""
    right = private_sizes.grouped_rows
    counted = private_sizes.noisy_sizes

    def twice(*given: Any) -> Any:
        which, values = right(*given)
        return np.repeat(which, 2), np.repeat(values, 2)

    monkeypatch.setattr(private_sizes, "grouped_rows", twice)
    monkeypatch.setattr(private_sizes, "noisy_sizes", lambda n, *more: [2 * one for one in counted(n // 2, *more)])
    pairs = [Pair([(0, 2.0)] * 9 + [(1, 0.0)] * 10, [(0, 2.0)] * 9 + [(1, 0.0)] * 10 + [(0, -2.0)])]
    assert not audit.check(TESTS[name], pairs, hostile_values=False).passed


@pytest.mark.claim("private_sizes.2")
@pytest.mark.parametrize("size", [50, 200, pytest.param(2000, marks=pytest.mark.study)])
def test_the_level_of_rank_tests_holds(size: int) -> None:
    """200 runs each on tied values: past the bounds with a chance below 1e-6 each."""
    people = np.random.default_rng(size)
    tests = [PrivateGroups(RankSumTest(1, 2.0), 2), PrivateGroups(GroupsTest((1, 1), 2.0, draws=99), 3)]
    for test in tests if size < 2000 else tests[:1]:
        found = []
        which = np.repeat(np.arange(test.groups), [size, 2 * size, size][: test.groups])
        for run in range(200):
            rows = np.column_stack([which, np.floor(people.exponential(3.0, len(which)))])
            release = test.release(rows, Seeded(run))
            found.append(1.0 if release.refusal is not None else release.value.p_value)
        for level in (0.05, 0.2, 0.5):
            assert np.count_nonzero(np.array(found) <= level) <= stats.binom.isf(1e-6, 200, level)


@pytest.mark.claim("private_sizes.2")
def test_seats_are_hardly_ever_empty() -> None:
    """The margin against 2,000,000 simulated noises: more of them than MISS allows has a chance below 1e-6."""
    cost = Laplace(0.5)
    noise = laplace(stream(1), (1_000_000, 2), laplace_scale(1, 0.5))
    beyond = np.count_nonzero((noise > lost_people(2, cost)).any(axis=1))
    assert beyond <= stats.binom.isf(1e-6, 1_000_000, MISS)


@pytest.mark.claim("null_distributions.3")
@pytest.mark.parametrize(("noises", "epsilon"), [(1, 1.0), (4, 0.1), (30, 3.0)])
def test_a_band_of_sizes_holds_the_true_one(noises: int, epsilon: float) -> None:
    """200,000 simulated sums of noise: more misses than MISS allows has a chance below 1e-6."""
    scale = laplace_scale(1, epsilon)
    band = size_band(10**6, noises, scale)
    sums = 10**6 + sum(laplace(stream(k), (200_000,), scale) for k in range(noises))
    missed = np.count_nonzero((sums < band[0]) | (sums > band[-1]))
    assert missed <= stats.binom.isf(1e-6, 200_000, MISS)
    assert size_band(-(10**6), noises, scale) == range(1)


def test_decisions() -> None:
    people = np.random.default_rng(1)
    x, y = people.normal(0.5, 1, 600), people.normal(0.0, 1, 500)
    ask: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add_or_remove", "rng": Seeded(1)}
    release = two_samples_test(x, y, **ask)
    assert release.value.decide(0.001)
    assert release.guarantee.neighbours is ADD
    assert "in which group" in str(release)
    assert two_means_test(x, y, **ask, bounds=(-4.0, 4.0)).value.decide(0.001)
    assert anova(x, y, x, **ask).value.decide(0.001)
    assert two_samples_test(x, y, **ask, alternative="less").value.p_value > 0.99


def test_few_people_are_refused_by_noisy_numbers() -> None:
    for rows in ([], [1.0], [1.0] * 30):
        release = two_samples_test(rows, [2.0] * 900, epsilon=1.0, neighbours="add_or_remove", rng=Seeded(1))
        assert "noisy numbers" in str(release.refusal)


def test_pieces() -> None:
    which, values = grouped_rows([(0, 1.0), (1, None), (2, 3.0), (0.5, 1.0), "ab", (None, 2.0)], 2)
    assert which.tolist() == [0, 1, -1, -1, -1, -1]
    assert values[0] == 1.0
    words = secret_words(np.array([1.0, 1.0, -0.0, 0.0, np.nan]), bytes(32))
    assert len({tuple(word) for word in words.tolist()}) == 5
    assert (words == secret_words(np.array([1.0, 1.0, 0.0, -0.0, -np.nan]), bytes(32))).all()
    with pytest.raises(BadInput, match="groups"):
        PrivateGroups(RankSumTest(1, 1.0), 1)
    with pytest.raises(BadInput, match="the test is"):
        PrivateGroups(3, 2)  # type: ignore[arg-type]
