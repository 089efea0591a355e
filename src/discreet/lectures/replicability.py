"""Replicable rounding: two teams with two samples publish the very same number, nearly always. It gives no privacy.

A release is rounded to a grid of public width whose offset both teams share. Two answers m1 and m2 fall into different
cells with probability min(1, |m1 - m2| / width) over the offset: for normal errors of standard deviation s in each,
2 s / (sqrt(pi) width) = 1.128 s / width. The rounding moves an answer by at most half a width.

Shared must be the offset alone: it is public and says nothing. Sharing the seed of the noise would let each team
subtract it. And a replicable answer is not a private one: rounding an exact mean protects nobody.

Source: Impagliazzo, Lei, Pitassi and Sorrell 2022.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import is_number
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.release import Release

APART = 2 / math.sqrt(math.pi)  # the expected distance of two normal answers, in their standard deviation


def width_for(sd: float, differ: float) -> float:
    """The width at which two answers of this standard deviation differ with probability at most `differ`.

    >>> round(width_for(1.0, 0.1), 2)
    11.28
    """
    if not (is_number(sd) and sd > 0 and is_number(differ) and 0 < differ < 1):
        raise BadInput(f"sd is {sd!r}, differ is {differ!r}; give a positive number and a probability")
    return APART * sd / differ


def agreement(algorithm: Callable[[Any, int], Any], sample: Callable[[int], Any], *, runs: int = 100) -> float:
    """How often two samples give the same answer if the algorithm's randomness is shared: 1 - rho of Definition 3.5.

    `sample(i)` is the i-th sample of the distribution, made up; `algorithm(rows, r)` uses the shared random string r.

    >>> def coin(rows: Any, r: int) -> float:
    ...     return 10.0 * (round(sum(rows) / len(rows) / 10 - r / 100) + r / 100)
    >>> agreement(coin, lambda i: [i % 3, 1, 2], runs=50) > 0.8
    True
    """
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 1:
        raise BadInput(f"runs is {runs!r}; give how many pairs of samples to compare")
    same = 0
    for run in range(runs):
        one, other = (algorithm(sample(2 * run + which), run) for which in (0, 1))
        same += bool(np.all(np.asarray(one) == np.asarray(other)))
    return same / runs


def offset_of(name: str) -> float:
    """An offset in [0, 1) that everybody derives from the same public words, for example the study's title."""
    if not isinstance(name, str):
        raise BadInput(f"name is {name!r}; give words that all teams share, for example the study's title")
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6]) / 2**48


def replicable(release: Release[Any], *, width: float, offset: float) -> Release[Any]:
    """The release rounded to offset * width plus whole multiples of `width`: post-processing of numbers and arrays."""
    if not (is_number(width) and width > 0):
        raise BadInput(f"width is {width!r}; give a positive number, for example width_for(sd, 0.1)")
    if not (is_number(offset) and 0 <= offset < 1):
        raise BadInput(f"offset is {offset!r}; give a shared public number in [0, 1), for example offset_of(title)")
    if release.refusal is not None:
        return release

    try:
        value = np.asarray(release.value, dtype=float)
    except (TypeError, ValueError):
        seen = type(release.value).__name__
        raise BadInput(f"the value is of type {seen}; only numbers and arrays of them can be rounded") from None
    found = (np.floor(value / width - offset + 0.5) + offset) * width
    note = f"rounded to multiples of {width:g} from a shared offset: replicable, which gives no privacy by itself"
    provenance = replace(release.provenance, notes=(*release.provenance.notes, note))
    answer = float(found) if found.ndim == 0 else found
    spread = None if release.spread is None else Widened(release.spread, answer - release.value, width / 2)
    return replace(release, answer=answer, spread=spread, provenance=provenance)


@dataclass(frozen=True, slots=True)
class Widened:
    """A spread whose intervals move with the rounded answer and reach further on either side."""

    inner: Spread
    moved: Any
    by: float

    @property
    def sampling(self) -> Any:
        """As before the rounding."""
        return self.inner.sampling

    @property
    def privacy(self) -> Any:
        """As before the rounding."""
        return self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """Moved as the answer was and widened by the most that it can be: it holds all that the inner one holds."""
        inner = self.inner.interval(confidence)
        return replace(inner, low=inner.low + self.moved - self.by, high=inner.high + self.moved + self.by)
