"""Noisy matrices drawn towards others."""

import numpy as np
import pytest

from discreet.stages.shrinkage import apart_from, drawn_towards, to_diagonal


def test_columns_that_do_not_depend_on_each_other_lose_their_noise() -> None:
    rng = np.random.default_rng(1)
    noise = np.triu(rng.normal(size=(30, 30)), 1) * 0.1 / np.sqrt(2)
    found, left = to_diagonal(np.eye(30) + noise + noise.T, 0.1)
    apart = found - np.diag(np.diag(found))
    assert (apart**2).sum() < 0.05 * 2 * (noise**2).sum()
    assert left < 0.03


def test_what_the_noise_does_not_explain_stays() -> None:
    strong = 0.5 * np.eye(30) + 0.5
    found, left = to_diagonal(strong, 0.01)
    assert found == pytest.approx(strong, abs=0.001)
    assert left == pytest.approx(0.01, rel=0.001)
    assert drawn_towards(strong, 0.6, np.eye(30), most=0.25)[0] == pytest.approx(0.75 * strong + 0.25 * np.eye(30))
    alone, _ = to_diagonal(np.array([[4.0]]), 1.0)
    assert alone.tolist() == [[4.0]]


def test_what_the_noise_explains_beside_the_diagonal_is_taken_off() -> None:
    """Less error together whatever the truth is, and an entry that stands out is moved by one deviation at most."""
    rng, errors = np.random.default_rng(2), []
    none, some, strong = np.eye(12), 0.9 * np.eye(12) + 0.1, 0.5 * np.eye(12) + 0.5
    odd = np.eye(12)
    odd[0, 1] = odd[1, 0] = 0.9
    for truth in (none, some, strong, odd):
        plain, drawn = 0.0, 0.0
        for _ in range(200):
            noise = np.triu(rng.normal(size=(12, 12)), 1) * 0.2 / np.sqrt(2)
            found = truth + noise + noise.T
            answer = apart_from(found, 0.2)
            assert np.diag(answer).tolist() == [1.0] * 12
            assert np.abs(answer - found).max() <= 0.2 / np.sqrt(2) * (1 + 1e-12)
            plain, drawn = plain + ((found - truth) ** 2).sum(), drawn + ((answer - truth) ** 2).sum()
        errors.append(drawn / plain)
    assert errors[0] < 0.25
    assert errors[1] < 0.8
    assert errors[2] < 1.0
    assert errors[3] < 0.35
    assert apart_from(none, 0.2).tolist() == none.tolist()
