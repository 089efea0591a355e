"""A noisy symmetric matrix, drawn towards another by as much as its noise explains. It reads what was released."""

import math

import numpy as np

from discreet.stages.clip import Floats


def drawn_towards(
    found: Floats, noise: float, target: Floats, *, most: float = 1.0, diagonal: bool = True
) -> tuple[Floats, float]:
    """`found`, with noise of this deviation on its diagonal and that over the root of 2 off it, drawn towards `target`;
    and the noise that is left.

    The part of their squared difference that the noise explains is the weight of the target, up to `most`: the best one
    for the mean squared error (Ledoit and Wolf 2004). What is left is the deviation of an entry given both. Without
    `diagonal` both have the same one.

    >>> found = np.array([[4.0, 1.0], [1.0, 6.0]])
    >>> drawn_towards(found, 0.0, np.eye(2))[0].tolist()
    [[4.0, 1.0], [1.0, 6.0]]
    >>> drawn_towards(found, 0.5, np.diag([4.0, 6.0]), diagonal=False)[0].tolist()
    [[4.0, 0.875], [0.875, 6.0]]
    """
    apart, many = found - target, len(found)
    explained = noise**2 * many * (many + 1 if diagonal else many - 1) / 2
    weight = min(most, explained / max(float((apart**2).sum()), 1e-300))
    return found - weight * apart, noise * math.sqrt(1 - weight)


def to_diagonal(found: Floats, noise: float) -> tuple[Floats, float]:
    """The same with its own diagonal as the target: columns that hardly depend on each other stay apart.

    >>> to_diagonal(np.array([[4.0, 0.1], [0.1, 6.0]]), 1.0)[0].tolist()
    [[4.0, 0.0], [0.0, 6.0]]
    """
    return drawn_towards(found, noise, np.diag(np.diag(found)), diagonal=False)


def apart_from(found: Floats, noise: float) -> Floats:
    """`found`, with noise as above, its entries beside the diagonal drawn towards 0 by as much as the noise explains,
    and none by more than its own noise.

    The weight is that of James and Stein 1961: whatever the truth is, the squared errors together are no more to expect
    than those of `found`, for this noise or more. The limit is that of Efron and Morris 1972: an entry that stands out
    among others that are 0 stays within one deviation of where it was found.

    >>> apart_from(np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.1], [0.2, 0.1, 1.0]]), 0.5).round(2).tolist()
    [[1.0, 0.77, 0.17], [0.77, 1.0, 0.09], [0.17, 0.09, 1.0]]
    >>> apart_from(np.array([[1.0, 0.2], [0.2, 1.0]]), 0.5).tolist()  # one number alone is where it is
    [[1.0, 0.2], [0.2, 1.0]]
    """
    many, beside = len(found), found - np.diag(np.diag(found))
    explained = noise**2 * max(many * (many - 1) / 2 - 2, 0.0)  # beside: the squares of both halves
    weight = min(1.0, explained / max(float((beside**2).sum()), 1e-300))
    most = noise / math.sqrt(2)
    return np.asarray(found - np.clip(weight * beside, -most, most))
