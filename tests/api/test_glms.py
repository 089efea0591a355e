"""The verbs: what they take, what they refuse, and what they choose."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import BadInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8000, 2)) * [1, 50] + [0, 1000]
Y = (RNG.random(8000) < 1 / (1 + np.exp(-X[:, 0] - 0.01 * (X[:, 1] - 1000)))).astype(float)


def fit(x: Any = X, y: Any = Y, **options: Any) -> Any:
    asked: dict[str, Any] = {"epsilon": 2.0, "rng": discreet.Seeded(1)} | options
    return discreet.logistic_regression(x, y, **asked)


@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
@pytest.mark.parametrize("options", [{}, {"delta": 1e-6, "method": "descent"}, {"delta": 1e-6}])
def test_logistic_regression(neighbours: str, options: dict[str, Any]) -> None:
    release = fit(neighbours=neighbours, **options)
    assert release.value.coef == pytest.approx([1.0, 0.01], rel=0.3)
    assert release.value.names == ("x0", "x1")
    assert release.value.link == "logit"
    assert release.interval(0.9999).low.coef[0] < 1 < release.interval(0.9999).high.coef[0]
    assert ("method" in options) == ("method '" not in str(release))


def test_friends_find_it_too() -> None:
    release = fit(delta=1e-6, epsilon=8.0, method="friendly", names=["a", "b"])
    assert release.value["a"] == pytest.approx(1.0, abs=0.4)
    assert release.interval().low.names == ("a", "b")
    assert set(release.spread.sampling.names) == {"a", "b"}


def test_counts() -> None:
    counts = np.random.default_rng(1).poisson(np.exp(0.3 * X[:, 0] + 0.5))
    release = discreet.poisson_regression(X, counts, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1))
    assert release.value.coef[0] == pytest.approx(0.3, abs=0.1)
    assert release.value.predict(X[:3]).min() > 0
    assert "nobody's influence above" in str(release)


def test_labels_frames_and_formulas() -> None:
    labels = np.where(Y > 0, "ill", "well").astype(object)
    labels[0] = None
    by_label = fit(y=labels, classes=("well", "ill"))
    assert by_label.value.coef[0] == pytest.approx(1.0, abs=0.3)
    frame = {"dose": X[:, 0], "weight": X[:, 1], "ill": Y, "sex": np.where(X[:, 1] > 1000, "f", "m")}
    release = fit("ill ~ dose + weight", frame)
    assert release.value["dose"] == pytest.approx(1.0, abs=0.3)
    assert fit("ill ~ dose + C(sex)", frame, levels={"sex": ["m", "f"]}).value.names == ("dose", "C(sex)[T.f]")
    bounded = fit(bounds={"x0": (-2, 2)})
    assert bounded.value.coef[0] == pytest.approx(1.0, abs=0.3)


def test_which_method_is_chosen_by_public_numbers() -> None:
    assert "the one that there is" in str(fit())
    assert "by a tilted minimum" in str(fit(delta=1e-6))
    for columns in (24, 40):
        wide = np.random.default_rng(0).normal(size=(6000, columns))
        assert "so many coefficients" in str(fit(wide, Y[:6000], delta=1e-6, bounds=(-2, 2)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "method"),
        ({"ridge": 1.0}, "ridge"),
        ({"y": Y[:-1]}, "has 7999"),
        ({"classes": ("a",)}, "classes"),
        ({"classes": 5}, "classes"),
        ({"confidence": 2}, "confidence"),
        ({"bounds": 5}, "bounds"),
        ({"bounds": {"nobody": (0, 1)}}, "but the columns are"),
        ({"levels": {}}, "levels"),
        ({"method": "descent"}, "delta > 0"),
        ({"method": "friendly", "delta": 1e-6, "bounds": (0, 1)}, "bounds"),
        ({"x": "y ~ x", "norm": 1.0}, "formula"),
        ({"neighbours": "some"}, "neighbours"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        fit(**options)


def test_descent_on_a_loss() -> None:
    z = (X - [0, 1000]) / [1, 50]
    release = discreet.sgd("logistic", z, Y, epsilon=2.0, delta=1e-6, size=len(Y), rng=discreet.Seeded(1))
    assert release.value.coef == pytest.approx([1.0, 0.5], abs=0.3)
    with pytest.raises(BadInput, match="people"):
        discreet.sgd("logistic", z, Y, epsilon=2.0, delta=1e-6, neighbours="add_or_remove")
    with pytest.raises(BadInput, match="method"):
        discreet.poisson_regression(X, Y, epsilon=1.0, delta=1e-6, method="objective")  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("odd", ["separated", "constant", "missing", "five cases", "the same column twice"])
def test_what_has_no_likeliest_model_is_refused_or_has_a_ridge(odd: str, delta: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5000, 2))
    outcomes = {
        "separated": (x[:, 0] > 0).astype(float),
        "constant": np.ones(5000),
        "missing": np.full(5000, np.nan),
        "five cases": (np.arange(5000) < 5).astype(float),
    }
    y = outcomes.get(odd, (rng.random(5000) < 0.4).astype(float))
    if odd == "the same column twice":
        x[:, 1] = x[:, 0]
    release = discreet.logistic_regression(x, y, epsilon=1.0, delta=delta, rng=discreet.Seeded(1))
    if delta and odd in ("separated", "the same column twice"):
        assert "with a ridge" in str(release).splitlines()[0]
        assert "a ridge draws the slopes" in release.provenance.notes[-1]
        assert np.isfinite(release.interval(0.999).high.coef).all()
    else:
        assert release.refusal is not None


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("share", [0.05, 0.03, 0.01])
@pytest.mark.parametrize("declared", [True, False])
def test_a_rare_flag_has_an_interval_or_is_refused(share: float, declared: bool, delta: float) -> None:
    """The interval at 1 - 1e-7 holds the truth; a flag of 5% that is declared is always answered."""
    rng = np.random.default_rng(int(1000 * share))
    x = np.column_stack([rng.random(5000) < share, rng.normal(size=5000)]).astype(float)
    y = rng.random(5000) < 1 / (1 + np.exp(0.3 - x @ [1.0, 0.5]))
    bounds = [(0, 1), None] if declared else None
    release = discreet.logistic_regression(x, y, epsilon=1.0, delta=delta, bounds=bounds, rng=discreet.Seeded(1))
    if release.refusal is None:
        bar = release.interval(1 - 1e-7)
        assert ((bar.low.coef < [1.0, 0.5]) & (bar.high.coef > [1.0, 0.5])).all()
        assert np.isfinite([bar.low.coef, bar.high.coef]).all()
    assert release.refusal is None or not declared or share < 0.05
