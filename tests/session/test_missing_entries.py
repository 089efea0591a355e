"""Missing entries are left out everywhere, and how many they are is told."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.sessions import ADD, REPLACE, Asking, objections
from scipy.stats import norm

import discreet
from discreet import Seeded
from discreet.asking import Question
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Sampled, alongside
from discreet.tables.arranging import present
from discreet.tables.opening import read
from discreet.tables.streams import Stream
from discreet.tables.wanted import Want

RNG = np.random.default_rng(0)
PRICES = RNG.lognormal(8, 0.7, 20_000)
PRICES[RNG.random(20_000) < 0.2] = np.nan
KNOWN = PRICES[~np.isnan(PRICES)]
STATISTICS: dict[str, tuple[Any, float, dict[str, Any]]] = {
    "mean": (discreet.mean, KNOWN.mean(), {}),
    "mean with bounds": (discreet.mean, KNOWN.mean(), {"bounds": (0, 100_000)}),
    "median": (discreet.median, float(np.median(KNOWN)), {}),
    "proportion": (discreet.proportion, 0.0, {}),  # of prices none is 1, which alone counts as yes
}


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", STATISTICS)
def test_a_fifth_of_the_entries_is_missing(name: str, relation: str, tmp_path: Path) -> None:
    """The same from a function, a frame and a file; the interval holds the value of those that are there."""
    function, truth, options = STATISTICS[name]
    how: dict[str, Any] = {"epsilon": 2.0, **options}
    release = function(PRICES, neighbours=relation, rng=Seeded(4), **how)
    assert release.interval(0.999 if name != "median" else 0.95).low <= truth * 1.02
    assert abs(float(release) - truth) < 0.02 * truth + 0.001
    pd.DataFrame({"x": PRICES}).to_csv(tmp_path / "a.csv", index=False)
    for source in (pd.DataFrame({"x": PRICES}), tmp_path / "a.csv"):
        terms: dict[str, Any] = {"budget": 9.0, "ledger": ":memory:", "neighbours": relation, "rng": Seeded(4)}
        with discreet.open(source, **terms) as session:
            asked = session.ask(function.__name__, "x", **how)
        assert abs(float(asked) - truth) < 0.02 * truth + 0.001  # type: ignore[arg-type]


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", ["mean", "median", "proportion"])
def test_the_share_of_missing_entries_is_told(name: str, relation: str) -> None:
    function, _, options = STATISTICS[name]
    how: dict[str, Any] = {"epsilon": 2.0, "neighbours": relation, **options}
    assert "about 20% of the entries are missing, by a noisy count" in str(function(PRICES, rng=Seeded(4), **how))
    assert "are missing" not in str(function(PRICES, missing="keep", rng=Seeded(4), **how))
    assert "are missing" not in str(function(KNOWN, rng=Seeded(4), **how))


@pytest.mark.claim("asking.5")
def test_entries_that_are_missing_are_told_of_those_whom_a_condition_leaves() -> None:
    table = {"x": PRICES, "y": PRICES, "old": np.arange(len(PRICES)) % 2}
    with discreet.open(table, budget=9.0, ledger=":memory:", rng=Seeded(4)) as session:
        half = session.variance("x", epsilon=2.0, where="old == 1")
        both = session.correlation(["x", "y"], epsilon=2.0)
        assert float(session.balance.spent.epsilon) == 4.0
    told = re.search(r"about ([\d,]+) entries are missing", str(half))
    assert told is not None
    assert abs(int(told[1].replace(",", "")) - np.isnan(PRICES[1::2]).sum()) < 30
    assert "rows have a missing entry" in str(both)


@pytest.mark.claim("asking.5")
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 40.0])
def test_a_count_alongside_costs_no_more_than_the_part_it_is_taken_from(epsilon: float) -> None:
    """The curve of a pure mechanism, delta(e) = (e^epsilon - e^e) / (1 + e^epsilon), lies below that of the part."""
    curve = np.linspace(0, epsilon, 200)
    parts: dict[Any, Any] = {
        Laplace(epsilon): -np.expm1((curve - epsilon) / 2),
        Gaussian(epsilon): norm.cdf(epsilon / 2 - curve / epsilon)
        - np.exp(curve + norm.logcdf(-epsilon / 2 - curve / epsilon)),
        Approximate(epsilon, 1e-6): -np.expm1(curve - epsilon) / (1 + math.exp(-epsilon)) + 1e-6,
    }
    for part, most in parts.items():
        pure = alongside(part)
        assert 0.3 * min(epsilon, 28) < pure <= epsilon
        assert (-np.expm1(curve - pure) / (1 + math.exp(-pure)) <= most + 1e-12).all()
    assert alongside(Composed((Choice(epsilon), Sampled(Gaussian(9), 0.1)))) <= epsilon / 2


@pytest.mark.claim("asking.5")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_count_that_cost_more_would_be_noticed(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: beside a count under replace it costs as much again, and at twice epsilon beside anything."""
    left, right = read({"flag": [1.0] * 9}), read({"flag": [1.0] * 8 + ([] if relation is ADD else [math.nan])})
    missing = read({"flag": [1.0] * 8 + [math.nan]})
    count = Asking("count", ("flag",), {"epsilon": 1.0})
    assert objections(count, relation, left, right, 1) == objections(count, ADD, right, missing, 1) == []

    def wrong(self: Question, release: Any, left_out: int, _: Any, rng: Any) -> Any:
        factor = 2 if self.people.neighbours is ADD else 1
        rng.blur(left_out, sensitivity=1, cost=Laplace(factor * alongside(self.price.mechanism.loss)))
        return release

    monkeypatch.setattr(Question, "_told", wrong)
    pair = (right, missing) if relation is ADD else (left, missing)
    assert "costs more than one person" in str(objections(count, relation, *pair, 1))


@pytest.mark.claim("asking.5")
def test_people_left_out_are_counted_once_in_a_stream_and_in_an_array() -> None:
    wants = [Want("x", "number", missing="drop")]
    given = Stream(6, lambda: iter((np.array([1.0, math.nan, 2.0]), np.array([math.nan, 3.0, 4.0]))))
    for column in (given, np.concatenate(list(given))):
        kept, left_out = present({"x": column}, wants)
        assert (len(kept["x"]), left_out()) == (4, 2)


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", ["mean", "median", "variance", "fit_normal", "density"])
def test_a_column_of_texts_ends_in_a_refusal_that_says_why(name: str, relation: str) -> None:
    texts = ["a", "b", "c"] * 2000
    for column in (texts, np.array(texts, dtype=object), pd.Series(texts)):
        release = getattr(discreet, name)(column, epsilon=1.0, neighbours=relation, rng=Seeded(1))
        assert release.refusal is not None
        assert "entries that are missing, or not of the kind that is needed, are not counted" in str(release)


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
def test_a_refusal_for_want_of_numbers_begins_with_them(relation: str) -> None:
    table = {"x": [float(place) for place in range(4000)], "y": ["no", "yes"] * 2000}
    budget = discreet.Budget(20.0, 1e-4)
    with discreet.open(table, budget=budget, ledger=":memory:", neighbours=relation, rng=Seeded(1)) as session:
        for release in (session.mean("y", epsilon=1.0), session.logistic_regression(["x"], "y", epsilon=1.0)):
            assert release.refusal is not None
            assert re.match("about .* rows are left out .*a text where a number is. Of the others: ", release.refusal)
        scarce = session.mean("x", epsilon=0.001)
        assert scarce.refusal is not None
        assert "left out" not in scarce.refusal


def test_a_refusal_tells_of_missing_entries_where_they_are_many() -> None:
    """Else people are told to bring fewer rows than they have."""
    drinks = np.where(np.arange(1600) % 4 == 0, np.nan, np.arange(1600) % 7)
    release = discreet.mean_test(drinks, 3.0, epsilon=0.3, rng=discreet.Seeded(1))
    assert release.refusal is not None
    assert re.match("about 2.% of the rows are left out .*Of the others: n . epsilon is", release.refusal)
