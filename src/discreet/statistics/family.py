"""Families of distributions by their sufficient statistics.

A family is a small value of public functions; nothing here sees data. `discreet.Family` describes one of your own: what
its parameters are called, the scipy distribution they stand for, the statistics to sum, and a rough guess of the
parameters from a median. Limits, noise, inversion and intervals follow (statistics/sufficient.py).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.stages.declared import hushed, rests_on, tried
from discreet.stages.normal_laplace import gaussian

Floats = npt.NDArray[np.float64]
Column = Callable[[Floats], Floats]
Link = Literal["log", "identity", "logit"]
LEAST_RATE: Final = 1 / 3  # a Poisson rate whose median is 0
MOST_COUNTED: Final = 1e9  # scipy's Poisson distributions have no quantiles a little beyond
LINKS: Final = ("log", "identity", "logit")
PLAIN: Final = (0.5, 0.25, 3.0, 1.0, 0.75, 2.0, 7.0, 0.125)  # public numbers to try functions on
ODD: Final = (math.nan, math.inf, -math.inf, -2.0, 0.0, 1e300, 1e-300)


def same(x: Floats) -> Floats:
    """The record itself."""
    return x


@dataclass(frozen=True, slots=True)
class Family:
    """One or two parameters, and as many statistics.

    `distribution(*parameters)` is a frozen scipy.stats distribution. `statistics` are functions of an array, entry by
    entry: what the likelihood depends on; `means(*parameters)` are their expectations, if there is a formula. `start`
    guesses the parameters from the median of `handle(x)` and, for two parameters, the median distance from it. `links`
    say on which scale each parameter is looked for: "log" for positive ones (the default), "identity", or "logit" for
    those between 0 and 1. With `rescaled(place, size, *parameters)` the family is fitted to (x - place) / size, their
    median and median distance, and these are its parameters for x.

    >>> from scipy import stats
    >>> rayleigh = Family("rayleigh", ("scale",), distribution=lambda s: stats.rayleigh(scale=s),
    ...                   start=lambda m: (m / 1.1774,), statistics=(np.square,))
    >>> float(rayleigh.distribution(2.0).median().round(3))
    2.355
    """

    name: str
    parameters: tuple[str, ...]
    _: KW_ONLY
    distribution: Callable[..., Any]
    start: Callable[..., Sequence[float]]
    statistics: tuple[Column, ...] = (same,)
    handle: Column = same
    means: Callable[..., Sequence[float]] | None = None
    rescaled: Callable[..., Sequence[float]] | None = None
    links: tuple[Link, ...] = ()

    def __post_init__(self) -> None:
        many = len(self.parameters)
        if many not in (1, 2) or len(self.statistics) != many:
            raise BadInput(
                f"{self.name!r} has {many} parameters and {len(self.statistics)} statistics; a family has one or two, "
                "and as many statistics; for others use discreet.maximum_likelihood"
            )
        if self.links and (len(self.links) != many or any(link not in LINKS for link in self.links)):
            raise BadInput(f"links are {self.links!r}; give one of {', '.join(LINKS)} for each of {self.parameters}")
        if not isinstance(self.parameters, tuple | list) or len(set(self.parameters)) < many:
            raise BadInput(f"parameters are {self.parameters!r}; give a tuple of different names")
        for function in (*self.statistics, self.handle):
            _check_entrywise(function)

    @property
    def scales(self) -> tuple[Link, ...]:
        """The link of each parameter."""
        usual: Link = "log"
        return self.links or (usual,) * len(self.parameters)

    def linked(self, parameters: Sequence[float]) -> Floats:
        """Parameters on the scales on which they are looked for."""
        return np.array([link(scale, float(one)) for scale, one in zip(self.scales, parameters, strict=True)])

    def unlinked(self, places: Sequence[float] | Floats) -> tuple[float, ...]:
        """And back."""
        return tuple(unlink(scale, float(one)) for scale, one in zip(self.scales, places, strict=True))

    def check_start(self) -> None:
        """Refuses a family that has no distribution for any of some public medians, before there are data."""
        failure: object = "not finite"
        for seen in ((1.0, 1.0), (0.5, 0.5), (10.0, 1.0), (0.0, 1.0), (100.0, 10.0)):
            try:
                with np.errstate(all="ignore"):
                    if math.isfinite(self.at(self.linked(self.start(*seen[: len(self.parameters)]))).ppf(0.5)):
                        return
            except Exception as error:  # noqa: BLE001  shown below
                failure = error
        raise BadInput(
            f"start and distribution of {self.name!r} give nothing for medians such as 1: {failure}; start takes as "
            "many numbers as there are parameters and returns a tuple of them; distribution returns one of scipy.stats"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a release of this family rests on."""
        interval = f"the data need not have the {self.name} distribution: the interval is for the one that fits best"
        if all(is_ours(function) for function in (*self.statistics, self.handle)):
            return (interval,)
        return interval, rests_on("each statistic is a function of one entry alone")

    def at(self, places: Sequence[float] | Floats) -> Any:
        """The distribution at linked parameters."""
        return self.distribution(*self.unlinked(places))


def link(scale: Link, value: float) -> float:
    """A parameter on a scale without ends."""
    match scale:
        case "log":
            return math.log(value)
        case "logit":
            return math.log(value / (1 - value))
        case "identity":
            return value


def unlink(scale: Link, value: float) -> float:
    """And back."""
    match scale:
        case "log":
            return math.exp(min(max(value, -700.0), 700.0))
        case "logit":
            return 1 / (1 + math.exp(-min(max(value, -36.0), 36.0)))
        case "identity":
            return value


def each(function: Column, values: Floats) -> Floats:
    """A function of each entry alone: where the array as a whole makes it raise, entry by entry, NaN for those.

    What it says of an entry is not heard, and it cannot write on the data.
    """
    shown = values.view()
    shown.flags.writeable = False
    with hushed():
        try:
            found = np.asarray(function(shown), dtype=np.float64)
            if found.shape == values.shape:
                return values if found is shown else found
        except Exception:  # noqa: BLE001, S110  an entry must not be heard
            pass
        return _alone(function, shown)


def _alone(function: Column, values: Floats) -> Floats:
    """Entry by entry: as `each`, bit for bit, for a function of each entry alone."""
    return np.array([_one(function, values[place : place + 1]) for place in range(len(values))], dtype=np.float64)


def _one(function: Column, entry: Floats) -> float:
    try:
        return float(np.asarray(function(entry), dtype=np.float64).ravel()[0])
    except Exception:  # noqa: BLE001
        return math.nan


def _check_entrywise(function: Column) -> None:
    """On public numbers: what an entry becomes may not depend on the others, or one person would move them all.

    Bit for bit, as `each` may take the entries together or one by one; and with odd numbers among them, as a function
    may look at the others for the sake of a missing or a negative one only. Ours never raise: `each` has one way.
    """
    if is_ours(function):
        return
    plain = np.array(PLAIN)
    plain.flags.writeable = False
    found = np.asarray(tried(lambda rows: np.asarray(function(rows), dtype=np.float64), "a statistic", plain))
    if found.shape != plain.shape:
        raise BadInput(f"a statistic of {len(PLAIN)} numbers has the shape {found.shape}; give one number for each")
    with hushed():
        for trial in (plain, *(np.array([*PLAIN, odd]) for odd in ODD), np.array([*ODD, *PLAIN, *ODD, *PLAIN])):
            if not np.array_equal(each(function, trial), _alone(function, trial), equal_nan=True):
                raise BadInput("a statistic of an entry depends on other entries; give a function of each entry alone")


def is_ours(function: Column) -> bool:
    """Whether a function is one of each entry alone by our own proof, not by the caller's word."""
    return function in (same, np.square, np.log, logit, log_one_minus)


def poisson_start(median: float) -> tuple[float]:
    """The median and a third. Beyond a thousand million nothing is followed."""
    if not median < MOST_COUNTED:
        raise ValueError("too large to count")
    return (max(median + 1 / 3, LEAST_RATE),)


def poisson(rate: float) -> Any:
    """Whole numbers of a rate."""
    from scipy import stats

    return stats.poisson(rate)


def exponential(rate: float) -> Any:
    """Waiting times of a rate."""
    from scipy import stats

    return stats.expon(scale=1 / rate)


def gamma(shape: float, scale: float) -> Any:
    """With mean shape * scale."""
    from scipy import stats

    return stats.gamma(shape, scale=scale)


def binomial(trials: int) -> Callable[[float], Any]:
    """Of so many trials, by its chance."""

    def made(p: float) -> Any:
        from scipy import stats

        return stats.binom(trials, min(max(p, 0.0), 1.0))

    return made


def gamma_means(shape: float, scale: float) -> tuple[float, float]:
    """Of x and log x."""
    from scipy.special import psi

    return shape * scale, float(psi(shape)) + math.log(scale)


def beta_means(a: float, b: float) -> tuple[float, float]:
    """Of log x and log(1 - x)."""
    from scipy.special import psi

    return float(psi(a) - psi(a + b)), float(psi(b) - psi(a + b))


def beta(a: float, b: float) -> Any:
    """On (0, 1), with mean a / (a + b)."""
    from scipy import stats

    return stats.beta(a, b)


def logit(x: Floats) -> Floats:
    """log(x / (1 - x))."""
    return np.asarray(np.log(x) - np.log1p(-x))


def log_one_minus(x: Floats) -> Floats:
    """log(1 - x)."""
    return np.asarray(np.log1p(-x))


def gamma_start(centre: float, distance: float) -> tuple[float, float]:
    """From the middle half of log x: its spread tells the shape, then its middle the scale."""
    from scipy.special import gammaincinv

    shape = shape_of_spread(distance / 0.6745)
    return shape, math.exp(min(max(centre, -600.0), 600.0)) / max(float(gammaincinv(shape, 0.5)), 1e-280)


def beta_start(centre: float, distance: float) -> tuple[float, float]:
    """From the middle half of the logits: log odds of the mean, and a spread as of two equal halves."""
    mean = unlink("logit", min(max(centre, -7.0), 7.0))
    both = 2 * shape_of_spread(distance / 0.6745 / math.sqrt(2))
    odd = 4 * mean * (1 - mean)
    return max(both * mean / odd, 0.02), max(both * (1 - mean) / odd, 0.02)


def shape_of_spread(spread: float) -> float:
    """The gamma shape whose logarithms have this standard deviation, within [0.02, 10^6]."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    def over(log_shape: float) -> float:
        return float(polygamma(1, math.exp(log_shape))) - spread**2

    low, high = math.log(0.02), math.log(1e6)
    if not spread < 50:
        return 0.02
    return 1e6 if over(high) >= 0 else math.exp(float(brentq(over, low, high)))


GAUSSIAN: Final = Family(
    "gaussian",
    ("mean", "variance"),
    distribution=gaussian,
    start=lambda centre, distance: (centre, (distance / 0.6745) ** 2),
    statistics=(same, np.square),
    means=lambda mean, variance: (mean, variance + mean**2),
    rescaled=lambda place, size, mean, variance: (place + size * mean, size**2 * variance),
    links=("identity", "log"),
)
FAMILIES: Final[Mapping[str, Family]] = {
    "poisson": Family("poisson", ("rate",), distribution=poisson, start=poisson_start, means=lambda rate: (rate,)),
    "exponential": Family(
        "exponential",
        ("rate",),
        distribution=exponential,
        start=lambda m: (math.log(2) / max(m, 1e-280),),
        means=lambda rate: (1 / rate,),
    ),
    "gamma": Family(
        "gamma",
        ("shape", "scale"),
        distribution=gamma,
        start=gamma_start,
        statistics=(same, np.log),
        handle=np.log,
        means=gamma_means,
    ),
    "beta": Family(
        "beta",
        ("a", "b"),
        distribution=beta,
        start=beta_start,
        statistics=(np.log, log_one_minus),
        handle=logit,
        means=beta_means,
    ),
}
