"""The audited mechanisms of clusters."""

from benchmarks.subjects.subject import NUMBERS, POINTS, Subject, edge_pairs
from discreet.lectures.lloyd_steps import PrivateLloyd
from discreet.models.friendly_kmeans import FriendlyKMeans
from discreet.models.kmeans import LloydKMeans

CORNERS = [(1.0, 1.0), (-1.0, 1.0)] * 15
TWO = [float(k % 2 * 40) + (k % 7) / 7 for k in range(1400)]

SUBJECTS = {
    "LloydKMeans": Subject(
        lambda r: LloydKMeans(2, 20.0, 1e-4, radius=3.0, with_loss=True, columns=2, neighbours=r),
        POINTS,
        edge_pairs((3.0, 0.0), (-3.0, 0.0), CORNERS),
        least=30,
    ),
    "LloydKMeans, pure": Subject(
        lambda r: LloydKMeans(2, 40.0, 0.0, radius=3.0, with_loss=True, columns=2, neighbours=r),
        POINTS,
        edge_pairs((3.0, 0.0), (-3.0, 0.0), CORNERS),
        least=30,
    ),
    "LloydKMeans, no ball": Subject(
        lambda r: LloydKMeans(2, 60.0, 0.0, columns=1, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [0.0, 1.0] * 60),
        least=120,
    ),
    "PrivateLloyd": Subject(
        lambda r: PrivateLloyd(2, 2, 20.0, radius=3.0, average_last=2, columns=2, neighbours=r),
        POINTS,
        edge_pairs((3.0, 0.0), (-3.0, 0.0), CORNERS),
    ),
    "LloydKMeans, lectured": Subject(
        lambda r: LloydKMeans(2, 20.0, 1e-4, centred=False, radius=3.0, iterations=2, columns=2, neighbours=r),
        POINTS,
        edge_pairs((3.0, 0.0), (-3.0, 0.0), CORNERS),
        least=30,
    ),
    "LloydKMeans, lectured, pure": Subject(
        lambda r: LloydKMeans(2, 40.0, 0.0, centred=False, radius=3.0, columns=2, neighbours=r),
        POINTS,
        edge_pairs((3.0, 0.0), (-3.0, 0.0), CORNERS),
        least=30,
    ),
    "FriendlyKMeans": Subject(
        lambda r: FriendlyKMeans(2, 100.0, 1e-5, columns=1, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, TWO),
        least=1400,
    ),
}
