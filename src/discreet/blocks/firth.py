"""Logistic and Poisson regression with Firth's correction, on one block.

Claims
    [BB2] The row is a function of the block alone: the zero of Firth's adjusted score, from a start and by steps that
          depend on nothing but the block. NaN where they do not settle, or where it is not the only one.

On a small block the maximum of the likelihood lies too far out (by 18 standard errors of the whole answer in blocks of
20 people with 6 numbers), and where a line separates the outcomes it lies nowhere; comparing with half blocks makes it
worse, as halves are separated more often. Firth's score adds h (1/2 - p) to each residual (Poisson: h / 2), h the row's
leverage: for canonical links it is that of Jeffreys' prior. Its zero is finite and its bias is of the order 1 / m^2.

Source
    Firth 1993, Biometrika 80; Heinze and Schemper 2002 (separation); Kosmidis and Firth 2009 (other models).
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.blocks.newton import POOR, factored, response, started

Floats = npt.NDArray[np.float64]
STEPS: Final = 60
FARTHEST: Final = 2.0  # a step's largest move of the linear predictor of any row
SETTLED: Final = 1e-9  # the same, at which it is there


def firth(x: Floats, y: Floats, law: str, intercept: bool) -> Floats:
    """Slopes, then the intercept. [BB2]"""
    x, at, linear = started(x, y, law, intercept, 0.5 / len(x))  # [BB2]
    for _ in range(STEPS):
        mean, curve = response(linear, law)
        factors = factored(x.T @ (x * curve[:, None]))
        if factors is None:
            break
        leverage = np.minimum(1.0, curve * np.einsum("ij,ij->i", x @ factors[0], x))
        pull = 0.5 - mean if law == "logistic" else 0.5
        step = factors[0] @ (x.T @ (y - mean + leverage * pull))
        moved = x @ step
        reach = float(np.abs(moved).max())
        if not np.isfinite(reach):
            break
        share = min(1.0, FARTHEST / max(reach, 1e-300))
        at = at + share * step
        if reach < SETTLED:
            return at if factors[1] < POOR else np.full_like(at, np.nan)
        linear = linear + share * moved
    return np.full_like(at, np.nan)
