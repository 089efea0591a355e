"""Private choice among listed candidates.

Promise
    [X1] Choose: index i leaves with probability proportional to exp(-epsilon s_i / (2 D)), s_i the whole score of
         candidate i (low is good), when one person's change moves every score by at most D. Pure epsilon, and
         bounded range epsilon.
    [X2] NoisyMax: the index of the largest s_i + G_i, G_i one-sided geometric noise of scale 2 D / epsilon, ties to
         the lower index. Pure epsilon.
Why
    [X1] Each weight moves by a factor in [e^-epsilon/2, e^epsilon/2], so does their sum, so each probability by one
    in [e^-epsilon, e^epsilon]; the log ratio of two candidates' probabilities moves by at most epsilon, which is
    bounded range. The weights are real numbers; `lazy.pick` draws from them exactly, with no exp() in floats [Z2].
    [X2] Fix the noise of all other candidates. Candidate i wins iff G_i >= t for an integer t that moves by at most
    2 D between neighbours (its own score by D, the best of the others by D), and P(G >= t + 2D) >= e^-epsilon
    P(G >= t) for geometric noise: P(G >= t) = a^max(t, 0), a^{2D} >= e^-epsilon. This is the discrete form of
    permute-and-flip's exponential noise; ties go by index, which no data decides.
Needs
    Whole scores and a whole-number or rational sensitivity in the same units; at least one candidate.
Accuracy
    Choose: with probability 1 - b the score is within (2 D / epsilon) ln(K / b) of the best of K. NoisyMax: never
    worse than that bound either, and on fine scores, where ties are rare, never worse in expectation than Choose.
Source
    McSherry and Talwar 2007; McKenna and Sheldon 2020; Dong, Durfee and Rogers 2020 for bounded range.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.noise.lattice import Steps, whole
from discreet.noise.lazy import Bounds, Powers, pick
from discreet.noise.source import Source, claimed, drawn_scale, geometric
from discreet.promise.exact import Number, exact
from discreet.promise.loss import Approximate, Choice, Loss


def whole_scores(scores: Any) -> Steps:
    """The scores as integers, saturated; refused unless they are a list of at least one whole number."""
    listed = whole(scores)
    if listed.ndim != 1 or listed.size == 0:
        raise BadInput(f"scores have shape {listed.shape}; give a list of at least one whole number")
    return listed


def score_objection(mine: Any, other: Any, sensitivity: Number) -> str | None:
    """The objection if some score moves by more than the claim."""
    if np.shape(mine) != np.shape(other):
        return f"the number of candidates depends on the data: {np.shape(mine)} and {np.shape(other)}"
    moved = max(abs(int(a) - int(b)) for a, b in zip(mine, other, strict=True))
    if moved > exact(sensitivity):
        return f"a score moved by {moved}, claimed {float(exact(sensitivity)):.6g}"
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Choose:
    """The exponential mechanism over listed candidates."""

    scores: Any
    sensitivity: Number
    cost: Choice

    def __post_init__(self) -> None:
        whole_scores(self.scores)
        claimed(self.sensitivity)

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: Source) -> int:
        """First a level (all candidates of one score), then a candidate of that level, uniformly."""
        scores = whole_scores(self.scores)
        levels, members = np.unique(scores, return_counts=True)
        unit = exact(self.cost.epsilon) / (2 * exact(self.sensitivity))  # [X1]
        heights = [int(level) - int(levels[0]) for level in levels]

        def weights(bits: int) -> Bounds:
            table = Powers(unit, bits)
            pairs = [table[height] for height in heights]
            low = [int(count) * small for count, (small, _) in zip(members, pairs, strict=True)]
            return low, [int(count) * large for count, (_, large) in zip(members, pairs, strict=True)]

        level = pick(weights, source)  # [X1]
        candidates = np.flatnonzero(scores == levels[level])
        return int(candidates[source.below(len(candidates))])

    def objection(self, neighbour: "Choose") -> str | None:
        """Different parameters or numbers of candidates, or a score that moves too far."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the parameters of a choice depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMax:
    """Report the index of the largest noisy score."""

    scores: Any
    sensitivity: Number
    cost: Approximate

    def __post_init__(self) -> None:
        whole_scores(self.scores)
        if self.cost.delta or not self.cost.epsilon:
            raise BadInput(f"report noisy max is pure: its cost is Approximate(epsilon, 0), not {self.cost}")
        self._scale()

    def _scale(self) -> Fraction:
        return drawn_scale(2 * claimed(self.sensitivity) / exact(self.cost.epsilon))  # [X2]

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: Source) -> int:
        """The largest score plus geometric noise."""
        scores = whole_scores(self.scores)
        noise = geometric(source, scores.size, self._scale())
        noisy = [int(score) + int(extra) for score, extra in zip(scores, noise, strict=True)]
        return noisy.index(max(noisy))  # [X2]

    def objection(self, neighbour: "NoisyMax") -> str | None:
        """Different parameters or numbers of candidates, or a score that moves too far."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the parameters of a noisy maximum depend on the data"
        return score_objection(self.scores, neighbour.scores, self.sensitivity)
