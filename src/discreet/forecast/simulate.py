"""The real mechanism on made-up rows, with repeatable noise: what its errors are.

Where rows are many the world is made smaller. It keeps rows times epsilon, on which the noise of every pure mechanism
here depends, so that the noise is what it would be, and the sampling part is scaled by the root of the rows. Where
delta is spent epsilon is kept below 1, and the noise is scaled as that of one Gaussian draw would be.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput, Refused
from discreet.forecast.assumptions import Floats, World, parameters, verb
from discreet.noise import distributions as simulated
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number, exact
from discreet.privacy.release import Release
from discreet.privacy.search import bisect
from discreet.statistics.normal_laplace import radius, tail

SEED: Final = 20_260_301
MORE: Final = 3  # times as many runs without privacy, which mostly cost little
STEPS: Final = 199  # errors that stand for a normal sampling part
FEW: Final = 16  # runs that say how large the parts of an error bar are
GENEROUS: Final = 1000.0  # an epsilon at which only bad parameters are left to complain of
HOPELESS: Final = 6  # runs, all refused, after which no more are made
SKEW: Final = 4.0  # standard errors by which a mean must be off to count as bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the runs showed."""

    error: float | None
    half_width: float | None
    sampling: float | None
    privacy: float | None
    without: float | None
    refused: str | None
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Answers with and without privacy, and what was released."""

    private: Floats
    plain: Floats
    drawn: Floats  # without privacy, of more runs
    releases: list[Release[Any]]
    refusals: list[str]
    count: int


class Enough(Exception):
    """Raised in place of a release."""


class Stop:
    """A teller that answers nothing: the verb shows whether its parameters will do, and reads no row."""

    delta = 0.0

    def answer(self, mechanism: Any, _rows: Any) -> Any:
        """Nothing, but what delta would be spent."""
        self.delta = float(mechanism.guarantee.delta)
        raise Enough


def measured(
    statistic: str,
    world: World,
    options: Mapping[str, Any],
    *,
    rows: int,
    epsilon: Number,
    delta: Number,
    confidence: float | None,
) -> Measured:
    """The error of a verb in a made-up world."""
    small = min(rows, world.most)
    same, allowed = exact(epsilon) * rows / small, {"delta": delta} if "delta" in parameters(statistic) else {}
    keywords = {"epsilon": same, **allowed, **options}

    def asked(made: tuple[Any, ...], rng: Any, **other: Any) -> Release[Any]:
        found: Release[Any] = verb(statistic)(*made, rng=rng, **(keywords | other))
        return found

    refusal, spent = _planned(asked, world, small)
    if refusal is not None:
        return Measured(
            error=None,
            half_width=None,
            sampling=None,
            privacy=None,
            without=_plain_error(world, rows),
            refused=refusal,
            how="closed form",
        )
    noised = 1.0
    if spent and small < rows:
        keywords["epsilon"] = min(same, max(exact(epsilon), exact(1)))
        noised = small * gaussian(float(keywords["epsilon"]), spent) / (rows * gaussian(float(epsilon), spent))
    runs = _run(asked, world, small, FEW if world.parts else world.runs)
    if world.parts and runs.releases and not _has_parts(runs.releases[0]):
        runs = _run(asked, world, small, 2 * world.runs)
    scaled = math.sqrt(small / rows), noised
    how = f"simulated on made-up data, {runs.count} runs" + (f" of {small} rows, scaled" if small < rows else "")
    refused = None
    if runs.refusals and not runs.releases:
        refused = runs.refusals[0]
    elif runs.refusals:
        refused = f"in {len(runs.refusals)} of {runs.count} made-up runs: {runs.refusals[0]}"
    if len(runs.releases) < 2:
        return Measured(
            error=None,
            half_width=None,
            sampling=None,
            privacy=None,
            without=_plain_error(world, rows),
            refused=refused,
            how=how,
        )
    known = None if world.sampling is None else world.sampling(rows)
    if world.parts and _has_parts(runs.releases[0]):
        found = _by_parts(runs, world, scaled, confidence, None if options.get("model") else known)
    else:
        found = _by_runs(runs, world, scaled, confidence, known)
    error: float | None
    error, width, sampling, privacy, without = found
    plain = _plain_error(world, rows)
    if len(runs.refusals) > runs.count / 2:
        error = width = None
    return Measured(
        error=error,
        half_width=width,
        sampling=sampling,
        privacy=privacy,
        without=without if plain is None else plain,
        refused=refused,
        how=how,
    )


def _plain_error(world: World, rows: int) -> float | None:
    return None if world.sampling is None else radius(0.5, world.sampling(rows), 0.0)


def _planned(asked: Callable[..., Any], world: World, rows: int) -> tuple[str | None, float]:
    """What the verb says to so few rows, if it is that they are few, and the delta it spends; else it is raised."""
    stop = Stop()
    try:
        asked(world.make(simulated.stream(SEED), rows), stop)
    except Enough:
        return None, stop.delta
    except BadInput as few:
        try:
            asked(world.make(simulated.stream(SEED), max(100 * rows, 100_000)), stop, epsilon=GENEROUS)
        except Enough:
            return str(few), stop.delta
        raise
    return None, stop.delta


def _run(asked: Callable[..., Any], world: World, rows: int, count: int) -> Runs:
    private, plain = [], []
    releases: list[Release[Any]] = []
    refusals: list[str] = []
    for run in range(count):
        if run == HOPELESS and not releases:
            break
        made = world.make(simulated.stream(SEED + run), rows)
        try:
            release = asked(made, Seeded(SEED + run))
        except BadInput as reason:  # a size that turns out too small when the rows are counted
            refusals.append(str(reason))
            continue
        if release.refusal is not None:
            refusals.append(release.refusal)
            continue
        releases.append(release)
        private.append(world.read(release.value))
        plain.append(world.plain(*made))
    seeds = range(SEED - MORE * count, SEED) if releases and world.sums and world.sampling is None else ()
    more = [world.plain(*world.make(simulated.stream(seed), rows)) for seed in seeds]
    drawn = [*plain, *more]
    tried = len(releases) + len(refusals)
    return Runs(
        private=np.array(private),
        plain=np.array(plain),
        drawn=np.array(drawn),
        releases=releases,
        refusals=refusals,
        count=tried,
    )


def _has_parts(release: Release[Any]) -> bool:
    spread = release.spread
    return spread is not None and isinstance(spread.sampling, float) and isinstance(spread.privacy, float)


def _by_parts(
    runs: Runs, world: World, scaled: tuple[float, float], confidence: float | None, known: float | None
) -> tuple[float, float | None, float, float, float]:
    """The median error is what an error bar at confidence 1/2 says, moved by what bias a skewed law shows.

    A bar may take its own sampling part for larger than it is, to be safe; it is no larger than it is `known` to be.
    """
    sampled, noised = scaled
    spreads = [release.spread for release in runs.releases]
    seen = float(np.median([one.sampling for one in spreads if one is not None])) * sampled
    sampling = seen if known is None else min(seen, known)
    privacy = float(np.median([one.privacy for one in spreads if one is not None])) * noised
    off = runs.private[:, 0] - runs.plain[:, 0]
    bias, spread = float(np.median(off)), float(np.std(off)) / math.sqrt(len(off))
    bias = bias * noised if world.skewed and abs(bias) > SKEW * spread else 0.0
    laplace = privacy / math.sqrt(2)
    width = None
    if confidence is not None:
        before = radius(confidence, seen / sampled, laplace / noised)
        wide = _width(runs, world, confidence)
        width = None if wide is None else wide * radius(confidence, seen, laplace) / before
    return shifted_radius(0.5, sampling, laplace, bias), width, sampling, privacy, radius(0.5, sampling, 0.0)


def shifted_radius(confidence: float, normal: float, laplace: float, shift: float) -> float:
    """The t with P(|N + L + shift| <= t) = confidence.

    >>> round(shifted_radius(0.95, 1.0, 0.0, 0.0), 3), round(shifted_radius(0.95, 1.0, 0.0, 3.0), 3)
    (1.96, 4.645)
    """
    if not shift:
        return radius(confidence, normal, laplace)
    farthest = abs(shift) + radius(max(confidence, 0.9), normal, laplace) * 4

    def enough(t: float) -> bool:
        return tail(t - shift, normal, laplace) + tail(t + shift, normal, laplace) <= 1 - confidence

    return bisect(enough, 0.0, farthest)[1]


def _by_runs(
    runs: Runs, world: World, scaled: tuple[float, float], confidence: float | None, known: float | None
) -> tuple[float, float | None, float, float, float]:
    """Median errors of the runs; where errors add up, those of a normal sampling part with the noise of every run."""
    down, away = scaled if world.sums else (scaled[0] ** (2 * world.rate),) * 2
    first, second = (runs.drawn - world.truth) * down, (runs.private - runs.plain) * away
    if world.sums:
        apart = np.cov(first, rowvar=False).reshape(first.shape[1], -1) if known is None else np.array([[known**2]])
        first = normal_errors(apart)
        both = (first[:, None] + second[None, :]).reshape(-1, first.shape[1])
    else:
        both = (runs.private - world.truth) * down
    error = float(np.median(world.gap(both, world.truth)))
    sizes = [world.gap(part, world.truth) for part in (first, second)]
    sampling, privacy = (float(np.sqrt(np.mean(size**2))) for size in sizes)
    seen = None if confidence is None else _width(runs, world, confidence)
    before = math.hypot(sampling / down, privacy / away) or 1.0
    width = None if seen is None else seen * math.hypot(sampling, privacy) / before
    return error, width, sampling, privacy, float(np.median(sizes[0]))


def normal_errors(covariance: Floats) -> Floats:
    """Rows that have exactly this covariance, and are normal: errors of an estimate without privacy."""
    width = len(covariance)
    if width == 1:
        at = np.array([[NormalDist().inv_cdf((place + 0.5) / STEPS)] for place in range(STEPS)])
        return at * math.sqrt(covariance[0, 0])
    rows = simulated.stream(SEED).standard_normal((max(STEPS, 4 * width), width))
    rows -= rows.mean(axis=0)
    values, turned = np.linalg.eigh(np.cov(rows, rowvar=False))
    target, along = np.linalg.eigh(covariance)
    found: Floats = rows @ turned / np.sqrt(values) * np.sqrt(np.maximum(target, 0.0)) @ along.T
    return found


def _width(runs: Runs, world: World, confidence: float) -> float | None:
    """The median, over runs, of half of the widest interval."""
    found = []
    for release in runs.releases:
        if release.spread is None:
            return None
        if world.width is not None:
            found.append(world.width(release.spread, confidence))
            continue
        try:
            ends = release.interval(confidence)
        except Refused:
            continue
        found.append(float(np.max(world.read(ends.high) - world.read(ends.low))) / 2)
    return float(np.median(found)) if 2 * len(found) > len(runs.releases) else None


__all__ = ["Measured", "measured", "shifted_radius"]
