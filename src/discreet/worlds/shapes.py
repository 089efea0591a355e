"""Made-up populations: columns of an assumed shape, samples that differ by an effect, outcomes that follow a model."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import is_number
from discreet.worlds.assumptions import MANY, ONE, STANDARDISED, About, Effect, Floats, Generator, World
from discreet.worlds.floors import BOUND, Told, least_error, normal_means, places_of, shifted

WIDE: Final = 6.0  # standard deviations in public bounds, where neither is said
GUESSES: Final = ("low", "typical", "high")  # of a column: its 1% quantile, median and 99% quantile
FAR: Final = NormalDist().inv_cdf(0.99)
EVEN: Final = 0.02  # a lognormal distribution of less than this is taken as normal
LOPSIDED: Final = 10_000.0  # times as far from the middle: the most that is believed
DRAWN: Final = ("clusters", "strata")
BESIDE: Final = {"offset": lambda z: z / 2, "weights": lambda z: np.exp(0.47 * z)}  # of standard normal numbers
EFFECTS: Final = {"linear": 0.5, "logistic": 0.5, "poisson": 0.3}
RUNS: Final = 40  # of clusters, whose errors do not add up
SEVERAL: Final = 24  # of several quantiles at once, for the same reason as regressions
FEWER: Final = 16  # of regressions: their errors add up, so that each run is combined with many samples


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution with mean 0 and standard deviation 1. `tails` is its fourth moment."""

    draw: Callable[[Generator, int], Floats]
    pdf: Callable[[Any], Any]
    cdf: Callable[[Any], Any]
    ppf: Callable[[Any], Any]
    tails: float
    skewed: bool = False


def _special() -> Any:
    from scipy import special

    return special


def _bell(z: Any) -> Any:
    return np.exp(-np.square(z) / 2) / math.sqrt(2 * math.pi)


def _positive(values: Any) -> Any:
    return np.maximum(values, np.finfo(float).tiny)


def lognormal(spread: float, side: int = 1) -> Shape:
    """Lognormal, with this standard deviation of the logarithm; its long tail is above (1) or below (-1)."""
    middle, apart = math.exp(spread**2 / 2), math.sqrt(math.expm1(spread**2)) * math.exp(spread**2 / 2)

    def place(x: Any) -> Any:
        return _positive(middle + apart * side * np.asarray(x))

    def score(x: Any) -> Any:
        return np.log(place(x)) / spread

    return Shape(
        draw=lambda g, n: side * (np.exp(spread * g.standard_normal(n)) - middle) / apart,
        pdf=lambda x: _bell(score(x)) * apart / (spread * place(x)),
        cdf=lambda x: _special().ndtr(side * score(x)),
        ppf=lambda q: side * (np.exp(side * spread * _special().ndtri(q)) - middle) / apart,
        tails=sum(k * math.exp(j * spread**2) for j, k in ((4, 1), (3, 2), (2, 3), (0, -3))),
        skewed=True,
    )


SHAPES: Final = {
    "normal": Shape(
        lambda g, n: g.standard_normal(n), _bell, lambda x: _special().ndtr(x), lambda q: _special().ndtri(q), 3.0
    ),
    "uniform": Shape(
        draw=lambda g, n: math.sqrt(12) * (g.random(n) - 0.5),
        pdf=lambda x: (np.abs(x) <= math.sqrt(3)) / math.sqrt(12),
        cdf=lambda x: np.clip(np.asarray(x) / math.sqrt(12) + 0.5, 0, 1),
        ppf=lambda q: math.sqrt(12) * (np.asarray(q) - 0.5),
        tails=1.8,
    ),
    "exponential": Shape(
        draw=lambda g, n: g.standard_exponential(n) - 1,
        pdf=lambda x: np.where(np.asarray(x) < -1, 0.0, np.exp(-np.maximum(x, -1) - 1)),
        cdf=lambda x: -np.expm1(-np.maximum(x, -1) - 1),
        ppf=lambda q: -np.log1p(-np.asarray(q)) - 1,
        tails=9.0,
        skewed=True,
    ),
    "lognormal": lognormal(1.0),
    "t3": Shape(
        draw=lambda g, n: g.standard_t(3, n) / math.sqrt(3),
        pdf=lambda x: 2 / (math.pi * (1 + np.square(x)) ** 2),
        cdf=lambda x: _special().stdtr(3, math.sqrt(3) * np.asarray(x)),
        ppf=lambda q: _special().stdtrit(3, q) / math.sqrt(3),
        tails=math.inf,
    ),
}


def shape_of(about: About) -> str:
    """The name of a shape that is known here."""
    shape = about.take("shape", "normal")
    if not isinstance(shape, str) or shape not in SHAPES:
        raise BadInput(f"shape is {shape!r}; give one of {', '.join(map(repr, SHAPES))}")
    return shape


@dataclass(frozen=True, slots=True)
class AssumedColumn:
    """Independent entries: location + scale times a standard shape, by its name or as it was `fitted` to guesses."""

    shape: str
    location: float
    scale: float
    fitted: Shape | None = None

    @classmethod
    def of(cls, about: About, *, shaped: bool = True) -> "AssumedColumn":
        """As assumed. Public bounds, where given, are taken to hold six standard deviations around their middle."""
        if shaped and any(name in about.given for name in GUESSES):
            return cls.guessed(about)
        bounds, declared = about.bounds, "shape" in about.given
        shape = shape_of(about) if shaped else "normal"
        about.unsaid = shaped and not declared
        middle = 0.0 if bounds is None else bounds[0] / 2 + bounds[1] / 2
        usual = 1.0 if bounds is None else (bounds[1] - bounds[0]) / (math.sqrt(12) if shape == "uniform" else WIDE)
        given = "scale" in about.given
        location = about.number("location", middle, -1e300, 1e300)
        scale = about.number("scale", usual, 0.0, 1e300)
        about.standardised = bounds is None and not given
        about.say(
            f"values are {shape}; their scale is not public: for the data's own units give scale=, a guess of the "
            "standard deviation"
            if about.standardised
            else f"values are {shape} with mean {location:g} and standard deviation {scale:g}"
        )
        return cls(shape, location, scale)

    @classmethod
    def guessed(cls, about: About) -> "AssumedColumn":
        """By public guesses of three quantiles: normal if they are even, else lognormal from some place on."""
        beside = [name for name in ("shape", "scale", "location") if name in about.given]
        found = [about.take(name, None) for name in GUESSES]
        low, typical, high = found
        if beside or not all(map(is_number, found)) or not low < typical < high:
            also = f" beside {', '.join(beside)}" if beside else ""
            raise BadInput(
                f"low, typical and high are {low!r}, {typical!r} and {high!r}{also}; give all three as increasing "
                "numbers: what 1%, half and 99% of people are below. They stand instead of shape, scale and location"
            )
        below, above = float(typical - low), float(high - typical)
        if max(below, above) > LOPSIDED * min(below, above):
            raise BadInput(
                f"low, typical and high are {low!r}, {typical!r} and {high!r}: one side is more than {LOPSIDED:g} "
                "times as long as the other; give guesses that are nearer to each other"
            )
        side, spread = (1 if above >= below else -1), abs(math.log(above / below)) / FAR
        about.say(f"1%, half and 99% of values are below {low:g}, {typical:g} and {high:g}")
        if spread < EVEN:
            about.say("values are normal")
            return cls("normal", float(typical), (below + above) / (2 * FAR))
        about.say(f"values are lognormal from some place on, the long tail {'above' if side > 0 else 'below'}")
        unit = min(below, above) / -math.expm1(-spread * FAR)
        middle = math.exp(spread**2 / 2)
        scale = unit * math.sqrt(math.expm1(spread**2)) * middle
        return cls("lognormal", typical + side * unit * (middle - 1), scale, lognormal(spread, side))

    def draw(self, generator: Generator, rows: int) -> Floats:
        """Made-up entries."""
        found: Floats = self.location + self.scale * self.standard.draw(generator, rows)
        return found

    @property
    def standard(self) -> Shape:
        """The distribution before it is moved and scaled."""
        return SHAPES[self.shape] if self.fitted is None else self.fitted

    def quantile(self, q: float) -> float:
        """Of the population."""
        return self.location + self.scale * float(self.standard.ppf(q))

    def height(self, q: float) -> float:
        """The density at that quantile."""
        standard = self.standard
        return float(standard.pdf(standard.ppf(q))) / self.scale

    def floor(self, rows: int, limit: Told) -> float:
        """Under the error of whatever moves with the location."""
        standard = self.standard
        pair = normal_means(rows) if self.shape == "normal" else shifted(rows, standard.pdf, places_of(standard))
        return self.scale * least_error(rows, 0.5, pair, limit, 20.0)


@dataclass(frozen=True, slots=True)
class AssumedTable:
    """Independent columns, each as assumed."""

    entries: AssumedColumn
    columns: int

    @classmethod
    def of(cls, about: About, *, columns: int = 2, shaped: bool = True) -> "AssumedTable":
        """As many columns as assumed."""
        width = about.whole("columns", columns, 1, 1000)
        entries = AssumedColumn.of(about, shaped=shaped)
        about.say(f"{width} independent columns")
        return cls(entries, width)

    def draw(self, generator: Generator, rows: int) -> Floats:
        """Made-up rows."""
        return self.entries.draw(generator, rows * self.columns).reshape(rows, self.columns)


def shift(about: About, default: float = 0.3) -> float:
    """An effect in standard deviations; one that is above 0 points to where a one-sided test looks."""
    effect = about.number("effect", default, -1e6, 1e6)
    effect = -effect if effect > 0 and about.given.get("alternative") == "less" else effect
    about.say(f"the effect is {effect:g} standard deviations")
    return effect


def group_sizes(about: About, groups: int) -> Callable[[int], tuple[int, ...]]:
    """How a number of rows falls into groups: as said, or into equal ones."""
    given = about.take("sizes", None)
    if given is None:
        about.say(f"{groups} groups of about equal size")
        return lambda n: tuple(n // groups + (place < n % groups) for place in range(groups))
    if not isinstance(given, list | tuple) or len(given) != groups or sum(given) != about.rows:
        raise BadInput(f"sizes are {given!r}; give the sizes of the {groups} groups, which sum to rows, {about.rows}")
    return lambda n: tuple(max(1, size * n // about.rows) for size in given)


def shifted_sample(about: About) -> Effect:
    """One column `x`, shifted from the null hypothesis."""
    effect, entries = shift(about), AssumedColumn.of(about)
    null = about.option("null", entries.location) if "null" in about.statistic.options else entries.location
    entries = replace(entries, location=null)
    return Effect(make=lambda g, n: {"x": entries.draw(g, n) + entries.scale * effect * about.stretch(n)})


def two_groups(about: About) -> Effect:
    """Two groups `x` and `y`, the first shifted."""
    effect, entries, sizes = shift(about), AssumedColumn.of(about), group_sizes(about, 2)

    def make(g: Generator, n: int) -> dict[str, Any]:
        first, second = (entries.draw(g, size) for size in sizes(n))
        return {"x": first + entries.scale * effect * about.stretch(n), "y": second}

    return Effect(make=make)


def tilt(about: About) -> float:
    """How far the truth is from the null hypothesis, in total variation."""
    effect = about.number("effect", 0.1, 0.0, 1.0)
    about.say(f"the truth is {effect:g} away in total variation")
    return effect


def tilted(chances: Floats, effect: float) -> Floats:
    """Other probabilities, `effect` away in total variation: half of the bins gain what the others lose, in turn."""
    moved, up = chances.copy(), np.arange(len(chances)) % 2 == 0
    effect = min(effect, 0.999, float(chances[~up].sum()))
    moved[up] *= 1 + effect / chances[up].sum()
    moved[~up] *= 1 - effect / chances[~up].sum()
    return moved


def regression(about: About, link: str) -> World:
    """Coefficients, all alike, on independent features `X` of an outcome `y`."""
    width, constant = _width(about), bool(about.given.get("intercept", True))
    effect = about.number("effect", EFFECTS[link], -1e6, 1e6)
    base = about.number("intercept_value", 0.0, -1e6, 1e6)
    noise = about.number("noise_sd", 1.0, 0.0, 1e300) if link == "linear" else 1.0
    classes = about.given.get("classes")
    features = AssumedTable.of(about, columns=width)
    about.say(f"a {link} model holds, all coefficients {effect:g}")
    beside = {name: _said(about, name) for name in ("offset", "weights")}
    listed = _drawn(about)
    truth = np.append(np.full(features.columns, effect), base if constant else 0.0)

    def made(g: Generator, n: int) -> dict[str, Any]:
        x = features.draw(g, n)
        others = {name: BESIDE[name](g.standard_normal(n)) for name, there in beside.items() if there}
        y: Any = outcome(g, x @ truth[:-1] + truth[-1] + others.get("offset", 0.0), link, noise)
        y = y if classes is None else np.array(list(classes), dtype=object)[y.astype(int)]
        which = g.integers(len(listed), size=n) if listed else []
        drawn = {name: [listed[one][at] for one in which] for at, name in enumerate(DRAWN) if listed}
        return {"X": x, "y": y, **others, **{name: drawn[name] for name in drawn if None not in drawn[name]}}

    def plain(X: Any, y: Any, **others: Any) -> Floats:  # noqa: N803
        others = {name: column for name, column in others.items() if name not in DRAWN}
        return newton(X, y if classes is None else (y == classes[1]).astype(float), link, constant, **others)

    return World(make=made, truth=truth, plain=plain, measure=MANY, runs=FEWER, units=STANDARDISED)


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


def _said(about: About, name: str) -> bool:
    """Whether there is a column of offsets, or of weights, True or its name; and what is assumed of it."""
    if not about.take(name, None):
        return False
    shown = {
        "offset": "normal with standard deviation 0.5",
        "weights": "lognormal, their standard deviation half their mean",
    }
    about.say(f"{name}: {shown[name]}")
    return True


def _drawn(about: About) -> list[tuple[Any, Any]]:
    """The clusters of a survey, each with its stratum, if any are declared; and what is assumed of them."""
    for name in DRAWN:
        about.take(name, None)
    design = about.given.get("design")
    if not design:
        return []
    about.say("people of a cluster are no more alike than others; where they are, the error is larger")
    strata = design.items() if isinstance(design, Mapping) else [(None, design)]
    return [(one, stratum) for stratum, clusters in strata for one in clusters]


def newton(x: Floats, y: Floats, link: str, constant: bool, *, offset: Any = 0.0, weights: Any = 1.0) -> Floats:
    """Maximum likelihood, the constant last (0 where there is none)."""
    design = np.column_stack([x, np.ones(len(x))]) if constant else x
    found = np.zeros(design.shape[1])
    for _ in range(1 if link == "linear" else 12):
        linear = np.clip(design @ found + offset, -30, 30)
        middle, curve = linear, np.ones(len(y))
        if link == "logistic":
            middle = 1 / (1 + np.exp(-linear))
            curve = middle * (1 - middle)
        elif link == "poisson":
            middle = curve = np.exp(linear)
        bent = design.T @ (design * (weights * curve)[:, None]) + 1e-9 * np.eye(len(found))
        step = np.linalg.solve(bent, design.T @ (weights * (y - middle)))
        found = found + step
        if (np.abs(step) <= 1e-9 * np.abs(found)).all():  # the next one would be below the last digit
            break
    return found if constant else np.append(found, 0.0)


def quantile_world(about: About, q: Any = None) -> World:
    """A column, and its quantile or several: `q`, or what the question asks for."""
    q = about.option("q", 0.5) if q is None else q
    asked = [float(one) for one in q] if isinstance(q, list | tuple | np.ndarray) else [q]
    if not asked or not all(is_number(one) and 0 < one < 1 for one in asked):
        raise BadInput(f"q is {q!r}; give a number between 0 and 1, or a list of them")
    entries, one = AssumedColumn.of(about), q is asked[0]
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=list(map(entries.quantile, asked)),
        plain=lambda x: np.quantile(x, asked),
        measure=ONE if one else MANY,
        sampling=(lambda n: math.sqrt(q * (1 - q) / n) / entries.height(q)) if one else None,
        parts=one,
        floor=entries.floor if one else None,
        floor_note=BOUND if one else "no floor is known for several at once",
        within=about.bounds,
        runs=48 if one else SEVERAL,
    )
