"""The error to expect, before anything is spent: from public assumptions, never from data.

Counts, shares and histograms have closed forms. Elsewhere the mechanism itself is run on made-up rows with repeatable
noise. For one number whose error bar tells its sampling part from its noise a few runs will do: an honest bar at
confidence 1/2 is as long as the median error. For several numbers errors are measured. The same arguments always give
the same forecast.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Final

from discreet.errors import BadInput
from discreet.forecast import column_worlds as columns
from discreet.forecast import table_worlds as tables
from discreet.forecast.assumptions import About, World, parameters, verb
from discreet.forecast.closed_forms import forecast_count, forecast_histogram, forecast_proportion
from discreet.forecast.floors import told_of
from discreet.forecast.simulate import measured
from discreet.forecast.test_forecasts import forecast_test
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.values import plain

MOST_ROWS: Final = 10**12
WORLDS: Final[Mapping[str, Callable[[About], World]]] = {
    "mean": lambda about: tables.mean_of_table(about) if "columns" in about.given else columns.mean(about),
    "variance": columns.variance,
    "std": lambda about: columns.variance(about, power=1),
    "quantile": lambda about: columns.quantile(about, about.take("q", 0.5)),
    "median": lambda about: _median(columns.quantile(about, 0.5)),
    "gaussian": lambda about: tables.gaussian_table(about) if "columns" in about.given else columns.gaussian(about),
    "density": columns.density,
    "family": columns.family,
    "likelihood": columns.likelihood,
    "covariance": tables.covariance,
    "linear_regression": lambda about: tables.regression(about, "linear"),
    "logistic_regression": lambda about: tables.regression(about, "logistic"),
    "poisson_regression": lambda about: tables.regression(about, "poisson"),
    "sgd": tables.sgd,
    "kmeans": tables.kmeans,
    "fit": tables.fit,
}


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of a release that has not been made. `measure` says what `error` is the size of.

    `error` is the median; `sampling` and `privacy` are standard deviations; `half_width` is that of the widest
    interval at `confidence`. For a test `power` is the chance to reject at `level`, and there is no error.
    """

    statistic: str
    rows: int
    epsilon: float
    delta: float
    confidence: float | None
    measure: str
    error: float | None
    half_width: float | None
    sampling: float | None
    privacy: float | None
    without_privacy: float | None
    floor: float | None
    floor_note: str
    refused: str | None
    how: str
    assumptions: tuple[str, ...]
    power: float | None = None
    level: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}

    def _lines(self) -> list[str]:
        budget = f"epsilon {show(self.epsilon)}" + (f", delta {show(self.delta)}" if self.delta else "")
        head = f"{self.statistic.replace('_', ' ')} of {self.rows} rows at {budget}: "
        lines = [head + self._expected()]
        if self.error is not None:
            lines.append(f"  that is the {self.measure}")
        elif self.power is not None:
            lines.append(f"  that is {self.measure}")
        if self.half_width is not None and self.confidence is not None:
            lines.append(f"  interval at {100 * self.confidence:g}%: about {show(self.half_width)} to either side")
        parts = [
            f"{word} {show(size)}"
            for word, size in (("sampling", self.sampling), ("privacy", self.privacy))
            if size is not None
        ]
        lines += [f"  standard deviation: {', '.join(parts)}"] if parts else []
        if self.without_privacy is not None and self.error is not None:
            lines.append(f"  without privacy: {show(self.without_privacy)}")
        if self.floor is not None:
            lines.append(f"  no private method is below {show(self.floor)} ({self.floor_note})")
        elif self.error is not None:
            lines.append(f"  floor: {self.floor_note}")
        lines += [f"  may be refused {self.refused}"] if self.refused and self._answered() else []
        lines += [f"  assumed: {sentence}" for sentence in self.assumptions]
        lines.append(f"  {self.how}; no data were used and nothing was spent")
        return lines

    def _answered(self) -> bool:
        return self.error is not None or self.power is not None

    def _expected(self) -> str:
        if self.power is not None:
            return f"rejects with probability {self.power:.2f}"
        if self.error is not None:
            return f"expect an error of {show(self.error)}"
        return f"would be refused. {self.refused}"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        head, *rest = self._lines()
        items = "".join(f"<div style='color:#555'>{escape(line.strip())}</div>" for line in rest)
        return (
            "<div style='border:1px dashed #ccc;border-radius:6px;padding:.6em 1em;display:inline-block;"
            f"font-family:sans-serif'><div style='font-weight:600'>{escape(head)}</div>{items}</div>"
        )


def forecast(
    statistic: str,
    *,
    rows: int,
    epsilon: Number,
    delta: Number = 0.0,
    confidence: float | None = 0.95,
    **about: Any,
) -> Forecast:
    """The error to expect of a verb, before any data are read: nothing is spent.

    `statistic` is the verb's name; `about` are its own options (bounds, q, categories, model, neighbours, ...) and
    public assumptions: `scale` (1.0) and `location` of a column's values and their `shape` ("normal", "uniform",
    "exponential", "lognormal", "t3"), `share` (0.5) of the true, `columns`, `bins`, `k`, `effect` (for tests, whose
    power is forecast, and coefficients), `parameters` of a family. What was assumed is said in `assumptions`. Public
    `bounds` given without a scale are taken to be six standard deviations apart.

    >>> import discreet
    >>> print(discreet.forecast("count", rows=1000, epsilon=0.5).error)
    1.0
    >>> ages = discreet.forecast("mean", rows=5000, epsilon=1.0, bounds=(0, 120), scale=20)
    >>> 0.15 < ages.without_privacy < ages.error < 0.25
    True
    """
    verb(statistic)
    check_rows(rows)
    if confidence is not None:
        confidence = check_confidence(confidence)
    given = About(statistic, dict(about))
    relation = given.neighbours
    check_budget(epsilon, delta, rows if relation.size_is_public else None)
    asked: dict[str, Any] = {"rows": rows, "epsilon": epsilon, "confidence": confidence}
    if delta and "delta" not in parameters(statistic):
        given.say("the answer is pure, delta is not used")
    head = (statistic, rows, float(epsilon), float(delta), confidence)
    if statistic.startswith("test_"):
        chance, refused, how, level = forecast_test(given, rows=rows, epsilon=epsilon)
        measure = f"the chance to reject at level {level:g} if what is assumed holds"
        nothing = (None,) * 6
        return Forecast(
            *head, measure, *nothing, "no floor is known for this test", refused, how, tuple(given.said), chance, level
        )
    if statistic in ("count", "proportion", "histogram"):
        if statistic == "histogram":
            found, measure, floor, note = forecast_histogram(given, delta=delta, **asked)
        else:
            closed = forecast_count if statistic == "count" else forecast_proportion
            found, measure, floor, note = closed(given, **asked)
    else:
        world = WORLDS[statistic](given)
        options = given.options()
        if "confidence" in parameters(statistic):
            options["confidence"] = confidence
            if statistic == "fit" and confidence is None:
                del options["confidence"]
        found = measured(statistic, world, options, delta=delta, **asked)
        limit = told_of(float(epsilon), float(delta), relation)
        floor = None if world.floor is None else world.floor(rows, limit)
        measure, note = world.measure, world.floor_note
    return Forecast(
        *head,
        measure,
        found.error,
        found.half_width,
        found.sampling,
        found.privacy,
        found.without,
        floor,
        note,
        found.refused,
        found.how,
        tuple(given.said),
    )


def check_rows(rows: object) -> None:
    """A number of people."""
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
        raise BadInput(f"rows is {rows!r}; give a whole number of people, from 1 to {MOST_ROWS:g}")


def _median(world: World) -> World:
    """`median` takes no q."""
    from dataclasses import replace

    make, answer = world.make, world.plain
    return replace(world, make=lambda g, n: make(g, n)[:1], plain=lambda x: answer(x, 0.5))
