"""The mean of all rows that agree with a few: as many comparisons as rows times references.

Releases
    As centre.py, from all rows.
Promise
    [FF1] REPLACE: the losses `test` and `mean`, and an event of probability `miss`.
Why
    [FF1] MatchCore on the pairs that have one of the first m rows, by a public shuffle, in them: [FC4] holds for any
    list of pairs. Every survivor is a friend of every surviving reference. Let b = min(M, M') and m >= 2B + 3, B >= b
    as in centre.py, [FM1]: at least 3 references survive in the larger of S and S'. If S = I + {p}, S' = I + {q}: a
    reference in I is a friend of both, so the mean moves by at most 2r / (n - 2b). If S = S' + {p, q}: a reference t
    in S' is within r of p, of q and of all of S', so of its mean; p and q are within 2r of that mean, which moves by
    at most 4r / (n - 2b). The rest is as there, with 4r in place of 2r.
Needs
    REPLACE; more than twice as many references as pairs are dropped, and the margin of the test.
Accuracy
    Noise of 4r / (survivors mu) on each coordinate, from n rows instead of 4,096. It counts strangers one by one: with
    a constant share of them among very many rows it refuses.
Source
    As centre.py.
"""

from fractions import Fraction
from typing import Final

from discreet.errors import BadInput
from discreet.friendly.average import Centre, Lattice
from discreet.friendly.centre import check_table, fewest, survivors_at_least
from discreet.friendly.core import match_core
from discreet.friendly.grid import UNITS, Apart, Points
from discreet.friendly.matrix import Floats, Rows, take
from discreet.friendly.tally import check_costs
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness

REFERENCES: Final = 1024


def reference_centre(
    rows: Floats | Rows,
    radius: float,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    rng: Randomness,
    least: int | None = None,
    references: int = REFERENCES,
) -> Centre | None:
    """The noisy mean of all rows that agree with the references; None if too few do. REPLACE only. [FF1]"""
    table = check_table(rows, radius)
    check_costs(test, mean, miss)
    if not radius:
        raise BadInput("the radius is 0; references need a positive one; use method='match'")
    size, units = table.size, Fraction(4 * UNITS)  # [FF1]
    lattice = Lattice.for_mean(table.width, units / max(1, size), mean.mu)
    points = Points.of(take(table, rng.permutation(size)), radius, lattice.reach)
    core = match_core(Apart(points), min(references, size))
    count = survivors_at_least(core, test, miss, size, rng)
    if count < fewest(least, size) or min(references, size) < (size - count) + 3:  # [FF1]: m >= 2B + 3
        return None
    kept = points.steps[core.survivors[points.valid[core.survivors]]]
    found = lattice.blurred(lattice.mean(kept), units / count, radius=radius, cost=mean, rng=rng)
    return Centre(found.point, found.deviation, count)
