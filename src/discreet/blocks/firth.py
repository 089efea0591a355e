"""Logistic and Poisson regression with Firth's correction, many small blocks at once.

Claims
    [BB2] Each block's row is a function of that block alone: the zero of Firth's adjusted score, from a start and by
          steps that depend on nothing but the block.

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

Floats = npt.NDArray[np.float64]
STEPS: Final = 60
FARTHEST: Final = 2.0  # a step's largest move of the linear predictor of any row
SMALL: Final = 1e-9  # of the score, per row


def firth(x: Floats, y: Floats, law: str, intercept: bool) -> Floats:
    """Slopes, then the intercept, of each of a batch of blocks; NaN where the steps do not settle. [BB2]"""
    count, size, width = x.shape
    if intercept:
        x = np.concatenate([x, np.ones((count, size, 1))], axis=2)
    at = np.zeros((count, width + intercept))
    if law == "poisson" and intercept:
        at[:, -1] = np.log(np.maximum(y.mean(axis=1), 0.5 / size))  # [BB2]: the block's own
    found = np.full(at.shape, np.nan)
    live, scale = np.arange(count), SMALL * size * np.maximum(1.0, np.abs(y).max(axis=1))
    for _ in range(STEPS):
        linear = (x @ at[:, :, None])[:, :, 0]
        if law == "logistic":
            mean = 1 / (1 + np.exp(-linear))
            curve, pull = mean * (1 - mean), 0.5 - mean
        else:
            mean = curve = np.exp(linear)
            pull = np.full_like(mean, 0.5)
        across = np.swapaxes(x, 1, 2)
        information = across @ (x * curve[:, :, None])
        diagonal = np.einsum("bii->bi", information)
        diagonal += 1e-13 * diagonal.mean(axis=1, keepdims=True) + 1e-300  # never exactly singular
        usable = np.asarray(np.isfinite(information).all(axis=(1, 2)))
        inverse = inverses(np.where(usable[:, None, None], information, np.eye(at.shape[1])))
        usable &= np.isfinite(inverse).all(axis=(1, 2))
        leverage = np.minimum(1.0, curve * np.einsum("bij,bij->bi", x @ inverse, x))
        score = (across @ (y - mean + leverage * pull)[:, :, None])[:, :, 0]
        small = usable & (np.abs(score).max(axis=1) < scale[live])
        found[live[small]] = at[small]
        kept = usable & ~small & np.isfinite(score).all(axis=1)
        if not kept.any():
            break
        step = (inverse[kept] @ score[kept][:, :, None])[:, :, 0]
        live, x, y, at = (part[kept] for part in (live, x, y, at))
        reach = np.abs((x @ step[:, :, None])[:, :, 0]).max(axis=1)
        at = at + step * np.minimum(1.0, FARTHEST / np.maximum(reach, 1e-300))[:, None]
    return found


def inverses(matrices: Floats) -> Floats:
    """The inverse of each; of a singular one NaN, which leaves the others alone. [BB2]"""
    try:
        return np.asarray(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(matrices, np.nan)
        return np.concatenate([inverses(matrices[one : one + 1]) for one in range(len(matrices))])
