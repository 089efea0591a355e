"""What private logistic and Poisson regression are worth: excess loss, coverage, accuracy on real data, time.

    python -m benchmarks.glms [--runs 200] [--only loss]

The pure method was tuned on seeds 0 and on; "fresh" measures it on others. Every run draws new people and new seeded
noise. Excess loss is the mean log-loss on the same people over that of the fit without privacy. A missed bar is printed
as missed.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import discreet
from benchmarks.record import Row, record
from discreet.models.features import Scaling, prepared
from discreet.models.gradients import ModelGradients, gradient_sensitivity
from discreet.noise.additive import slack
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian

NOTE = "Five normal features unless said. Excess loss is over the fit without privacy on the same people."
SLOPES = np.array([1.0, -0.8, 0.5, 0.3, -0.6])


def people(size: int, seed: int, kind: str = "logistic", features: int = 5) -> tuple[Any, Any, Any]:
    """Features, outcome, slopes."""
    rng = np.random.default_rng(seed)
    slopes = np.resize(SLOPES, features) * (1.0 if kind == "logistic" else 0.4) * (5 / features) ** 0.5
    x = rng.normal(size=(size, features))
    linear = x @ slopes + 0.3
    if kind == "logistic":
        return x, (rng.random(size) < 1 / (1 + np.exp(-linear))).astype(float), slopes
    return x, rng.poisson(np.exp(linear)).astype(float), slopes


def log_loss(x: Any, y: Any, slopes: Any, intercept: float, kind: str) -> float:
    """The mean loss."""
    linear = x @ np.ravel(slopes) + intercept
    return float(np.mean((np.logaddexp(0, linear) if kind == "logistic" else np.exp(linear)) - y * linear))


def plain_fit(x: Any, y: Any, kind: str) -> Any:
    """Without privacy."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    model = (
        LogisticRegression(C=np.inf, max_iter=1000) if kind == "logistic" else PoissonRegressor(alpha=0, max_iter=500)
    )
    return model.fit(x, y)


DELTA = {"delta": 1e-6}
NEAR = {"bounds": (-2, 2)}
MANY, FEW = "logistic, 20,000 people, epsilon 1", "logistic, 2,000 people, epsilon 1"
Case = tuple[str, str, int, dict[str, Any], float | None]
CASES: tuple[Case, ...] = (
    (f"{MANY}, pure", "logistic", 20_000, {}, 5e-4),
    (f"{MANY}, delta 1e-6, descent", "logistic", 20_000, DELTA | {"method": "descent"}, 5e-4),
    (f"{MANY}, delta 1e-6, friendly", "logistic", 20_000, DELTA | {"method": "friendly"}, None),
    (f"{FEW}, pure, bounds (-2, 2)", "logistic", 2_000, NEAR, 2e-3),
    (f"{FEW}, pure, no bounds", "logistic", 2_000, {}, None),
    (f"{FEW}, pure, bounds, added or removed", "logistic", 2_000, NEAR | {"neighbours": "add_or_remove"}, 2e-3),
    ("Poisson, 20,000 people, epsilon 1, delta 1e-6", "poisson", 20_000, DELTA, None),
)


def loss(runs: int) -> Iterator[Row]:
    """Excess loss and coverage."""
    return measured(CASES, range(runs))


def fresh(runs: int) -> Iterator[Row]:
    """The pure cases with a bar once more, on seeds that nothing was chosen by."""
    seeds = range(5000, 5000 + runs)
    for name, *rest in measured([one for one in CASES if "pure" in one[0] and one[4] is not None], seeds):
        yield f"{name}, seeds {seeds[0]} to {seeds[-1]}", *rest  # type: ignore[misc]


def measured(cases: Sequence[Case], seeds: range) -> Iterator[Row]:
    """Excess loss and coverage of some cases."""
    for name, kind, size, options, bar in cases:
        verb: Callable[..., Any] = discreet.logistic_regression if kind == "logistic" else discreet.poisson_regression
        times = max(3, len(seeds) // 10) if options.get("method") == "friendly" else len(seeds)
        excess, held, wide, refused = [], [], [], 0
        for seed in seeds[:times]:
            x, y, slopes = people(size, seed, kind)
            release = verb(x, y, epsilon=1.0, rng=Seeded(seed), **options)
            if release.refusal is not None:
                refused += 1
                continue
            model = plain_fit(x, y, kind)
            at = log_loss(x, y, release.value.coef, release.value.intercept, kind)
            excess.append(at - log_loss(x, y, model.coef_, float(np.ravel(model.intercept_)[0]), kind))
            if release.spread is not None:
                ends = release.interval(0.95)
                held.append(np.mean((ends.low.coef <= slopes) & (slopes <= ends.high.coef)))
                wide.append(np.mean(ends.high.coef - ends.low.coef))
        told = f", {refused} refused" if refused else ""
        middle = float(np.mean(excess))
        shown = "" if bar is None else f"<= {bar:g}"
        figure = f"mean excess loss, {len(excess)} runs{told}"
        yield name, figure, f"{middle:.6f}", shown, bar is None or middle <= bar
        if held:
            share = float(np.mean(held))
            yield (name, f"coverage of 95% intervals, {len(held)} runs", f"{share:.3f}", ">= 0.92", share >= 0.92)
            yield name, "mean width of an interval", f"{np.mean(wide):.3f}", "", True


def tables() -> Iterator[tuple[str, Any, Any, Any]]:
    """Real people, from packages: who reports fair or poor health; who had an affair."""
    import statsmodels.api as sm

    table = discreet.datasets.load_nhanes()
    names = ["age", "poverty_ratio", "bmi", "systolic_bp", "total_cholesterol"]
    kept = table.select([*names, "general_health"]).drop_null()
    x = np.column_stack([kept.column(name).to_numpy() for name in names])
    y = np.isin(np.array(kept.column("general_health").to_pylist()), ["Fair", "Poor"]).astype(float)
    yield "NHANES: fair or poor health", x, y, tuple(discreet.datasets.NHANES_BOUNDS[name] for name in names)
    fair = sm.datasets.fair.load_pandas().data
    x = fair[["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]].to_numpy(dtype=float)
    yield "Fair's survey: had an affair", x, (fair["affairs"] > 0).to_numpy(dtype=float), None
    visits = sm.datasets.randhie.load_pandas().data
    x = visits[["lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"]].to_numpy(dtype=float)
    yield "RAND: any visit to a doctor", x, (visits["mdvis"] > 0).to_numpy(dtype=float), None


def real(runs: int) -> Iterator[Row]:
    """Accuracy on real data at epsilon 1."""
    for name, x, y, _ in tables():
        scale = x.std(axis=0)
        model = plain_fit((x - x.mean(axis=0)) / scale, y, "logistic")
        plain = float(np.mean((model.decision_function((x - x.mean(axis=0)) / scale) > 0) == (y > 0)))
        lost = []
        flags = [(0, 1) if set(np.unique(column)) <= {0.0, 1.0} else None for column in x.T]  # declared, as types are
        options: dict[str, Any] = {"bounds": flags, "epsilon": 1.0, "confidence": None}
        for seed in range(max(5, runs // 10)):
            value = discreet.logistic_regression(x, y, rng=Seeded(seed), **options).value
            lost.append(plain - float(np.mean((value.linear(x) > 0) == (y > 0))))
        middle = 100 * float(np.mean(lost))
        yield (
            f"{name}, {len(x):,} people, {x.shape[1]} features, flags declared, pure",
            f"points of accuracy lost of {100 * plain:.1f}, mean of {len(lost)} runs",
            f"{middle:.2f}",
            "<= 1",
            middle <= 1,
        )


def best(rounds: int, *works: Callable[[], Any]) -> list[float]:
    """The least time of each, taken in turns."""
    found = [[] for _ in works]  # type: list[list[float]]
    for _ in range(rounds):
        for times, work in zip(found, works, strict=True):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return [min(times) for times in found]


def speed(_: int) -> Iterator[Row]:
    """40 full steps on 1e6 x 20 beside the same without privacy; a release of 30 steps beside scikit-learn's fit."""
    import numba

    @numba.njit(fastmath=True)
    def gradient(x, y, w):  # type: ignore[no-untyped-def]
        total = np.zeros(len(w))
        for i in range(len(x)):
            linear = 0.0
            for j in range(len(w)):
                linear += x[i, j] * w[j]
            residual = 1 / (1 + np.exp(-linear)) - y[i]
            for j in range(len(w)):
                total[j] += residual * x[i, j]
        return total

    x, y, _slopes = people(1_000_000, 0, features=20)
    table, every = np.column_stack([x, y]), np.ones(len(x), dtype=bool)
    scaling = Scaling(np.zeros(20), np.ones(20), False)
    rows = ModelGradients.of(prepared(table, scaling), "logistic", 5.0)

    moved = gradient_sensitivity(20, Neighbours.REPLACE)
    cost = Gaussian(exact(0.05), slack(20, math.ceil(moved / exact(0.05))))

    def plain() -> None:
        w = np.zeros(20)
        for _ in range(40):
            w -= 4e-6 * gradient(x, y, w)

    def private() -> None:
        w = np.zeros(20)
        for _ in range(40):
            w -= 4e-6 * 5.0 / 2**26 * Seeded(0).blur(rows.total(w, every), sensitivity=moved, cost=cost)

    gradient(x[:9], y, np.zeros(20))
    rows.total(np.zeros(20), every)
    theirs, ours, whole = best(2, plain, private, lambda: prepared(table, scaling))
    figure = f"time over the same without privacy ({theirs:.2f} s)"
    yield "40 full steps, 1e6 x 20", figure, f"{ours / theirs:.2f}", "<= 2", ours <= 2 * theirs
    yield "features on the grid, 1e6 x 20", "seconds, once", f"{whole:.2f}", "", True
    x, y, _slopes = people(1_000_000, 0, features=10)
    verb = discreet.sgd
    theirs, ours, pure, descent = best(
        2,
        lambda: plain_fit(x, y, "logistic"),
        lambda: verb("logistic", x, y, epsilon=1.0, delta=1e-8, steps=30, rng=Seeded(0)),
        lambda: discreet.logistic_regression(x, y, epsilon=1.0, rng=Seeded(0)),
        lambda: discreet.logistic_regression(x, y, epsilon=1.0, delta=1e-8, method="descent", rng=Seeded(0)),
    )
    figure = f"time over one scikit-learn fit ({theirs:.2f} s)"
    ok = ours <= 2 * theirs
    yield "logistic, 1e6 x 10, sgd, 30 full steps", figure, f"{ours / theirs:.2f}", "<= 2", ok
    yield "logistic, 1e6 x 10, pure, no bounds, intervals", figure, f"{pure / theirs:.2f}", "", True
    yield "logistic, 1e6 x 10, descent, no bounds, intervals", figure, f"{descent / theirs:.2f}", "", True


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {"loss": loss, "fresh": fresh, "real": real, "speed": speed}


def main() -> None:
    """Measure, print and, if all was measured, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", choices=sorted(PARTS))
    wanted = parser.parse_args()
    rows = (row for name, part in PARTS.items() if wanted.only in (None, name) for row in part(wanted.runs))
    record("glms", rows, note=NOTE, keep=wanted.only is None)


if __name__ == "__main__":
    main()
