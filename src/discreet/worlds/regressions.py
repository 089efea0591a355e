"""Made-up features and outcomes: a linear, logistic or Poisson model that holds."""

from typing import Any, Final

import numpy as np

from discreet.worlds.assumptions import MANY, About, Floats, Generator, World
from discreet.worlds.shapes import AssumedTable

EFFECTS: Final = {"linear": 0.5, "logistic": 0.5, "poisson": 0.3}
RUNS: Final = 40


def regression(about: About, link: str) -> World:
    """Coefficients, all alike, on independent features `X` of an outcome `y`."""
    width, constant = _width(about), bool(about.given.get("intercept", True))
    effect = about.number("effect", EFFECTS[link], -1e6, 1e6)
    base = about.number("intercept_value", 0.0, -1e6, 1e6)
    noise = about.number("noise_sd", 1.0, 0.0, 1e300) if link == "linear" else 1.0
    classes = about.given.get("classes")
    features = AssumedTable.of(about, columns=width)
    about.say(f"a {link} model holds, all coefficients {effect:g}")
    truth = np.append(np.full(features.columns, effect), base if constant else 0.0)

    def made(g: Generator, n: int) -> dict[str, Any]:
        x = features.draw(g, n)
        y: Any = outcome(g, x @ truth[:-1] + truth[-1], link, noise)
        return {"X": x, "y": y if classes is None else np.array(list(classes), dtype=object)[y.astype(int)]}

    def plain(X: Any, y: Any, **_: Any) -> Floats:  # noqa: N803
        return newton(X, y if classes is None else (y == classes[1]).astype(float), link, constant)

    return World(make=made, truth=truth, plain=plain, measure=MANY, runs=RUNS)


def outcome(g: Generator, linear: Floats, link: str, noise: float = 1.0) -> Floats:
    """Made-up outcomes for these linear predictors."""
    if link == "linear":
        found: Floats = linear + noise * g.standard_normal(len(linear))
    elif link == "logistic":
        found = (g.random(len(linear)) < 1 / (1 + np.exp(-linear))).astype(float)
    else:
        found = g.poisson(np.exp(np.minimum(linear, 30.0))).astype(float)
    return found


def _width(about: About) -> int:
    """How many features, where it is not said: as named, or as a formula has terms."""
    names, formula = about.given.get("names"), about.take("formula", None)
    if isinstance(formula, str) and "~" in formula:
        terms = [one.strip() for one in formula.split("~", 1)[1].split("+")]
        about.say("every term of the formula is one column of numbers")
        about.take("levels", None)
        return max(1, len([one for one in terms if one and one != "1"]))
    return len(names) if isinstance(names, list | tuple) else 2


def newton(x: Floats, y: Floats, link: str, constant: bool) -> Floats:
    """Maximum likelihood, the constant last (0 where there is none)."""
    design = np.column_stack([x, np.ones(len(x))]) if constant else x
    weights = np.zeros(design.shape[1])
    for _ in range(1 if link == "linear" else 12):
        linear = np.clip(design @ weights, -30, 30)
        middle, curve = linear, np.ones(len(y))
        if link == "logistic":
            middle = 1 / (1 + np.exp(-linear))
            curve = middle * (1 - middle)
        elif link == "poisson":
            middle = curve = np.exp(linear)
        bent = design.T @ (design * curve[:, None]) + 1e-9 * np.eye(len(weights))
        weights = weights + np.linalg.solve(bent, design.T @ (y - middle))
    return weights if constant else np.append(weights, 0.0)
