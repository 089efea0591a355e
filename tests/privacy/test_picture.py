"""Pictures: drawn from what was released, nothing else."""

import sys

import pytest

from discreet import count, fit_normal, histogram, proportion, proportion_test, quantile
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release

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


def test_quantiles_are_named_and_a_normal_distribution_is_a_curve_in_its_band() -> None:
    import matplotlib.pyplot as plt

    rows = [index / 1000 for index in range(1000)]
    axes = quantile(rows, [0.25, 0.75], epsilon=4.0, rng=Seeded(1)).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0.25", "0.75"]
    fitted = fit_normal(rows, epsilon=4.0, rng=Seeded(1))
    axes = fitted.plot()
    (line,) = axes.lines
    grid, heights = line.get_data()
    assert abs(grid[heights.argmax()] - fitted.value.mean) < 0.05 * fitted.value.sd
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() > heights.max() > band[:, 1].max() * 0.8
    plt.close("all")


def test_what_has_no_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: Release[float] = Release(Guarantee(1.0), Provenance("m", {}, secure=True), refusal="too few rows")
    with pytest.raises(Refused, match="too few"):
        refused.plot()
    with pytest.raises(BadInput, match="no picture"):
        proportion_test([1, 0], 0.5, epsilon=1.0).plot()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(BadInput, match=r"discreet\[plot\]"):
        count([1], epsilon=1.0).plot()
