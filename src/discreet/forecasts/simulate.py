"""The real mechanism on made-up rows, with repeatable noise: what its errors are, and how often a test rejects.

Where rows are many the world is made smaller. It keeps rows times epsilon, on which the noise of every pure mechanism
here depends, so that the noise is what it would be, and the sampling part is scaled by the root of the rows. Where
delta is spent epsilon is kept below 1, and the noise is scaled as that of one Gaussian draw would be.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction
from functools import wraps
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from discreet.accounting.calibrate import gaussian
from discreet.api import Posed, posed
from discreet.errors import BadInput, Refused
from discreet.noise import distributions as simulated
from discreet.noise.randomness import MadeUp, Seeded
from discreet.privacy.declaration import Statistic
from discreet.privacy.exact import Number, bisect, exact
from discreet.privacy.mechanism import check
from discreet.privacy.release import Release
from discreet.stages.normal_laplace import radius, tail
from discreet.worlds.assumptions import CLOSED, Effect, Expected, Floats, World, flat

SEED: Final = 20_260_301
MORE: Final = 3  # times as many runs without privacy, which mostly cost little
STEPS: Final = 199  # errors that stand for a normal sampling part
FEW: Final = 16  # runs that say how large the parts of an error bar are
GENEROUS: Final = 1000  # an epsilon at which only bad parameters are left to complain of
DECIDES: Final = 20  # simulated values beyond the level, on average
HOPELESS: Final = 6  # runs, all refused, after which no more are made
SOON: Final = 20  # runs after which a chance may be clear,
SURE: Final = 3.0  # if it is so many standard errors from the target
SKEW: Final = 4.0  # standard errors by which a mean must be off to count as bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A statistic with its options in a made-up world. `rows` are those to forecast; fewer may be made up."""

    statistic: Statistic
    world: World | Effect
    options: Mapping[str, Any]
    rows: int
    epsilon: Number

    @property
    def small(self) -> int:
        """How many rows are made up."""
        return min(self.rows, self.world.most)

    @property
    def cost(self) -> Fraction:
        """An epsilon at which so many rows get the noise that all of them would; closed forms need no such thing."""
        return exact(self.epsilon) * (1 if self.world.closed is not None else Fraction(self.rows, self.small))

    def posed(self, made: Mapping[str, Any], epsilon: Number) -> Posed:
        """The question about made-up rows, priced."""
        loose = self.statistic.loose
        given = () if loose is None else made[loose]
        columns = {name: value for name, value in made.items() if name != loose}
        return posed(self.statistic, tuple(given), {**self.options, **columns, "epsilon": epsilon})

    def made(self, seed: int, rows: int | None = None) -> Mapping[str, Any]:
        """Made-up arguments."""
        return self.world.make(simulated.stream(seed), self.small if rows is None else rows)

    def planned(self) -> tuple[Posed | None, str | None]:
        """The question as it would be asked; or what is said to so few rows, if it is that they are few."""
        try:
            found = self.posed(self.made(SEED), self.cost)
            if isinstance(self.world, World) or self.world.closed is None:
                check(found.price.mechanism, found.price.size)
            return found, None
        except Refused as few:
            return None, str(few)
        except BadInput as few:
            many = max(100 * self.small, 100_000)
            less = {"delta": min(self.options["delta"], 1 / (20 * many))} if "delta" in self.options else {}
            generous = replace(self, options={**self.options, **less})
            generous.posed(self.made(SEED, many), GENEROUS)  # raises for bad parameters
            return None, str(few)


def fewer_draws(statistic: Statistic, level: float) -> Statistic:
    """The same test with as many simulated values of its null distribution as a decision at this level needs."""
    draws = math.ceil(DECIDES / level) - 1

    def quick(mechanism: Any) -> Any:
        for name in ("inner", "test"):  # of tests that wrap a test
            if is_dataclass(inside := getattr(mechanism, name, None)):
                return replace(mechanism, **{name: quick(inside)})
        return replace(mechanism, draws=draws) if hasattr(mechanism, "draws") else mechanism

    @wraps(statistic.make)
    def make(*given: Any, **options: Any) -> Any:
        return quick(statistic.make(*given, **options))

    return replace(statistic, make=make)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Answers with and without privacy, and what was released."""

    private: Floats
    plain: Floats
    drawn: Floats  # without privacy, of more runs
    releases: list[Release[Any]]
    refusals: list[str]

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.releases) + len(self.refusals)

    @property
    def refused(self) -> str | None:
        """What was refused, and how often."""
        if not self.refusals or not self.releases:
            return self.refusals[0] if self.refusals else None
        return f"in {len(self.refusals)} of {self.count} made-up runs: {self.refusals[0]}"


def measured(trial: Trial, confidence: float | None) -> Expected:
    """What to expect of a statistic in a made-up world."""
    world, rows, small = trial.world, trial.rows, trial.small
    assert isinstance(world, World)
    asked, refusal = trial.planned()
    free = None if world.sampling is None else radius(0.5, world.sampling(rows), 0.0)
    if asked is None:
        return Expected(without=free, refused=refusal)
    if world.closed is not None:
        return world.closed(asked.answer(Seeded(SEED)), rows, confidence)
    cost, noised, spent = trial.cost, 1.0, float(asked.price.mechanism.guarantee.delta)
    if spent and small < rows:
        cost = min(cost, max(exact(trial.epsilon), exact(1)))
        noised = small * gaussian(float(cost), spent) / (rows * gaussian(float(trial.epsilon), spent))
    if world.total:
        noised *= rows / small
    runs = _run(trial, world, cost, FEW if world.parts else world.runs)
    if world.parts and runs.releases and not _has_parts(runs.releases[0], world):
        runs = _run(trial, world, cost, 2 * world.runs)
    how = f"simulated on made-up data, {runs.count} runs" + (f" of {small} rows, scaled" if small < rows else "")
    if len(runs.releases) < 2:
        return Expected(without=free, refused=runs.refused, how=how)
    known, scaled = None if world.sampling is None else world.sampling(rows), (math.sqrt(small / rows), noised)
    if world.parts and _has_parts(runs.releases[0], world):
        found = _by_parts(runs, world, scaled, confidence, None if trial.options.get("model") else known)
    else:
        found = _by_runs(runs, world, scaled, confidence, known)
    if len(runs.refusals) > runs.count / 2:
        found = replace(found, error=None, half_width=None)
    return replace(found, without=found.without if free is None else free, refused=runs.refused, how=how)


def _run(trial: Trial, world: World, cost: Fraction, count: int) -> Runs:
    assert world.plain is not None
    private, plain = [], []
    releases: list[Release[Any]] = []
    refusals: list[str] = []
    for run in range(count):
        if (run == HOPELESS and not releases) or len(refusals) > count / 2:
            break
        made = trial.made(SEED + run)
        try:
            release = trial.posed(made, cost).answer(MadeUp(SEED + run))
        except (BadInput, Refused) as reason:  # a size that turns out too small when the rows are counted
            refusals.append(str(reason))
            continue
        if release.refusal is not None:
            refusals.append(release.refusal)
            continue
        releases.append(release)
        private.append(world.read(release.value))
        plain.append(flat(world.plain(**made)))
    needs_more = releases and world.sums and world.sampling is None and world.truth is not None
    seeds = range(SEED - MORE * count, SEED) if needs_more else ()
    drawn = [*plain, *(flat(world.plain(**trial.made(seed))) for seed in seeds)]
    return Runs(
        private=np.array(private), plain=np.array(plain), drawn=np.array(drawn), releases=releases, refusals=refusals
    )


def rejected(trial: Trial, level: float, target: float | None = None) -> tuple[float | None, str | None, str]:
    """The chance that a test rejects at this level, what it refuses, and how that was found.

    It depends on rows times epsilon and on the effect times the root of the rows, so that many rows may be few. Runs
    end early where it is clear whether the chance is above the `target`.
    """
    effect = trial.world
    assert isinstance(effect, Effect)
    asked, refusal = trial.planned()
    if asked is None:
        return None, refusal, CLOSED
    if effect.closed is not None:
        try:
            return effect.closed(asked.price.mechanism, trial.rows, level), None, CLOSED
        except (BadInput, Refused) as few:
            return None, str(few), CLOSED
    times, refusals, count = 0, list[str](), effect.runs
    for run in range(effect.runs):
        off = 0.0 if target is None or run < SOON else abs(times / run - target)
        if len(refusals) == HOPELESS == run or (run and off > SURE * math.sqrt(0.25 / run)):
            count = run
            break
        try:
            release = trial.posed(trial.made(SEED + run), trial.cost).answer(MadeUp(SEED + run))
        except (BadInput, Refused) as few:
            refusals.append(str(few))
            continue
        if release.refusal is not None:
            refusals.append(release.refusal)
            continue
        times += release.value.p_value <= level
    how = f"simulated on made-up data, {count} runs"
    if 2 * len(refusals) > count or (refusals and not times):
        return None, refusals[0], how
    refused = f"in {len(refusals)} of {count} made-up runs: {refusals[0]}" if refusals else None
    return times / count, refused, how


def _has_parts(release: Release[Any], world: World) -> bool:
    spread = release.spread if world.part is None else world.part(release.spread)
    return spread is not None and isinstance(spread.sampling, float) and isinstance(spread.privacy, float)


def _by_parts(
    runs: Runs, world: World, scaled: tuple[float, float], confidence: float | None, known: float | None
) -> Expected:
    """The median error is what an error bar at confidence 1/2 says, moved by what bias a skewed distribution shows.

    A bar may take its own sampling part for larger than it is, to be safe; it is no larger than it is `known` to be.
    """
    sampled, noised = scaled
    spreads = [release.spread if world.part is None else world.part(release.spread) for release in runs.releases]
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
        wide = _half_width(runs, world, confidence)
        width = None if wide is None else wide * radius(confidence, seen, laplace) / before
    error = shifted_radius(0.5, sampling, laplace, bias)
    return Expected(
        error=error, half_width=width, sampling=sampling, privacy=privacy, without=radius(0.5, sampling, 0.0)
    )


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
) -> Expected:
    """Median errors of the runs; where errors add up, those of a normal sampling part with the noise of every run."""
    down, away = scaled if world.sums else (scaled[0] ** (2 * world.rate),) * 2
    truth = flat(0.0 if world.truth is None else world.truth)
    second = (runs.private - runs.plain) * away
    first = np.zeros((1, second.shape[1])) if world.truth is None else (runs.drawn - truth) * down
    both = second
    if world.truth is not None and world.sums:
        apart = np.cov(first, rowvar=False).reshape(first.shape[1], -1) if known is None else np.array([[known**2]])
        first = normal_errors(apart)
        both = (first[:, None] + second[None, :]).reshape(-1, first.shape[1])
    elif world.truth is not None:
        both = (runs.private - truth) * down
    error = float(np.median(world.gap(both, truth)))
    sizes = [world.gap(part, truth) for part in (first, second)]
    sampling, privacy = (float(np.sqrt(np.mean(size**2))) for size in sizes)
    seen = None if confidence is None else _half_width(runs, world, confidence)
    before = math.hypot(sampling / down, privacy / away) or 1.0
    width = None if seen is None else seen * math.hypot(sampling, privacy) / before
    without = float(np.median(sizes[0]))
    part = None if world.truth is None else sampling
    return Expected(error=error, half_width=width, sampling=part, privacy=privacy, without=without)


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


def _half_width(runs: Runs, world: World, confidence: float) -> float | None:
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
