"""Replicability: the tester, and rounding to a shared grid."""

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.errors import BadInput
from discreet.lectures.replicability import offset_of, replicable, width_for
from discreet.noise.randomness import Seeded


def sample(index: int) -> np.ndarray:
    return np.random.default_rng(index).normal(10, 1, 400)


def test_rounding_makes_two_studies_agree() -> None:
    sd = np.hypot(1 / 20, 0.1)

    def study(rows: np.ndarray, offset: float) -> object:
        release = discreet.mean(rows, epsilon=2.0, model="gaussian", bounds=(0, 20), rng=Seeded(int(1e6 * rows[0])))
        return replicable(release, width=width_for(sd, 0.1), offset=offset)

    found = audit.replicate(study, sample, runs=60)
    assert not found.refutes(0.1)

    def plainly(rows: np.ndarray, offset: float) -> object:
        return discreet.mean(rows, epsilon=2.0, bounds=(0, 20), rng=Seeded(int(1e6 * abs(rows[0]))))

    plain = audit.replicate(plainly, sample, runs=20)
    assert plain.refutes(0.2)
    assert "differ with probability" in str(plain)


def test_the_chance_to_differ_is_the_distance_over_the_width() -> None:
    rng, width, runs = np.random.default_rng(0), 4.0, 2000

    counted = discreet.count([1], epsilon=1.0, rng=Seeded(1))

    def shifted(offset: float, value: float) -> float:
        return float(replicable(counted.map(lambda _: value), width=width, offset=offset).value)

    differ = sum(shifted(offset, 3.0) != shifted(offset, 4.0) for offset in rng.random(runs))
    assert differ / runs == pytest.approx(1 / width, abs=0.04)


def test_the_interval_still_holds_and_the_note_says_it_is_not_privacy() -> None:
    release = discreet.mean(sample(1), epsilon=2.0, bounds=(0, 20), rng=Seeded(1))
    rounded = replicable(release, width=0.5, offset=offset_of("a study"))
    inner, outer = release.interval(), rounded.interval()
    assert outer.low <= inner.low
    assert inner.high <= outer.high
    assert outer.high - outer.low == pytest.approx(inner.high - inner.low + 0.5)
    assert abs(rounded.value - release.value) <= 0.25
    assert (rounded.value / 0.5 - offset_of("a study")) % 1 == pytest.approx(0, abs=1e-9)
    assert "no privacy by itself" in rounded.provenance.notes[-1]
    assert rounded.guarantee == release.guarantee


def test_bad_parameters() -> None:
    release = discreet.count([1], epsilon=1.0, rng=Seeded(1))
    for bad in ({"width": 0, "offset": 0.1}, {"width": 1, "offset": 1.0}, {"width": float("nan"), "offset": 0}):
        with pytest.raises(BadInput):
            replicable(release, **bad)
    with pytest.raises(BadInput):
        audit.replicate(lambda rows, offset: 0, sample, runs=0)
    with pytest.raises(BadInput):
        width_for(-1, 0.1)
    with pytest.raises(BadInput):
        offset_of(7)  # type: ignore[arg-type]
    for odd in ("flu", {"a": 1.0}):
        with pytest.raises(BadInput, match="numbers"):
            replicable(release.map(lambda _, odd=odd: odd), width=1, offset=0)  # type: ignore[misc]
    refused = discreet.mean([1.0] * 5, epsilon=0.1, model="gaussian", rng=Seeded(1))
    if refused.refusal is not None:
        assert replicable(refused, width=1, offset=0).refusal == refused.refusal
