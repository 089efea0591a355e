"""Parametric distributions to fit: scipy's, or a density of the caller's own; their parameters on scales without ends.

There estimates are nearer to normal, and no interval leaves a parameter's range.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet._compiled.likelihood_kernels import FAST, FastLikelihood
from discreet.errors import BadInput
from discreet.privacy.exact import is_number

FARTHEST: Final = 700.0  # beyond it exponentials overflow
ALIASES: Final = {
    "weibull": "weibull_min",
    "exponential": "expon",
    "normal": "norm",
    "gaussian": "norm",
    "lognormal": "lognorm",
    "student": "t",
}


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a parameter, and the way to the whole line and back: logarithms for a half-line, log odds between.

    >>> Scale(0.0, math.inf).there(1.0), Scale(0.0, 1.0).back(0.0)
    (0.0, 0.5)
    """

    low: float = -math.inf
    high: float = math.inf

    def there(self, value: float) -> float:
        """The parameter on the whole line."""
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                return math.log((value - self.low) / (self.high - value))
            case (True, False):
                return math.log(value - self.low)
            case (False, True):
                return -math.log(self.high - value)
        return value

    def back(self, place: float) -> float:
        """And back."""
        cut = min(max(place, -FARTHEST), FARTHEST)
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                share = 1 / (1 + math.exp(-cut))
                return self.low + (self.high - self.low) * share
            case (True, False):
                return self.low + math.exp(cut)
            case (False, True):
                return self.high - math.exp(-cut)
        return place


@dataclass(frozen=True, slots=True)
class ScipyDistribution:
    """A scipy.stats distribution with some of its parameters fixed."""

    dist: Any
    fixed: Mapping[str, float]
    scales: Mapping[str, Scale]

    @property
    def name(self) -> str:
        """scipy's."""
        return str(self.dist.name)

    def maximum(self, x: Any) -> list[float]:
        """scipy's own fit."""
        every = parameters_of(self.dist)
        found = self.dist.fit(np.asarray(x, dtype=np.float64), **{f"f{name}": at for name, at in self.fixed.items()})
        by_name = dict(zip(every, found, strict=True))
        return [float(by_name[name]) for name in self.scales]

    def made(self, *free: float) -> Any:
        """The distribution, frozen."""
        return self.dist(**(dict(self.fixed) | dict(zip(self.scales, free, strict=True))))

    def fast(self) -> FastLikelihood | None:
        """All blocks at once, for some distributions in their usual place."""
        usual = {"gamma": {"loc": 0.0}, "expon": {"loc": 0.0}, "lognorm": {"loc": 0.0}, "weibull_min": {"loc": 0.0}}
        usual |= {"norm": {}, "beta": {"loc": 0.0, "scale": 1.0}}
        fast = FAST.get((self.name, tuple(self.scales)))
        return FastLikelihood(fast, len(self.scales)) if fast and dict(self.fixed) == usual[self.name] else None


@dataclass(frozen=True, slots=True)
class OwnDensity:
    """A logarithm of a density by its own function of the data and the parameters."""

    density: Callable[..., Any]
    start: tuple[float, ...]
    scales: Mapping[str, Scale]

    @property
    def name(self) -> str:
        """The function's."""
        return str(getattr(self.density, "__name__", type(self.density).__name__))

    def maximum(self, x: Any) -> list[float]:
        """From the public start, on scales without ends; what does not converge raises."""
        from scipy.optimize import minimize

        scales = list(self.scales.values())

        def loss(places: Any) -> float:
            free = [scale.back(float(place)) for scale, place in zip(scales, places, strict=True)]
            value = -float(np.mean(self.density(x, *free)))
            return value if np.isfinite(value) else 1e300

        first = np.array([scale.there(at) for scale, at in zip(scales, self.start, strict=True)])
        found = minimize(loss, first, method="BFGS", options={"gtol": 1e-6})
        if not found.success:  # a density with corners, say
            found = minimize(loss, found.x, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
        if not found.success or found.fun >= 1e299:
            raise ArithmeticError("not converged")
        return [scale.back(float(place)) for scale, place in zip(scales, found.x, strict=True)]

    def made(self, *_: float) -> Any:
        """There is none."""
        raise BadInput("a density of your own has no scipy distribution; use its parameters, for example dict(value)")

    def fast(self) -> None:
        """There is none."""


def parameters_of(dist: Any) -> list[str]:
    """scipy's names, in its order."""
    shapes = [name.strip() for name in (dist.shapes or "").split(",") if name.strip()]
    return [*shapes, "loc", "scale"]


def scipy_distribution(model: Any, fixed: Mapping[str, float] | None) -> ScipyDistribution:
    """A distribution by name or itself. Unless said, the place of one that begins at 0 is fixed there."""
    from scipy import stats

    dist = getattr(stats, ALIASES.get(model.lower(), model), None) if isinstance(model, str) else model
    if not isinstance(dist, stats.rv_continuous):
        raise BadInput(
            f"model is {model!r}; give a continuous distribution of scipy.stats or its name, for example 'gamma', or a "
            "function logpdf(x, *parameters) with names= and start="
        )
    every = parameters_of(dist)
    if fixed is None:
        ends = {"loc": 0.0} if np.isfinite(dist.a) else {}
        fixed = ends | ({"scale": 1.0} if ends and np.isfinite(dist.b) else {})
    if not isinstance(fixed, Mapping):
        raise BadInput(f"fixed is {fixed!r}; give a dict of numbers for some of {', '.join(every)}")
    unknown = [name for name in fixed if name not in every]
    if unknown or not all(is_number(value) for value in fixed.values()):
        raise BadInput(f"fixed is {dict(fixed)!r}; give numbers for some of {', '.join(every)}")
    domains = {one.name: one.domain for one in dist._shape_info()}  # noqa: SLF001  scipy has no other
    ranges = {name: Scale(float(low), float(high)) for name, (low, high) in domains.items()} | {"loc": Scale()}
    ranges["scale"] = Scale(0.0)
    for name, value in fixed.items():
        if not ranges[name].low <= value <= ranges[name].high or (name == "scale" and value == 0):
            raise BadInput(f"fixed {name} is {value!r}; give one within ({ranges[name].low}, {ranges[name].high})")
    free = {name: ranges[name] for name in every if name not in fixed}
    if not free:
        raise BadInput(f"all parameters of {dist.name} are fixed; nothing is left to fit")
    return ScipyDistribution(dist, {name: float(value) for name, value in fixed.items()}, free)


def own_density(density: Any, names: Any, start: Any, bounds: Any) -> OwnDensity:
    """A function with declared parameters."""
    called = [names] if isinstance(names, str) else list(names or ())
    first = [start] if is_number(start) else list(start if start is not None else ())
    ends = list(bounds) if bounds is not None else [(None, None)] * len(called)
    sound = all(is_number(at) for at in first) and all(_is_pair(pair) for pair in ends)
    if not called or len(set(called)) < len(called) or not len(first) == len(ends) == len(called) or not sound:
        raise BadInput(
            f"names are {names!r}, start is {start!r}, bounds are {bounds!r}; a density of your own needs different "
            "names=, a public start= and, if its parameters have ends, bounds=, one for each: (0, None) for a "
            "positive one"
        )
    scales = {}
    for name, at, pair in zip(called, first, ends, strict=True):
        low, high = (given if given is not None else far for given, far in zip(pair, (-np.inf, np.inf), strict=True))
        if not low < float(at) < high:
            raise BadInput(f"start of {name!r} is {at!r}, which is not within ({low}, {high}); give one that is")
        scales[str(name)] = Scale(float(low), float(high))
    return OwnDensity(density, tuple(float(at) for at in first), scales)


def _is_pair(pair: Any) -> bool:
    """Whether these are two ends, each a number or None."""
    ends = tuple(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else ()
    return len(ends) == 2 and all(end is None or is_number(end) or end in (-np.inf, np.inf) for end in ends)
