"""The error bars of coefficients: a last Newton step and what it rests on, sampling and noise side by side; and
coefficients from blocks of people.

In blocks any of a person's rows, however many, are protected together. What is promised is promised by
subsample/aggregate.py; here names and error bars get the form of a regression's.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import chdtri, ndtri

from discreet.privacy.declaration import Columns, Public
from discreet.privacy.exact import Number
from discreet.privacy.intervals import Interval, Spread, check_confidence
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.privacy.values import ClassCoefficients, Coefficients, Link
from discreet.stages.gram import Seen
from discreet.stages.normal_laplace import allowing, student_factor
from discreet.stages.octaves import Tail
from discreet.subsample.block_table import BlockTable
from discreet.subsample.fit_request import planned

Array = np.ndarray[Any, Any]
PULLED: Final = 0.25  # of the last step: what rows pulled in H may do to it
Model = TypeVar("Model", Coefficients, ClassCoefficients)
WEIGHED: Final = "(rows far out weigh less, by their features)"


class Scored(NamedTuple):
    """What was made of rows, how they are seen as scores, how long these are, how many are cut, what one stands for."""

    ready: Callable[[Any], Any]
    seen: Seen
    lengths: Tail
    cut: float
    per: float = 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NewtonStep:
    """What was found. Coefficients are `way` @ theta, theta in the frame; `value` are they, in the columns' own units.

    `inverse` is that of the information, `step` the last one of theta. Of the last scores: the noise on each entry of
    their sum, the sum of their outer products and its noise, by how much all that were cut are longer, how long they
    may be, and how often that is the typical length. `pulled` is the part of the last step that the information may be
    wrong by. `spans` are, more or less, standard deviations of the outcome for one of each column.
    """

    value: Array
    way: Array
    inverse: Array
    information_noise: float
    step: Array
    score_noise: float
    squares: Array
    squares_noise: float
    size: float
    excess: tuple[float, float]
    limit: float
    often: float
    spans: Array
    scored: Scored
    lean: float = 0.0  # of the mean outcome: its second derivative by the linear part, over its first
    pulled: float = PULLED
    held: Any = None  # the same with its ridge, of a tilted minimum: `ridged_minimum.RidgedFit`
    bent: Array | None = None  # S: the noise on the information is S E S, that of E even in all directions

    @property
    def beside(self) -> float:
        """What each square of scores may lack: a half of its noise, and what clipping took."""
        return self.squares_noise / 2 + self.excess[1]

    @property
    def few(self) -> float:
        """By how much squares of residuals are larger about the truth than about a fit of so many coefficients."""
        return self.size / max(self.size - len(self.value), 1.0)

    @property
    def covariances(self) -> tuple[Array, Array]:
        """Of theta: from sampling, and from the noise. [least_squares.3]"""
        values, vectors = np.linalg.eigh(self.squares)
        squares = self.few * (vectors * (np.maximum(values, 0.0) + self.beside)) @ vectors.T
        own = np.eye(len(self.step))
        bent = own if self.bent is None else self.bent
        step = bent @ self.step
        moved = bent @ ((step @ step) * own + np.outer(step, step)) @ bent.T
        noise = self.score_noise**2 * own + self.information_noise**2 / 2 * moved
        return self.inverse @ squares @ self.inverse, self.inverse @ noise @ self.inverse

    def drawn(self, first: int, part: float) -> Array:
        """The value with this part of the coefficients from the `first` on. An intercept before them moves so that
        outcomes keep their mean: by the information, and to one order more as linear parts lose their spread.
        [descent.4]"""
        found = self.value.copy()
        found[first:] = part * found[first:] + 0.0  # no zero is negative
        if first:
            left = (1 - part) * self.value[first:] / self.spans[first:]
            way = self.way[first:] / self.spans[first:, None]
            information, across = self._of_slopes(first), self.way[0] @ self.inverse @ way.T
            constant = max(float(self.way[0] @ self.inverse @ self.way[0] - across @ information @ across), 0.0)
            found[0] -= across @ information @ left + self.lean / 2 * constant * (left @ information @ left)
        return found

    def _of_slopes(self, first: int) -> Array:
        """The information of the coefficients from the `first` on, in deviations of the outcome."""
        way = self.way[first:] / self.spans[first:, None]
        return np.linalg.pinv(way @ self.inverse @ way.T, hermitian=True)

    def useful_part(self, first: int, unlikely: float) -> float:
        """The part of the coefficients from the `first` on that is shown: all where errors of sampling are larger than
        those of the noise. [descent.4]"""
        way = self.way[first:] / self.spans[first:, None]
        slopes = self.value[first:] / self.spans[first:]
        values, vectors = np.linalg.eigh(self._of_slopes(first))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T  # its length is twice the log-likelihood explained
        sampling, noise = (root @ way @ part @ way.T @ root.T for part in self.covariances)
        if not np.trace(noise) > np.trace(sampling):
            return 1.0
        return safe_part(float(np.linalg.norm(root @ slopes)), np.linalg.eigvalsh(noise + sampling), unlikely)


def safe_part(length: float, variances: Array, unlikely: float) -> float:
    """The part, at most 1, of coefficients of this `length` that is shown: none of those that errors with these
    variances along axes exceed with a chance that is not below `unlikely`, by a gamma distribution with the mean and
    variance of their square; of others as much as an error along them may leave. [descent.4]

    >>> [round(safe_part(length, np.ones(3), 0.01), 2) for length in (3.3, 3.4, 4.0, 4.3)]
    [0.0, 0.29, 0.59, 0.7]
    """
    kept = np.maximum(variances, 0.0)
    total, squares = float(kept.sum()), float(kept @ kept)
    if not total > 0:
        return 1.0
    even, axes = squares / total, total**2 / squares
    if length**2 <= even * float(chdtri(axes, unlikely)):
        return 0.0
    along = (-float(ndtri(unlikely)) + (axes - 1) * math.sqrt(even) / length) * math.sqrt(even)
    return min(1.0, max(0.0, 2 * (1 - along / length)))


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientSpread(Generic[Model]):
    """Normal error bars of each coefficient: standard deviations from sampling and from the noise, side by side.

    Both are in the order of the value's numbers, an intercept first, and so is `bias`, the most that either may be off
    beside them, if that is known; `about` says what the intervals are for.
    """

    value: Model
    sampling_all: Array
    privacy_all: Array
    about: str = "the population's coefficients, each by itself"
    bias: Array | None = None
    target: str = ""  # for the first line of the answer, where the name alone would mislead
    limit: tuple[Array, float] | None = None  # of |w' x| |residual|, times a weight: w, how much; x has its 1 if any
    freedom: float = math.inf  # of the sampling deviations: Student's
    far: bool = False  # if the limit is of |w' x| alone, beyond which a row weighs less
    middle: Model | None = None  # of the intervals, if the value is drawn to 0 from there

    @property
    def sampling(self) -> Model:
        """Standard deviations from sampling people."""
        return self.value.with_numbers(self.sampling_all)

    @property
    def privacy(self) -> Model:
        """Standard deviations from the noise."""
        return self.value.with_numbers(self.privacy_all)

    @property
    def errors(self) -> Array:
        """Standard errors with the noise in them."""
        return np.hypot(self.sampling_all, self.privacy_all)

    def interval(self, confidence: float) -> Interval:
        """Each coefficient's interval by itself."""
        factor = student_factor(self.freedom, check_confidence(confidence))
        errors = np.hypot(factor * self.sampling_all, self.privacy_all)
        wide = float(ndtri((1 + confidence) / 2)) * errors
        if self.bias is not None:
            wide = allowing(self.bias, errors, confidence)
        value, of = np.array(self.value.numbers), self.value.with_numbers
        middle = value if self.middle is None else np.array(self.middle.numbers)
        low, high = np.minimum(middle - wide, value), np.maximum(middle + wide, value)
        return Interval(of(low), of(high), confidence=confidence, about=self.about, population=True)


@dataclass(frozen=True, slots=True)
class NamedSpread:
    """The error of named numbers as that of coefficients, which `of` makes of them."""

    inner: Spread
    of: Callable[[Any], Coefficients | None]

    @property
    def sampling(self) -> Coefficients | None:
        """Standard deviations from sampling people, where they are known apart."""
        return self.of(self.inner.sampling)

    @property
    def privacy(self) -> Coefficients | None:
        """Standard deviations from the noise."""
        return self.of(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Each coefficient's."""
        found = self.inner.interval(confidence)
        return replace(found, low=self.of(found.low), high=self.of(found.high))


def in_blocks(
    fit: Any,
    features: Columns,
    *,
    epsilon: Number,
    delta: Number,
    people: Public,
    named: Callable[[Any], tuple[tuple[str, ...], str | None]],
    link: Link,
    name: str,
    outcome: Callable[[Any], Any] = lambda y: y,
    **asked: Any,
) -> Mechanism[Coefficients]:
    """A regression on blocks of people, the estimates combined privately; rows have the outcome last.

    `named` gives the names of the coefficients and of the intercept as the estimator returns them.
    """
    schema = BlockTable.of(np.empty((0, len(features.names))), np.empty(0)).counting(people.size)
    inner = planned(fit, schema, epsilon=epsilon, delta=delta, neighbours=people.neighbours, unit=people.unit, **asked)

    def table(rows: Any) -> BlockTable:
        return BlockTable.of(rows[:, :-1], outcome(rows[:, -1]))

    def shown(release: Release[Any]) -> Release[Coefficients]:
        release = replace(release, name=name)
        if release.refusal is not None:
            return release
        names, intercept = named(release.value)

        def of(found: Any) -> Coefficients | None:
            if found is None:
                return None
            slopes = np.array([float(found[name]) for name in names])
            return Coefficients(slopes, 0.0 if intercept is None else float(found[intercept]), features.names, link)

        spread = None if release.spread is None else NamedSpread(release.spread, of)
        return replace(release, answer=of(release.value), spread=spread)

    return Wrapped(inner, before=table, after=shown)
