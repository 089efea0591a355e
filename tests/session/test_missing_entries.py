"""Missing entries are left out everywhere, and their share is told where a noisy count of the others was paid for."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import Seeded

RNG = np.random.default_rng(0)
PRICES = RNG.lognormal(8, 0.7, 20_000)
PRICES[RNG.random(20_000) < 0.2] = np.nan
KNOWN = PRICES[~np.isnan(PRICES)]
STATISTICS: dict[str, tuple[Any, float, dict[str, Any]]] = {
    "mean": (discreet.mean, KNOWN.mean(), {}),
    "mean with bounds": (discreet.mean, KNOWN.mean(), {"bounds": (0, 100_000)}),
    "median": (discreet.median, float(np.median(KNOWN)), {}),
    "proportion": (discreet.proportion, 1.0, {}),
}


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", STATISTICS)
def test_a_fifth_of_the_entries_is_missing(name: str, relation: str, tmp_path: Path) -> None:
    """The same from a function, a frame and a file; the interval holds the value of those that are there."""
    function, truth, options = STATISTICS[name]
    how: dict[str, Any] = {"epsilon": 2.0, **options}
    release = function(PRICES, neighbours=relation, rng=Seeded(4), **how)
    assert release.interval(0.999 if name != "median" else 0.95).low <= truth * 1.02
    assert abs(float(release) - truth) < 0.02 * truth
    pd.DataFrame({"x": PRICES}).to_csv(tmp_path / "a.csv", index=False)
    for source in (pd.DataFrame({"x": PRICES}), tmp_path / "a.csv"):
        terms: dict[str, Any] = {"budget": 9.0, "ledger": ":memory:", "neighbours": relation, "rng": Seeded(4)}
        with discreet.open(source, **terms) as session:
            asked = session.ask(function.__name__, "x", **how)
        assert abs(float(asked) - truth) < 0.02 * truth  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["mean", "median", "proportion"])
def test_the_share_of_missing_entries_is_told_where_all_are_public(name: str) -> None:
    function, _, options = STATISTICS[name]
    told = str(function(PRICES, epsilon=2.0, neighbours="replace", rng=Seeded(4), **options))
    assert "about 20% of the entries are missing, by a noisy count" in told
    assert "of the entries are missing" not in str(function(PRICES, epsilon=2.0, rng=Seeded(4), **options))
    kept = str(function(PRICES, epsilon=2.0, neighbours="replace", missing="keep", rng=Seeded(4), **options))
    assert "of the entries are missing" not in kept


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", ["mean", "median", "variance", "fit_normal", "density"])
def test_a_column_of_texts_ends_in_a_refusal_that_says_why(name: str, relation: str) -> None:
    texts = ["a", "b", "c"] * 2000
    for column in (texts, np.array(texts, dtype=object), pd.Series(texts)):
        release = getattr(discreet, name)(column, epsilon=1.0, neighbours=relation, rng=Seeded(1))
        assert release.refusal is not None
        assert "entries that are missing, or not of the kind that is needed, are not counted" in str(release)
