"""How likely a test rejects: by `discreet.power` where it knows the test, else the test itself on made-up rows."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.forecast.assumptions import About, Generator, verb
from discreet.forecast.shapes import DRAWS, Floats
from discreet.forecast.simulate import GENEROUS, SEED, Enough, Stop
from discreet.hypotheses.power import RUNS, power
from discreet.noise import distributions as simulated
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.neighbours import Neighbours

TRIES: Final = 120
MOST: Final = 5_000
Maker = Callable[[Generator, int], tuple[Any, ...]]
Power = tuple[float | None, str | None, str, float]  # chance, refusal, how, level


def forecast_test(about: About, *, rows: int, epsilon: Number) -> Power:
    """The chance to reject at `level` if the effect is there.

    It depends on rows times epsilon and on the effect times the root of the rows, so that many rows may be few.
    """
    name = about.statistic.removeprefix("test_")
    level = about.number("level", 0.05, 0.0, 0.5)
    small = rows if name in ("simple", "fit", "any") else min(rows, MOST)
    about.stretch = math.sqrt(rows / small)
    known, make = WORLDS[name](about, small)
    options, cost = about.options(), exact(epsilon) * rows / small
    if known is not None and about.neighbours is Neighbours.REPLACE:
        sides = {key: options[key] for key in ("alternative", "smallest") if key in options}
        try:
            chance = power(known[0], n=known[1], effect=known[2], epsilon=cost, level=level, **sides)
        except BadInput as few:
            return None, str(few), "closed form", level
        closed = known[0] in ("mean", "two_means", "any", "simple")
        return chance, None, "closed form" if closed else f"simulated on made-up data, {RUNS} runs", level
    if make is None:
        raise BadInput("under neighbours='add_or_remove' this forecast needs test=, the function that is to be run")
    return _simulated(about.statistic, make, options, rows=small, epsilon=cost, level=level)


def _simulated(
    statistic: str, make: Maker, options: Mapping[str, Any], *, rows: int, epsilon: Number, level: float
) -> Power:
    try:
        verb(statistic)(*make(simulated.stream(SEED), rows), epsilon=epsilon, rng=Stop(), **options)
    except Enough:
        pass
    except BadInput as few:
        try:
            verb(statistic)(*make(simulated.stream(SEED), 100 * rows), epsilon=GENEROUS, rng=Stop(), **options)
        except Enough:
            return None, str(few), "closed form", level
        raise
    rejected, refusals = 0, []
    for run in range(TRIES):
        try:
            made = make(simulated.stream(SEED + run), rows)
            release = verb(statistic)(*made, epsilon=epsilon, rng=Seeded(SEED + run), **options)
        except BadInput as few:
            refusals.append(str(few))
            break
        if release.refusal is not None:
            refusals.append(release.refusal)
            continue
        rejected += release.value.p_value <= level
    how = f"simulated on made-up data, {TRIES} runs"
    if 2 * len(refusals) > TRIES or (refusals and not rejected):
        return None, refusals[0], how, level
    refused = f"in {len(refusals)} of {TRIES} made-up runs: {refusals[0]}" if refusals else None
    return rejected / TRIES, refused, how, level


def _shift(about: About, default: float = 0.3) -> float:
    effect = about.number("effect", default, -1e6, 1e6)
    about.say(f"the effect is {effect:g} standard deviations")
    return effect * about.stretch


def _sizes(about: About, rows: int, groups: int) -> tuple[int, ...]:
    given = about.take("sizes", None)
    if given is None:
        each = [rows // groups + (place < rows % groups) for place in range(groups)]
        about.say(f"{groups} groups of about equal size")
        return tuple(each)
    whole = round(rows * about.stretch**2)
    if not isinstance(given, list | tuple) or len(given) != groups or sum(given) != whole:
        raise BadInput(f"sizes are {given!r}; give the sizes of the {groups} groups, which sum to rows, {whole}")
    return tuple(max(1, size * rows // whole) for size in given)


def _scaled(about: About) -> tuple[str, float]:
    shape, scale = about.take("shape", "normal"), about.number("scale", 1.0, 0.0, 1e300)
    if shape not in DRAWS:
        raise BadInput(f"shape is {shape!r}; give one of {', '.join(map(repr, DRAWS))}")
    return shape, scale


def _mean(about: About, rows: int) -> tuple[Any, Maker]:
    effect, (shape, scale) = _shift(about), _scaled(about)
    null, model = about.number("null", 0.0, -1e300, 1e300), about.given.get("model")
    known = None
    if shape == "normal" and model == "symmetric":
        known = ("paired", rows, effect)
    elif shape == "normal" and model == "gaussian" and about.bounds is None:
        known = ("mean", rows, effect)
    return known, lambda g, n: (null + scale * (effect + DRAWS[shape](g, n)), null)


def _two(about: About, rows: int) -> tuple[Any, Maker]:
    effect, (shape, scale), sizes = _shift(about), _scaled(about), _sizes(about, rows, 2)
    means = about.statistic == "test_two_means"
    known = None
    if shape == "normal" and not means:
        known = ("two_samples", sizes, effect)
    elif shape == "normal" and about.given.get("model") == "gaussian" and about.bounds is None:
        known = ("two_means", sizes, effect)

    def make(g: Generator, n: int) -> tuple[Any, ...]:
        one, other = (max(1, size * n // rows) for size in sizes)
        return scale * (effect + DRAWS[shape](g, one)), scale * DRAWS[shape](g, other)

    return known, make


def _paired(about: About, rows: int) -> tuple[Any, Maker]:
    effect, (shape, scale) = _shift(about), _scaled(about)
    method = about.given.get("method", "ranks")
    known = ("signs" if method == "signs" else "paired", rows, effect) if shape == "normal" else None
    return known, lambda g, n: (scale * (effect + DRAWS[shape](g, n)),)


def _anova(about: About, rows: int) -> tuple[Any, Maker]:
    groups = about.whole("groups", 3, 2, 1000)
    given = about.take("effect", 0.3)
    shifts = list(given) if isinstance(given, list | tuple) else list(np.linspace(0, given, groups))
    if len(shifts) != groups or not all(map(is_number, shifts)):
        raise BadInput(f"effect is {given!r}; give a number, or a list of {groups} shifts")
    about.say(f"normal groups, shifted by {', '.join(f'{shift:g}' for shift in shifts)} standard deviations")
    sizes, shifts = _sizes(about, rows, groups), [float(shift) * about.stretch for shift in shifts]

    def make(g: Generator, n: int) -> tuple[Any, ...]:
        return tuple(
            shift + g.standard_normal(max(1, size * n // rows)) for shift, size in zip(shifts, sizes, strict=True)
        )

    return ("anova", list(sizes), shifts), make


def _any(about: About, rows: int) -> tuple[Any, Maker | None]:
    effect, test = _shift(about), about.take("test", None)
    if test is None:
        about.say("the base test is about as powerful as a one-sided test of a normal mean")
        about.take("method", None), about.take("blocks", None)
        return ("any", rows, effect), None
    return None, lambda g, n: (test, effect + g.standard_normal(n))


def _proportion(about: About, _rows: int) -> tuple[Any, Maker]:
    null = about.number("null", 0.5, -1e-9, 1 + 1e-9)
    effect = about.number("effect", 0.1 if null <= 0.5 else -0.1, -1.0, 1.0)
    share = about.number("share", min(max(null + effect, 0.0), 1.0), -1e-9, 1 + 1e-9)
    about.say(f"the population's share is {share:g}, {null:g} is tested")
    seen = min(max(null + (share - null) * about.stretch, 0.0), 1.0)
    return None, lambda g, n: (g.random(n) < seen, null)


def _simple(about: About, rows: int) -> tuple[Any, Maker]:
    from scipy import stats

    p, q = about.take("p", None), about.take("q", None)
    if p is None and q is None:
        effect = _shift(about)
        p, q = stats.norm(0, 1), stats.norm(effect, 1)
    about.say("the rows come from q")
    known = ("simple", rows, (p, q)) if about.given.get("method", "clamped") == "clamped" else None

    def make(g: Generator, n: int) -> tuple[Any, ...]:
        if isinstance(q, Mapping):
            return g.choice(np.array(list(q), dtype=object), n, p=np.array(list(q.values()))), p, q
        return q.rvs(size=n, random_state=g), p, q

    return known if about.given.get("clamp") is None else None, make


def tilted(chances: Floats, effect: float) -> Floats:
    """Other probabilities, `effect` away in total variation: half of the bins gain what the others lose, in turn."""
    moved, up = chances.copy(), np.arange(len(chances)) % 2 == 0
    effect = min(effect, float(chances[~up].sum()))
    moved[up] *= 1 + effect / chances[up].sum()
    moved[~up] *= 1 - effect / chances[~up].sum()
    return moved


def _tilt(about: About) -> float:
    effect = about.number("effect", 0.1, 0.0, 1.0)
    about.say(f"the truth is {effect:g} away in total variation")
    return min(effect * about.stretch, 0.999)


def _fit(about: About, rows: int) -> tuple[Any, Maker]:
    null, bins = about.take("null", None), about.given.get("bins", 10)
    if isinstance(null, Mapping):
        names, chances = list(null), np.array(list(null.values()), dtype=float)
    elif isinstance(null, list | tuple | np.ndarray):
        names, chances = list(about.given.get("categories") or range(len(null))), np.array(null, dtype=float)
    elif null is None or hasattr(null, "ppf"):
        names, chances = list(range(bins)), np.full(bins, 1 / bins)
        null = dict(zip(names, chances, strict=True))
        about.given.pop("bins", None)
    else:
        raise BadInput(f"null is {null!r}; give probabilities, or a law of scipy.stats")
    truth = about.take("truth", None)
    other = tilted(chances, _tilt(about)) if truth is None else np.array(list(truth), dtype=float)
    known = ("fit", rows, (chances.tolist(), other.tolist()))
    return known, lambda g, n: (g.choice(np.array(names, dtype=object), n, p=other), null)


def _closeness(about: About, rows: int) -> tuple[Any, Maker]:
    listed, edges = about.given.get("categories"), about.given.get("edges")
    names: Any
    if edges is not None:
        ends = np.array(edges, dtype=float)
        names = (ends[:-1] + ends[1:]) / 2
    else:
        if listed is None:
            about.given["categories"] = listed = list(range(about.whole("bins", 5, 2, 10_000)))
        names = np.array(list(listed), dtype=object)
    sizes, even = _sizes(about, rows, 2), np.full(len(names), 1 / len(names))
    other = tilted(even, _tilt(about))

    def make(g: Generator, n: int) -> tuple[Any, ...]:
        one, two = (max(1, size * n // rows) for size in sizes)
        return g.choice(names, one, p=even), g.choice(names, two, p=other)

    return None, make


def _independence(about: About, _rows: int) -> tuple[Any, Maker]:
    if about.given.get("categories") is None:
        bins = about.whole("bins", 3, 2, 1000)
        about.given["categories"] = (list(range(bins)), list(range(bins)))
    pair = about.given["categories"]
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise BadInput(f"categories is {pair!r}; give two lists: the categories of x and those of y")
    first, second = (np.array(list(names), dtype=object) for names in pair)
    effect = about.number("effect", 0.1, 0.0, 1.0)
    about.say(f"in {effect:g} of the rows the second column follows the first, all categories alike")
    effect = min(effect * about.stretch, 1.0)

    def make(g: Generator, n: int) -> tuple[Any, ...]:
        x = g.integers(0, len(first), n)
        y = np.where(g.random(n) < effect, x % len(second), g.integers(0, len(second), n))
        return first[x], second[y]

    return None, make


WORLDS: Final[Mapping[str, Callable[[About, int], tuple[Any, Maker | None]]]] = {
    "mean": _mean,
    "two_means": _two,
    "two_samples": _two,
    "paired": _paired,
    "anova": _anova,
    "any": _any,
    "proportion": _proportion,
    "simple": _simple,
    "fit": _fit,
    "closeness": _closeness,
    "independence": _independence,
}
