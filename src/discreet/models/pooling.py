"""What several noisy sums tell together: the information from two of them, and a fit from several steps.

Everything here is computed from what was released: it costs nothing and promises nothing.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.stages.clip import Floats
from discreet.stages.shrinkage import drawn_towards

MOST: Final = 0.8  # that the first sum weighs beside the second


def pooled(information: Floats, noise: float, first: Floats) -> tuple[Floats, float]:
    """A noisy sum of outer products, drawn towards a `first` one in the same frame, and the noise that is left.

    The first one is scaled to the same trace.

    >>> second, first = np.array([[4.0, 1.0], [1.0, 6.0]]), np.eye(2)
    >>> pooled(second, 0.0, first)[0].tolist()
    [[4.0, 1.0], [1.0, 6.0]]
    >>> pooled(second, 1.0, first)[0].round(2).tolist()
    [[4.75, 0.25], [0.25, 5.25]]
    """
    scale = float(np.trace(first))
    if not scale > 0:
        return information, noise
    return drawn_towards(information, noise, first * (float(np.trace(information)) / scale), most=MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Newton steps, averaged: `step` in the frame, the noise of its score, and by how much clipping cut it.

    `gain` is the part of the last one that is taken.
    """

    step: Floats
    noise: float
    excess: float
    gain: float = 1.0

    @classmethod
    def none(cls, many: int) -> "Steps":
        """Before the first: so many numbers, nothing known."""
        return cls(np.zeros(many), math.inf, 0.0)

    def error(self, information: float) -> float:
        """The squared error of the score to expect, with so much noise on the information."""
        many = len(self.step)
        wrong = information**2 / 2 * (many + 1) * float(self.step @ self.step)
        return many * self.noise**2 + wrong + self.excess**2

    def then(self, last: "Steps", information: float) -> "Steps":
        """These and one more, weighted by their errors.

        Where the steps before led is an answer of its own, with an error of its own: a part of the last step leads
        between both answers, and in the error of that point each error has its part.

        >>> before, last = (Steps(np.zeros(2), noise, 0.0) for noise in (2.0, 1.0))
        >>> both = before.then(last, 0.0)
        >>> both.gain, round(both.noise, 3)
        (0.8, 0.894)
        """
        ours, theirs = self.error(information), last.error(information)
        if not math.isfinite(ours) or not ours + theirs > 0:
            return last
        gain = ours / (ours + theirs)
        return Steps(
            gain * last.step + (1 - gain) * self.step,
            math.hypot(gain * last.noise, (1 - gain) * self.noise),
            gain * last.excess + (1 - gain) * self.excess,
            gain,
        )
