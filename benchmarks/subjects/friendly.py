"""The audited mechanisms of friendly."""

from benchmarks.subjects.subject import ADD, NEAR, NUMBERS, REPLACE, SPREAD, TUPLES, Subject, edge_pairs
from discreet.friendly import FriendlyMean, TupleCore, Within, friendly
from discreet.friendly.refine import RefinedMean
from discreet.statistics.count import Count

SUBJECTS = {
    "FriendlyMean": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, neighbours=r, columns=1),
        NEAR,
        edge_pairs(1.0, -1.0, [0.0] * 20),
        least=20,
    ),
    "FriendlyMean, weights": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, neighbours=r, method="weights", columns=1),
        NEAR,
        edge_pairs(1.0, -1.0, [0.0] * 30),
        least=30,
        only=REPLACE,
    ),
    "FriendlyMean, reference": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, neighbours=r, method="reference", columns=1),
        NEAR,
        edge_pairs(1.0, -1.0, [0.0] * 20),
        least=20,
        only=REPLACE,
    ),
    "TupleCore": Subject(
        lambda r: TupleCore(1.0, 2, epsilon=8.0, delta=1e-4, neighbours=r, columns=2),
        TUPLES,
        edge_pairs((1.0, 8.0), (-1.0, 8.0), [(0.0, 8.0)] * 20),
        least=20,
    ),
    # for replaced rows the inner sensitivity is that of one row, and the loss that of two: see its own tests
    "friendly(Count)": Subject(
        lambda _: friendly(Count(1.0, ADD), Within(1.0), neighbours=ADD, columns=1),
        NEAR,
        edge_pairs(1.0, 9.0, [0.5] * 5),
        only=ADD,
    ),
    "RefinedMean": Subject(
        lambda r: RefinedMean(12.0, 1e-6, dimension=1, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=200
    ),
    "RefinedMean, known scale": Subject(
        lambda r: RefinedMean(8.0, 1e-6, dimension=1, sigma=0.3, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=100,
    ),
    "RefinedMean, blocks": Subject(
        lambda r: RefinedMean(20.0, 1e-5, dimension=1, neighbours=r, method="blocks"),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=200,
    ),
}
