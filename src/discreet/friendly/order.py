"""Who is looked at, and in what order: by chance, and independently of what the rows hold.

Promise
    [FO1] REPLACE: places are chosen by a public shuffle of a public number of rows. Given the shuffle, replacing one
          row replaces at most one of those chosen, at the same place.
    [FO2] ADD_OR_REMOVE: given a secret key, whatever it is, adding a row adds at most one to those chosen, and leaves
          the others in the same order.
Why
    [FO1] The shuffle reads nothing but the number of rows.
    [FO2] Under ADD_OR_REMOVE a row's place tells how many came before it, so chance must stick to the row. The k-th of
    several equal rows gets a priority: 64 bits of a hash of the row's bits, k and the key. Equal rows cannot be told
    apart, so adding a row adds a new k to those that equal it and changes no other priority. A row is chosen if its
    priority is below a bound, and those chosen are sorted by priority, then by what they hold. Neither relies on the
    hash being a good one: that is for accuracy alone.
Needs
    Under ADD_OR_REMOVE a bound on priorities that is public or was released.
Accuracy
    Every set of rows of this size is as likely as any other; under ADD_OR_REMOVE rows are chosen independently, up to
    the quality of the hash.
Source
    Partial shuffle: Fisher and Yates 1938, Durstenfeld 1964. The hash: the finaliser of SplitMix64 (Steele, Lea and
    Flood 2014), column by column.
"""

from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.promise.mechanism import Randomness

WORD: Final = 2**64
ODD: Final = 0x9E3779B97F4A7C15
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def shuffled(size: int, most: int, rng: Randomness) -> Places:
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


def prioritised(rows: Floats, rate: Fraction, rng: Randomness) -> Places:
    """Places of rows chosen with probability `rate` each, in random order. [FO2]"""
    key = rng.below(WORD)
    bits = _bits(rows)
    priority = _mixed(_hashed(bits, key), _occurrence(bits, key))
    bound = int(rate * WORD)
    chosen = np.flatnonzero(priority < np.uint64(bound)) if bound < WORD else np.arange(len(rows))
    columns = [bits[chosen, column] for column in range(bits.shape[1])]
    return chosen[np.lexsort((*columns, priority[chosen]))]  # [FO2]


def _bits(rows: Floats) -> Words:
    """Rows as they are told apart: bit by bit, as whoever reads them next may tell -0 from 0. [FO2]"""
    return np.ascontiguousarray(rows, dtype=np.float64).view(np.uint64)


def _hashed(bits: Words, key: int) -> Words:
    """64 bits of each row."""
    found = np.full(len(bits), key, dtype=np.uint64)
    for column in range(bits.shape[1]):
        found = _mixed(found, bits[:, column])
    return found


def _mixed(one: Words, other: Words) -> Words:
    """SplitMix64's finaliser of one word after another."""
    word = (one ^ other) * np.uint64(ODD) + np.uint64(ODD)
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)), dtype=np.uint64)


def _occurrence(bits: Words, key: int) -> Words:
    """For each row, how many rows before it are equal to it."""
    size = len(bits)
    if not size:
        return np.empty(0, dtype=np.uint64)
    label: npt.NDArray[Any] = _hashed(bits, key)
    order = np.argsort(label, kind="stable")
    together = label[order[1:]] == label[order[:-1]]
    if together.any():
        same = (bits[order[1:][together]] == bits[order[:-1][together]]).all(axis=1)
        if not same.all():  # different rows with one hash: label them by what they hold
            label = np.unique(bits, axis=0, return_inverse=True)[1].reshape(-1)
            order = np.argsort(label, kind="stable")
            together = label[order[1:]] == label[order[:-1]]
    starts = np.concatenate([[0], np.flatnonzero(~together) + 1])
    counted = np.arange(size) - np.repeat(starts, np.diff(np.append(starts, size)))
    found = np.empty(size, dtype=np.uint64)
    found[order] = counted.astype(np.uint64)
    return found  # [FO2]
