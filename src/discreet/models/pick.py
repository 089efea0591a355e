"""Which method for a logistic regression, by public numbers alone, and why."""

import math
from dataclasses import replace

from discreet.errors import BadInput
from discreet.models.descent import Descent
from discreet.models.features import Features
from discreet.models.objective import ObjectivePerturbation
from discreet.noise.tilted_minimum import WIDEST
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.values import Coefficients


def picked(
    features: Features,
    epsilon: Number,
    delta: Number,
    *,
    confidence: float | None,
    neighbours: Neighbours,
    unit: str,
    size: int | None,
) -> Mechanism[Coefficients]:
    """A tilted minimum, unless noisy descent has less noise or is the one that has intervals."""
    if not delta:
        if features.size > WIDEST:
            raise BadInput(
                f"there are {features.size} coefficients; with delta 0 at most {WIDEST} can be found; give delta=1e-6"
            )
        note = "method 'objective': with delta 0 it is the one that there is"
        return ObjectivePerturbation(features, epsilon, None, confidence, neighbours, unit, size, (note,))
    descent = Descent(features, epsilon, delta, "logistic", None, neighbours, unit, size)
    if features.size > WIDEST:
        return replace(descent, notes=(f"method 'descent': there are more than {WIDEST} coefficients",))
    tilted = ObjectivePerturbation(features, epsilon, None, confidence, neighbours, unit, size)
    length = 1 if neighbours is Neighbours.ADD_OR_REMOVE else 2
    noise = (
        math.sqrt(features.size + 1) / float(tilted.rate(tilted.shares(size))),
        length / float(descent.plan(size).last.mu),
    )
    if noise[1] < noise[0]:
        return replace(descent, notes=("method 'descent': with so many coefficients its noise is the smaller",))
    if confidence is not None and not tilted.informative(size) and descent.informative(size):
        return replace(descent, notes=("method 'descent': with so few people it is the one that has intervals",))
    note = "method 'objective': with so few coefficients its noise is the smaller; it is pure, and delta is not used"
    return ObjectivePerturbation(features, epsilon, None, confidence, neighbours, unit, size, (note,))
