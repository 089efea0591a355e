"""Pictures: drawn from what was released, nothing else."""

import sys

import numpy as np
import pytest

import discreet
from discreet import count, fit_normal, histogram, proportion, quantile
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.release import Provenance, Release
from discreet.privacy.stored import recalled

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_numbers_and_bars() -> None:
    import matplotlib.pyplot as plt

    share = proportion([1] * 30 + [0] * 70, epsilon=1.0, rng=Seeded(1))
    axes = share.plot()
    assert "proportion" in axes.get_title()
    assert len(axes.collections) == 2
    assert "not for publication" in axes.get_xlabel()
    bars = histogram(["a"] * 50 + ["b"] * 20, epsilon=1.0, categories=["a", "b", "c"]).plot(0.9)
    assert [label.get_text() for label in bars.get_xticklabels()] == ["a", "b", "c"]
    assert len(bars.patches) == 3
    assert "90% noise interval" in bars.get_title()
    assert "not for publication" not in bars.get_xlabel()
    again = count([1] * 30, epsilon=1.0).plot(ax=axes)
    assert again is axes
    plt.close("all")


def test_quantiles_are_named_and_a_normal_distribution_is_a_curve() -> None:
    import matplotlib.pyplot as plt

    rows = [index / 1000 for index in range(1000)]
    axes = quantile(rows, [0.25, 0.75], epsilon=4.0, rng=Seeded(1)).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["25%", "75%"]
    fitted = fit_normal(rows, epsilon=4.0, rng=Seeded(1))
    axes = fitted.plot()
    (line,) = axes.lines
    grid, heights = line.get_data()
    assert abs(grid[heights.argmax()] - fitted.value.mean) < 0.05 * fitted.value.sd
    assert "95% confidence interval: mean " in axes.get_title()
    plt.close("all")


def test_every_value_is_drawn() -> None:
    import matplotlib.pyplot as plt
    from tests.report.made import records

    for name, record in records().items():
        release = recalled(record)
        if name in {"vote", "refused"}:
            with pytest.raises((BadInput, Refused)):
                release.plot()
            continue
        axes = release.plot()
        assert axes.get_title().startswith(release.name)
        assert axes.get_xlabel().startswith("epsilon 1")
        axes.figure.canvas.draw()
        plt.close("all")


def test_what_has_no_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: Release[float] = Release(Guarantee(1.0), Provenance("m", {}, secure=True), refusal="too few rows")
    with pytest.raises(Refused, match="too few"):
        refused.plot()
    with pytest.raises(BadInput, match="no picture"):
        Release(Guarantee(1.0), Provenance("m", {}, secure=True), "a label").plot()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(BadInput, match=r"discreet\[plot\]"):
        count([1], epsilon=1.0).plot()


def test_dates_are_on_an_axis_of_dates() -> None:
    """A date, dates of groups, and bins that are named by where they begin."""
    pytest.importorskip("matplotlib").use("Agg")
    visits = np.datetime64("2018-01-01") + np.arange(3000) % 900
    table = {"day": visits, "ward": np.array(["a", "b"])[np.arange(3000) % 2]}
    months = "2018-01-01 to 2020-01-01 by month"
    with discreet.open(table, budget=10.0, ledger=":memory:", rng=Seeded(1)) as session:
        one = session.median("day", epsilon=2.0)
        each = session.median("day", epsilon=2.0, groupby="ward", keys=["a", "b"])
        bins = session.histogram("day", epsilon=1.0, edges=months)
    for found in (one.plot(), recalled(one.to_dict()).plot(), each.plot()):
        found.figure.canvas.draw()
        ticks = [tick.get_text() for tick in found.get_xticklabels()]
        assert 1 <= sum(text.startswith("2019") for text in ticks) <= 8
    assert [tick.get_text() for tick in each.plot().get_yticklabels()] == ["a", "b"]
    shown = [tick.get_text() for tick in bins.plot().get_xticklabels()]
    assert (len(shown), shown[:3]) == (24, ["2018-01-01", "", "2018-03-01"])
    with pytest.raises(BadInput, match="no picture"):
        Release(Guarantee(1.0), Provenance("Mode", {}, True), answer="2019-01-01", name="mode").plot()
