"""Above-threshold: the first of many questions whose answer is large, at the price of one.

Promise
    [V1] FirstAbove: the first index i with s_i + Z_i >= threshold + Y, Y and Z_i discrete Laplace noise of scales
         2 D / epsilon and 4 D / epsilon, when one person's change moves every score by at most D. Pure epsilon.
Why
    [V1] Fix Z_1, ..., Z_{i-1} and compare a table with a neighbour. Before i no score reached the threshold: shifting
    Y up by D keeps that so on the neighbour, at a price of e^{epsilon/2}. At i the score reached it: shifting Z_i up by
    2D keeps that so, against a threshold D higher and a score D lower, at another e^{epsilon/2}. "None" costs the first
    part alone. Shifts are integers, as scores, threshold and noise are; D is rounded up to one.
Needs
    Whole scores, all fixed in advance or each depending on the earlier ones only through their being below.
Accuracy
    With probability 1 - b, no score more than (8 D / epsilon) ln(2 K / b) below the threshold is returned and none
    more than that above it is passed over.
Source
    Dwork, Naor, Reingold, Rothblum and Vadhan 2009; Lyu, Su and Li 2017 for which variants are broken.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from discreet.errors import BadInput
from discreet.noise.choose import score_objection, whole_scores
from discreet.noise.source import Source, claimed, drawn_scale
from discreet.promise.exact import Number, exact
from discreet.promise.loss import Approximate, Loss


@dataclass(frozen=True, slots=True, eq=False)
class FirstAbove:
    """The first noisy score at or above a noisy threshold, or the number of scores."""

    scores: tuple[int, ...]
    threshold: int
    sensitivity: Number
    cost: Approximate

    def __post_init__(self) -> None:
        whole_scores(self.scores)
        if not isinstance(self.threshold, int | np.integer) or isinstance(self.threshold, bool):
            raise BadInput(f"the threshold is {self.threshold!r}; it must be a whole number")
        if self.cost.delta or not self.cost.epsilon:
            raise BadInput(f"above-threshold is pure: its cost is Approximate(epsilon, 0), not {self.cost}")
        self._scales()

    def _scales(self) -> tuple[Fraction, Fraction]:
        unit = ceil(claimed(self.sensitivity)) / exact(self.cost.epsilon)
        return drawn_scale(2 * unit), drawn_scale(4 * unit)  # [V1]

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: Source) -> int:
        """All noise is drawn, whatever the answer."""
        for_bar, for_scores = self._scales()
        bar = int(self.threshold) + int(source.laplace(1, for_bar)[0])  # [V1]
        scores = whole_scores(self.scores).tolist()
        noise = source.laplace(len(scores), for_scores).tolist()  # [V1]
        reached = [score + extra >= bar for score, extra in zip(scores, noise, strict=True)]
        return reached.index(True) if any(reached) else len(self.scores)

    def objection(self, neighbour: "FirstAbove") -> str | None:
        """Different parameters or numbers of scores, or a score that moves too far."""
        mine, other = (
            (request.threshold, request.sensitivity, request.cost, len(request.scores)) for request in (self, neighbour)
        )
        if mine != other:
            return "the parameters of above-threshold depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)
