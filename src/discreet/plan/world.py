"""A made-up world: where rows come from, what the truth is, and how far an answer is from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.plan.limits import Told
from discreet.plan.shapes import Generator

Floats = npt.NDArray[np.float64]
RUNS = 48


def flat(value: Any) -> Floats:
    """The numbers of an answer, in one row."""
    if hasattr(value, "coef"):
        return np.append(np.asarray(value.coef, dtype=float).ravel(), float(value.intercept))
    if isinstance(value, Mapping):
        return np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in value.values()])
    return np.atleast_1d(np.asarray(value, dtype=float)).ravel()


def norm(errors: Floats, _truth: Floats) -> Floats:
    """The Euclidean length of each row of errors."""
    found: Floats = np.sqrt((errors**2).sum(axis=1))
    return found


@dataclass(frozen=True)
class World:
    """`make` gives the verb's arguments, `read` the numbers of its answer, `plain` those of an answer without privacy.

    `gap` measures rows of errors. `parts` says that the error of the released number is a sampling part and noise, as
    its own error bar has them, and `skewed` that clipping may bias it; `sums` that errors of several numbers add up
    from both, so that those of different runs may be combined.
    """

    make: Callable[[Generator, int], tuple[Any, ...]]
    truth: Floats
    plain: Callable[..., Floats]
    measure: str
    read: Callable[[Any], Floats] = flat
    gap: Callable[[Floats, Floats], Floats] = norm
    sampling: Callable[[int], float] | None = None  # of the answer without privacy, where it has a closed form
    parts: bool = False
    skewed: bool = False
    sums: bool = True
    rate: float = 0.5  # errors that do not add up fall as this power of the rows
    runs: int = RUNS
    width: Callable[[Any, float], float] | None = None  # of a spread, where intervals of parts are no answer
    most: int = 20_000  # rows that are made up; beyond that errors are scaled
    floor: Callable[[int, Told], float] | None = None
    floor_note: str = "no floor is known for this statistic"
