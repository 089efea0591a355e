"""The audited mechanisms of stable."""

from typing import Any

from benchmarks.subjects.subject import LABELS, NUMBERS, REPLACE, Subject, edge_pairs
from discreet.lectures.mechanisms import exponential_mechanism, gaussian_mechanism, laplace_mechanism, report_noisy_max
from discreet.stability.inverse_sensitivity import InverseSensitivity, trimmed_mean
from discreet.stability.propose_test_release import ProposeTestRelease, stable_mode
from discreet.stability.smooth_median import SmoothMedian


def within(rows: Any) -> int:
    """How many changes a count of positive entries is from moving by more than 1: none could."""
    return len(rows)


def positive(rows: Any) -> float:
    """How many entries are positive numbers."""
    return float(sum(isinstance(entry, float) and entry > 0 for entry in rows))


def of(rows: Any, value: float) -> int:
    """How many entries are this number."""
    return sum(isinstance(entry, float) and entry == value for entry in rows)


SUBJECTS = {
    "NoisyFunction, laplace": Subject(
        lambda r: laplace_mechanism(positive, 1, epsilon=1.0, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
    ),
    "NoisyFunction, gaussian": Subject(
        lambda r: gaussian_mechanism(positive, 1, epsilon=1.0, delta=1e-4, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
    ),
    "PreferredCandidate, exponential": Subject(
        lambda r: exponential_mechanism(of, (0.0, 1.0, 1e12), 1, epsilon=1.0, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
    ),
    "PreferredCandidate, noisy max": Subject(
        lambda r: report_noisy_max(of, (0.0, 1.0, 1e12), 1, epsilon=1.0, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
    ),
    "SmoothMedian, student": Subject(
        lambda _: SmoothMedian(1.0, bounds=(0, 2)), NUMBERS, edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4), only=REPLACE
    ),
    "SmoothMedian, cauchy": Subject(
        lambda _: SmoothMedian(1.0, bounds=(0, 2), distribution="cauchy"),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
        only=REPLACE,
    ),
    "SmoothMedian, laplace": Subject(
        lambda _: SmoothMedian(1.0, bounds=(0, 2), delta=1e-4, distribution="laplace"),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
        only=REPLACE,
    ),
    "stable_mode": Subject(lambda r: stable_mode(1.0, 1e-4, r), LABELS, edge_pairs("a", "z", ["a"] * 12 + ["b"] * 3)),
    "ProposeTestRelease, bound": Subject(
        lambda r: ProposeTestRelease(positive, within, epsilon=2.0, delta=1e-4, bound=1.0, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1.0, [1.0] * 40),
    ),
    "InverseSensitivity": Subject(
        lambda _: InverseSensitivity(trimmed_mean(0.1), (0, 2), 4.0),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 4 + [0.0] * 4),
        only=REPLACE,
    ),
}
