"""Who is looked at, and in what order, where the number of rows is public: by chance alone.

Promise
    [FO1] REPLACE: places are chosen by a public shuffle of a public number of rows. Given the shuffle, replacing one
          row replaces at most one of those chosen, at the same place.
Why
    [FO1] The shuffle reads nothing but the number of rows. Where that is private, see [TP1] of sample.py.
Accuracy
    Every set of rows of this size is as likely as any other.
Source
    Partial shuffle: Fisher and Yates 1938, Durstenfeld 1964.
"""

import numpy as np

from discreet.friendly.matrix import Integers
from discreet.promise.mechanism import Randomness


def shuffled(size: int, most: int, rng: Randomness) -> Integers:
    """`most` places of `size`, or all if they are fewer, in random order. [FO1]"""
    if size <= most:
        return rng.permutation(size)
    moved: dict[int, int] = {}
    chosen = np.empty(most, dtype=np.int64)
    for place in range(most):
        other = place + rng.below(size - place)
        chosen[place] = moved.get(other, other)
        moved[other] = moved.get(place, place)
    return chosen  # [FO1]
