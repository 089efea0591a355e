"""Planted faults: an audit that misses one of them is broken."""

import pytest
from tests.audit.mutants import MUTANTS, Mutant, counted

from discreet import audit
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_planted_fault_is_found(mutant: Mutant) -> None:
    world = audit.numbers(mutant.relation, 3)
    verdict = audit.check(mutant, world[::6])
    if verdict.passed:
        verdict = audit.check(mutant, world)
    assert not verdict.passed, mutant.name
    with pytest.raises(Exception, match="findings"):
        verdict.require()


def test_there_are_enough_of_them() -> None:
    assert len(MUTANTS) >= 30
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_same_without_a_fault_passes(relation: Neighbours) -> None:
    verdict = audit.check(Mutant("sound", counted, relation), audit.numbers(relation, 3))
    assert verdict.passed, str(verdict)
    assert "nothing found" in str(verdict)


def test_name_and_shame_is_caught_however_rare() -> None:
    for delta in (1e-2, 1e-6, 1e-12):
        assert not audit.check(audit.NameAndShame(delta), audit.numbers(Neighbours.REPLACE, 2)).passed


def test_outputs_refute_a_wrong_scale() -> None:
    """Half the noise: the outputs alone show it."""
    wrong = Mutant("half the noise", lambda rows, rng: counted(rows, rng, epsilon=2), epsilon=1.0)
    told = audit.distinguish(wrong, [1] * 5, [1] * 4 + [0], runs=6000, seed=2)
    assert told.violated
    assert "REFUTES" in str(told)


def test_outputs_refute_an_exact_answer() -> None:
    told = audit.distinguish(Mutant("exact", lambda rows, rng: float(len(rows))), [1] * 5, [1] * 6, runs=200)
    assert told.violated


def test_coverage_finds_a_band_that_is_too_narrow() -> None:
    from dataclasses import replace

    from discreet.noise.distributions import LaplaceDistribution, laplace_scale
    from discreet.statistics.count import Count

    def draw(i: int) -> tuple[object, int]:
        release = Count(0.2).release([1] * 50 + [0] * 50, Seeded(i))
        narrow = replace(release.spread, distribution=LaplaceDistribution(laplace_scale(1, 0.4)))  # type: ignore[type-var]
        return replace(release, spread=narrow), 50

    assert not audit.coverage(draw, runs=2000).holds  # type: ignore[arg-type]
