"""How large an effect is: intervals from the numbers that a test has released already, which cost nothing.

Claims
    [effects.1] `MeanEffect` holds the population's mean, or the difference of two, of values limited as they were, with
          its confidence in the limit of many people.
    [effects.2] `ShareEffect` holds the chance that a value of the first group is above one of the second, that two
          differences add up to more than 0, or that one is positive, ties counted by half; with its confidence or a
          higher one, in the limit of many people.
Why
    [effects.1] Given where they are limited, values are independent, in [-1, 1] and with the mean that is named. Their
    noisy mean has a normal part, whose variance is that of their squares less the squared mean, and the noise on their
    sum; where the number of people is private, a relative error as large as that number's. What is not known of the
    variance: [null_distributions.4]. Under the null hypothesis this is the distribution of the p-value, which takes the
    mean to be what is tested. The interval is widened by what a longer tail may hide, as the test is: [tail_limits.3].
    [effects.2] With ties broken by coins, U is a mean of h = 0 or 1 over pairs, E h the chance s. Averaged over all
    orders of the people it is the mean of independent h, min(n1, n2) pairs of two groups or n / 2 of one, and a mean
    varies no more than what it is the mean of (Hoeffding 1963): the variance is at most s (1 - s) over that number. U
    is normal in the limit (Hoeffding 1948). All s are kept that the noisy U is not too far from on either side. Ranks
    count each difference with itself as well, and where f of a noisy number of rows are stand-ins, those with the
    others: such a pair adds up to more than 0 with the chance q that one difference is positive. If both are positive
    so is their sum, q^2 <= s and (1 - q)^2 <= 1 - s, so that |s - q| <= 1/4, and the share is off by no more than
    2 f (1 - f) / 4 + f^2 / 2 = f / 2; by a quarter of 2 / (n + 1) for pairs of one. Both are added to either end, with
    an f that is passed with a tenth of the chance to miss. A balance over a noisy number of signs is off by (2 s - 1)
    times that number's relative error.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

from discreet.hypotheses.null_distributions import MeanError, tail_of_two
from discreet.privacy.exact import bisect
from discreet.privacy.intervals import Interval
from discreet.stages.normal_laplace import student_factor

STAND_INS: Final = 0.1  # of the chance to miss: that more rows stand in than are allowed for
LARGER: Final = "chance that the first is larger"
POSITIVE: Final = "share of positive differences"
SUMS: Final = "chance that two differences add up to more than 0"


@dataclass(frozen=True, slots=True)
class MeanEffect:
    """A mean, or a difference of two, with its error in units of `unit`."""

    estimate: float
    unit: float
    error: MeanError
    about: str
    _: KW_ONLY
    below: float = 0.0
    above: float = 0.0

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling people."""
        return self.unit * math.sqrt(max(self.error.variance, 0.0))

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self.unit * math.hypot(*(math.sqrt(2) * scale for scale in self.error.noises), self.error.further)

    def interval(self, confidence: float) -> Interval:
        """For the population: sampling and privacy together. [effects.1]"""
        wide = reached(self.error.chance, (1 - confidence) / 2) * student_factor(self.error.freedom, confidence)
        low = self.estimate - self.unit * (wide + self.below)
        high = self.estimate + self.unit * (wide + self.above)
        return Interval(low, high, confidence=confidence, about=self.about, population=True)


@dataclass(frozen=True, slots=True)
class ShareEffect:
    """A chance s that was seen as a noisy share of `people` independent pairs, or of what varies no more.

    `noise` is the scale of the noise on that share, `counted` that of the noise on twice the number it is a share of,
    relative to it, `stand_ins` that of the noise on the number of rows relative to it, and `off` what the share may be
    off by besides.
    """

    seen: float
    people: float
    noise: float
    about: str
    _: KW_ONLY
    counted: float = 0.0
    stand_ins: float = 0.0
    off: float = 0.0

    @property
    def share(self) -> float:
        """The estimate, within [0, 1]."""
        return min(max(self.seen, 0.0), 1.0)

    @property
    def sampling(self) -> float:
        """The largest standard deviation from sampling people."""
        return math.sqrt(self.share * (1 - self.share) / self.people)

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return math.sqrt(2) * math.hypot(self.noise, self.counted * (2 * self.share - 1))

    def interval(self, confidence: float) -> Interval:
        """All s that are not too far from the share that was seen. [effects.2]"""
        miss, off = (1 - confidence) / 2, self.off
        if self.stand_ins:
            off += self.stand_ins / 2 * math.log(1 / (4 * STAND_INS * miss))  # [effects.2]
            miss *= 1 - STAND_INS
        low = self._least(self.seen, miss) - off
        high = 1 - self._least(1 - self.seen, miss) + off
        low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
        return Interval(low, high, confidence=confidence, about=self.about, population=True)

    def _least(self, seen: float, miss: float) -> float:
        """The least s that a share as large as this one is not too large for. [effects.2]"""

        def likely(s: float) -> bool:
            normal = math.sqrt(s * (1 - s) / self.people)
            return tail_of_two(seen - s, normal, self.noise, self.counted * abs(2 * s - 1)) >= miss

        top = min(max(seen, 0.0), 1.0)
        if likely(0.0) or not likely(top):
            return 0.0 if likely(0.0) else top
        return bisect(likely, 0.0, top)[0]


@dataclass(frozen=True, slots=True)
class Named:
    """Another's error, about something that has a name of its own."""

    inner: Any
    about: str

    @property
    def sampling(self) -> Any:
        """Standard deviation from sampling people."""
        return self.inner.sampling

    @property
    def privacy(self) -> Any:
        """Standard deviation from the noise."""
        return self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """The other's, by its name."""
        found: Interval = self.inner.interval(confidence)
        return replace(found, about=self.about)


def reached(chance: Callable[[float], float], miss: float) -> float:
    """The least t with chance(t) <= miss, up to rounding."""
    high = 1e-300
    while chance(high) > miss:
        high *= 16
    return bisect(lambda t: chance(t) <= miss, 0.0, high)[1]
