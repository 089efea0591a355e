"""What exact noise costs: against NumPy's float noise, and against OpenDP's exact vector primitives.

    python -m benchmarks.noise

CPU times of one thread, medians of several rounds; the two sides of a row take turns. Ours includes drawing
its random words from OpenSSL; NumPy's generator is not secure.
"""

import ssl
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import enable_features

from benchmarks.record import Row, record
from discreet.noise import bulk

VALUES, ROUNDS = 10**6, 9
OPENDP_VALUES, OPENDP_ROUNDS = 10**5, 3
LAPLACE_BAR, GAUSSIAN_BAR, OPENDP_BAR = 4.0, 10.0, 200.0
LAPLACE = [(2, 0), (12345, 7), (1000, 0), (2**40 + 12345, 0)]
SIGMAS = [2**30, 2**31 - 1]
OPENDP_SCALES = [1000, 2**30]

Work = Callable[[], object]


def words(count: int) -> npt.NDArray[np.uint64]:
    return np.frombuffer(ssl.RAND_bytes(8 * count), dtype=np.uint64)


def seconds(rounds: int, *works: Work) -> list[float]:
    """The median CPU time of each, taken in turns after a first round that is not counted."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds + 1):
        for taken, work in zip(times, works, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return [median(taken[1:]) for taken in times]


def against_numpy(distribution: str, theirs: Work, ours: Work, bar: float) -> Row:
    """How many times as long as NumPy; at most `bar` is allowed."""
    their_time, our_time = seconds(ROUNDS, theirs, ours)
    ratio = our_time / their_time
    figure = f"CPU over numpy's float sampler ({1e3 * their_time:.1f} ms, {1e3 * our_time:.1f} ms)"
    return distribution, figure, f"{ratio:.3g}", f"<= {bar:g}", ratio <= bar


def against_opendp(distribution: str, primitive: Any, ours: Work) -> Row:
    """How many times as many values per second as OpenDP; at least OPENDP_BAR is wanted."""
    zeros = np.zeros(OPENDP_VALUES, dtype=np.int64)
    their_time, our_time = seconds(OPENDP_ROUNDS, lambda: primitive(zeros), ours)
    ratio, rates = their_time / our_time, f"{OPENDP_VALUES / their_time:.3g}, {OPENDP_VALUES / our_time:.3g}"
    figure = f"values a second over OpenDP's ({rates})"
    return distribution, figure, f"{ratio:.3g}", f">= {OPENDP_BAR:g}", ratio >= OPENDP_BAR


def measure() -> list[Row]:
    """All rows of the table."""
    enable_features("contrib")
    floats = np.random.default_rng()
    domain = vector_domain(atom_domain(T="i64"))
    rows = []
    for numerator, shift in LAPLACE:
        ours = partial(bulk.laplace, VALUES, numerator, shift, words)
        theirs = partial(floats.laplace, size=VALUES)
        rows.append(against_numpy(f"laplace {numerator / 2**shift:.4g}", theirs, ours, LAPLACE_BAR))
    for sigma in SIGMAS:
        ours = partial(bulk.gaussian, VALUES, sigma, words)
        theirs = partial(floats.standard_normal, VALUES)
        rows.append(against_numpy(f"gaussian {sigma:.4g}", theirs, ours, GAUSSIAN_BAR))
    for scale in OPENDP_SCALES:
        primitive = make_laplace(domain, l1_distance(T="i64"), scale=float(scale))
        ours = partial(bulk.laplace, OPENDP_VALUES, scale, 0, words)
        rows.append(against_opendp(f"laplace {scale:.4g}", primitive, ours))
    for sigma in OPENDP_SCALES:
        primitive = make_gaussian(domain, l2_distance(T="f64"), scale=float(sigma))
        ours = partial(bulk.gaussian, OPENDP_VALUES, sigma, words)
        rows.append(against_opendp(f"gaussian {sigma:.4g}", primitive, ours))
    return rows


if __name__ == "__main__":
    record("noise", measure(), keep=False)
