"""Any test on blocks: the audit, failures, both relations."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import audit, custom_test
from discreet.audit.worlds import neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses.combined_tests import ScoreSum, VoteCount
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.custom_test import P_VALUE
from discreet.subsample.estimators import FunctionFit

ROWS = (0.0, 1.0, 2.0, 0.5, -1.0)


def positive(x: Any) -> float:
    """An exact sign test."""
    return float(stats.binom.sf((x > 0).sum() - 1, len(x), 0.5))


def greater(x: Any) -> float:
    return float(stats.ttest_1samp(x, 0.0, alternative="greater").pvalue)


def failing(x: Any) -> float:
    raise ValueError(x.mean())


@pytest.mark.claim("custom_test.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("combined", [ScoreSum(3, 1.0, 10.0), VoteCount(3, 0.5, 10.0)])
def test_blocks_pass_the_audit(relation: Neighbours, combined: ScoreSum | VoteCount) -> None:
    world = list(neighbours_of(ROWS, (3.0, -3.0, math.nan), relation))
    audit.check(
        SubsampleAggregate(FunctionFit(positive), P_VALUE, combined, neighbours=relation), world, hostile_values=False
    ).require()


@pytest.mark.claim("custom_test.2")
def test_p_values_are_super_uniform() -> None:
    people = np.random.default_rng(1)
    test = SubsampleAggregate(FunctionFit(positive), P_VALUE, ScoreSum(12, 1.0, 1.0))
    found = [test.release(people.normal(size=84), Seeded(i)).value.p_value for i in range(80)]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 5 * math.sqrt(level * (1 - level) / 80)


@pytest.mark.claim("custom_test.2")
def test_a_base_test_that_fails_is_no_evidence() -> None:
    release = SubsampleAggregate(FunctionFit(failing), P_VALUE, ScoreSum(50, 1.0, 1.0)).release(np.ones(200), Seeded(1))
    assert release.value.p_value > 0.999
    assert "valid on blocks" in str(release)


@pytest.mark.parametrize("method", ["scores", "binary"])
def test_decisions(method: str) -> None:
    people = np.random.default_rng(2)
    x = people.normal(0.2, 1, 2000)
    ask = {"epsilon": 1.0, "method": method, "rng": Seeded(1)}
    assert custom_test(greater, x, **ask).value.decide(0.001)  # type: ignore[arg-type]
    assert custom_test(greater, -x, **ask).value.p_value > 0.9  # type: ignore[arg-type]
    hidden = custom_test(greater, x, **ask, blocks=60, neighbours="add_or_remove")  # type: ignore[arg-type]
    assert hidden.value.decide(0.001)
    assert hidden.guarantee.neighbours is Neighbours.ADD_OR_REMOVE
    counted = custom_test(greater, x, **ask, neighbours="add_or_remove")  # type: ignore[arg-type]
    assert counted.value.decide(0.001)
    assert abs(counted.provenance.parameters["people, noisy"] - 2000) < 600  # 30 scales: a chance below 1e-12
    assert counted.guarantee.neighbours is Neighbours.ADD_OR_REMOVE


def test_two_columns_and_people_with_several_rows() -> None:
    people = np.random.default_rng(3)
    label = people.integers(0, 2, 3000)
    table = np.column_stack([label, people.normal(0.5 * label, 1)])

    def larger(rows: Any) -> float:
        return float(
            stats.mannwhitneyu(rows[rows[:, 0] == 1, 1], rows[rows[:, 0] == 0, 1], alternative="greater").pvalue
        )

    assert custom_test(larger, table, epsilon=1.0, rng=Seeded(1)).value.decide(0.001)
    whose = np.arange(3000) // 3
    assert custom_test(larger, table, unit=whose, epsilon=1.0, rng=Seeded(1)).guarantee.unit == "person"


PUBLIC: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}


def test_refusals_are_by_public_numbers() -> None:
    x = np.zeros(100)
    for options, words in (
        ({"epsilon": 0.1}, "people"),
        ({"method": "t"}, "method"),
        ({"blocks": 0}, "blocks"),
        ({"smallest": 0}, "smallest"),
    ):
        with pytest.raises(BadInput, match=words):
            custom_test(greater, x, **({"epsilon": 1.0} | PUBLIC | options))
    assert "do not fill" in str(custom_test(greater, x, epsilon=1.0, blocks=101, **PUBLIC).refusal)
    test = SubsampleAggregate(FunctionFit(greater), P_VALUE, ScoreSum(50, 1.0, 1.0))
    with pytest.raises(Refused, match="do not fill"):
        test.check(49)
    test.check(50)
    test.check(None)
