"""`make audit`: every mechanism against many generated neighbours, and against its own outputs.

Replay: generated pairs of neighbours under both relations, with offsets to 1e12, ties, infinities and missing values;
the figure is the number of violations. Distinguish: crafted pairs, many releases on each side, confidence 99.99%; the
figure is the largest lower bound on epsilon over the promised one.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import Pool
from typing import Any

import numpy as np
from rich.console import Console

from discreet import audit
from discreet.audit.replay import FATES, free_draws, replay
from discreet.audit.worlds import HOSTILE
from discreet.blocks.aggregate import SubsampleAggregate
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import FunctionFit
from discreet.blocks.friend import BlockFriends
from discreet.blocks.halfway import BlockMedian
from discreet.blocks.probe import Probed
from discreet.blocks.shape import Shape
from discreet.blocks.vote import OpenVote, Vote
from discreet.friendly import FriendlyMean, TupleCore, Within, friendly
from discreet.friendly.refine import RefinedMean
from discreet.promise.mechanism import Mechanism
from discreet.promise.neighbours import Neighbours
from discreet.statistics.bins import Categories, Edges
from discreet.statistics.count import Count
from discreet.statistics.covariance import Covariance
from discreet.statistics.gaussian import Gaussian1D, GaussianMean
from discreet.statistics.histogram import Histogram
from discreet.statistics.hypothesis import ProportionTest
from discreet.statistics.lectures import ClippedMean, KarwaVadhan, StabilityMean, TwoStageMean
from discreet.statistics.mean import BoundedMean, RankClippedMean
from discreet.statistics.multivariate import MultivariateGaussian
from discreet.statistics.open_histogram import OpenHistogram, SparseHistogram
from discreet.statistics.proportion import Proportion
from discreet.statistics.quantile import Quantile
from discreet.statistics.variance import Variance

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


@dataclass(frozen=True)
class Subject:
    """A mechanism, the rows it is fed with, and the pairs that should tell most."""

    mechanism: Callable[[Neighbours], Mechanism[Any]]
    values: tuple[Any, ...]
    pairs: Callable[[Neighbours], list[audit.Pair]]
    least: int = 1
    only: Neighbours | None = None


def edge_pairs(one: Any, other: Any, crowd: list[Any]) -> Callable[[Neighbours], list[audit.Pair]]:
    """Four pairs around a crowd: the odd row alone, first, last, and in both directions."""

    def pairs(relation: Neighbours) -> list[audit.Pair]:
        if relation is ADD:
            return [
                audit.Pair(crowd, [*crowd, one]),
                audit.Pair([*crowd, other], crowd),
                audit.Pair([one, *crowd], crowd),
                audit.Pair(crowd[:1], []),
            ]
        return [
            audit.Pair([*crowd, one], [*crowd, other]),
            audit.Pair([other, *crowd], [one, *crowd]),
            audit.Pair([*crowd, one, one], [*crowd, one, other]),
            audit.Pair([one], [other]),
        ]

    return pairs


NUMBER, YES_NO, TEXT = Shape("number", ("value",)), Shape("label", ("label",), labels=(0, 1)), Shape("text", ("label",))


def probed(relation: Neighbours) -> Probed:
    """A mean of 10 blocks, and of 20."""
    fit = SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(10, 1, 20.0), relation)
    return Probed(fit, replace(fit, aggregator=BlockMean(20, 1, 20.0)))


def above_one(x: Any) -> int:
    """A vote."""
    return int(x.mean() > 1)


NUMBERS = (0.0, 1.0, 2.0, 0.5, 1e12, 1e12 + 1, -1e12, 5e-324, 1e300, math.inf, -math.inf, math.nan)
PLACES, SCALES = (0.0, 1.0, -1e6, 1e12, 1e300), (0.0, 5e-324, 1e-300, 1e-3, 1.0, 1e6, 1e300)
LABELS = ("a", "b", "c", "d", None, 1, True, 1.0, math.nan, "", "é")
SPREAD = [0.5 + index / 200 for index in range(200)]
NEAR = (0.0, 0.5, 1.0, 1.5, 1e12, 1e300, math.inf, math.nan)
TUPLES = ((0.0, 8.0), (8.0, 0.5), (0.5, 8.5), (1.0, 9.0), (0.0, 1.0), (0.0, math.nan), (1e12, 0.0), 3.0)
WIDE = (0, 1, 2, 10**9 - 1, 10**9, -1, 0.5, math.nan, math.inf)
POINTS = tuple((x, y) for x in (0.0, 1.0, -3.0, 1e12, 1e300, math.inf, math.nan) for y in (0.0, 2.0, -1e9, -math.inf))
CLOUD = [(math.cos(7.0 * k) + math.sin(3.0 * k), math.sin(2.0 * k)) for k in range(400)]
SUBJECTS = {
    "Count": Subject(lambda r: Count(1.0, r), NUMBERS, edge_pairs(1, 0, [1, 1, 0])),
    "Proportion": Subject(lambda r: Proportion(1.0, r), NUMBERS, edge_pairs(1, 0, [1, 0] * 5)),
    "ProportionTest": Subject(lambda r: ProportionTest(0.5, 1.0, neighbours=r), NUMBERS, edge_pairs(1, 0, [1, 0] * 5)),
    "Histogram, categories": Subject(
        lambda r: Histogram(Categories.of(["a", "b", 1]), 1.0, neighbours=r), LABELS, edge_pairs("a", "b", ["a"] * 3)
    ),
    "Histogram, edges": Subject(
        lambda r: Histogram(Edges.of([-1, 0, 1, 1e13]), 1.0, neighbours=r), NUMBERS, edge_pairs(0, 1, [0.5] * 3)
    ),
    "Histogram, Gaussian": Subject(
        lambda r: Histogram(Categories.of(["a", "b", 1]), 1.0, 1e-6, "gaussian", r),
        LABELS,
        edge_pairs("a", "b", ["a"] * 3),
    ),
    "OpenHistogram": Subject(
        lambda r: OpenHistogram(2.0, 1e-4, r), LABELS, edge_pairs("a", "z", ["a"] * 16 + ["b"] * 3), least=14
    ),
    "SparseHistogram": Subject(
        lambda r: SparseHistogram(range(10**9), 1.0, neighbours=r), WIDE, edge_pairs(7, 8, [7] * 40)
    ),
    "Quantile": Subject(lambda r: Quantile(0.5, 4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, SPREAD), least=100),
    "Quantile, points": Subject(
        lambda r: Quantile((0.25, 0.5), 1.0, (-1e13, 1e13), None, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 2.0, [1.0] * 4),
    ),
    "Quantile, guaranteed": Subject(
        lambda r: Quantile(0.5, 4.0, guaranteed=True, neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, SPREAD), least=200
    ),
    "GaussianMean": Subject(
        lambda r: GaussianMean(4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "RankClippedMean": Subject(lambda r: RankClippedMean(4.0, r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Variance": Subject(lambda r: Variance(8.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Variance, gaussian": Subject(
        lambda r: Variance(4.0, "gaussian", neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "Gaussian1D": Subject(lambda r: Gaussian1D(4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Covariance": Subject(
        lambda _: Covariance(16.0, 1e-5, dimension=2),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
        REPLACE,
    ),
    "MultivariateGaussian": Subject(
        lambda _: MultivariateGaussian(16.0, 1e-5, 2),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
        REPLACE,
    ),
    "SubsampleAggregate, BlockMean": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(10, 1, 20.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=10,
    ),
    "SubsampleAggregate, BlockFriends": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockFriends(60, 1, 30.0, 1e-4), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=60,
    ),
    "Probed": Subject(probed, NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=20),
    "SubsampleAggregate, BlockMedian": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMedian(20, 1, 20.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=20,
    ),
    "SubsampleAggregate, Vote": Subject(
        lambda r: SubsampleAggregate(FunctionFit(above_one), YES_NO, Vote(5, 2, 1.0), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 5),
        least=5,
    ),
    "SubsampleAggregate, OpenVote": Subject(
        lambda r: SubsampleAggregate(FunctionFit(lambda x: str(above_one(x))), TEXT, OpenVote(20, 2.0, 1e-4), r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 20),
        least=20,
    ),
    "BoundedMean": Subject(lambda r: BoundedMean(0.0, 2.0, 1.0, r), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 5)),
    "ClippedMean": Subject(
        lambda _: ClippedMean(2.0, 1.0, 1.0), NUMBERS, edge_pairs(-1e12, 1e12, [1.0] * 5), only=REPLACE
    ),
    "TwoStageMean": Subject(
        lambda _: TwoStageMean(2.0, 1.0, 1.0), NUMBERS, edge_pairs(0.0, 1e12, [0.5] * 5), only=REPLACE
    ),
    "StabilityMean": Subject(
        lambda _: StabilityMean(1.0, 4.0, 1e-4), NUMBERS, edge_pairs(0.0, 1e12, [0.5] * 30), least=20, only=REPLACE
    ),
    "KarwaVadhan": Subject(
        lambda _: KarwaVadhan(2.0, (0.1, 1.0), 1.0), NUMBERS, edge_pairs(0.0, 1e12, [0.5, 0.7] * 5), only=REPLACE
    ),
    "FriendlyMean": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, r, columns=1), NEAR, edge_pairs(1.0, -1.0, [0.0] * 20), least=20
    ),
    "FriendlyMean, weights": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, r, "weights", columns=1),
        NEAR,
        edge_pairs(1.0, -1.0, [0.0] * 30),
        least=30,
        only=REPLACE,
    ),
    "FriendlyMean, reference": Subject(
        lambda r: FriendlyMean(1.0, 8.0, 1e-4, r, "reference", columns=1),
        NEAR,
        edge_pairs(1.0, -1.0, [0.0] * 20),
        least=20,
        only=REPLACE,
    ),
    "TupleCore": Subject(
        lambda r: TupleCore(1.0, 2, 8.0, 1e-4, r, columns=2),
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
        lambda r: RefinedMean(12.0, 1e-6, 1, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=200
    ),
    "RefinedMean, known scale": Subject(
        lambda r: RefinedMean(8.0, 1e-6, 1, 0.3, r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "RefinedMean, blocks": Subject(
        lambda r: RefinedMean(20.0, 1e-5, 1, neighbours=r, method="blocks"),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=200,
    ),
}


def generated(subject: Subject, relation: Neighbours, pairs: int, rng: np.random.Generator) -> Iterator[audit.Pair]:
    """Random tables with one odd row: few distinct values, or (of numbers) many around one place on one scale.

    One in five has any size from 1 up, the others up to 40 rows more than the mechanism needs to answer.
    """
    pool = (*subject.values, *HOSTILE)
    for index in range(pairs):
        least = 1 if index % 5 == 0 else subject.least
        size = int(rng.integers(0, 40)) + least
        if subject.values is NUMBERS and index % 2:
            rows = list(rng.normal(rng.choice(PLACES), rng.choice(SCALES), size))
        else:
            some = [pool[i] for i in rng.integers(len(pool), size=rng.integers(1, 6))]
            rows = [some[i] for i in rng.integers(len(some), size=size)]
        place = int(rng.integers(size))
        odd = [*rows[:place], pool[rng.integers(len(pool))], *rows[place + (relation is REPLACE) :]]
        yield audit.Pair(rows, odd) if rng.integers(2) else audit.Pair(odd, rows)


def replay_all(name: str, relation: Neighbours, pairs: int) -> list[str]:
    """Every objection on generated neighbours."""
    subject, found = SUBJECTS[name], []
    mechanism, rng = subject.mechanism(relation), np.random.default_rng(0)
    for index, pair in enumerate(generated(subject, relation, pairs, rng)):
        fates = FATES if index == 0 and free_draws(mechanism, pair) else FATES[:1]
        for fate in fates:
            found += replay(mechanism, pair, seed=index, fate=fate)
    return found


def reached(name: str, relation: Neighbours, runs: int) -> float:
    """The largest lower bound on epsilon over the promised one, on crafted pairs."""
    subject = SUBJECTS[name]
    mechanism = subject.mechanism(relation)
    pairs = [
        pair
        for pair in subject.pairs(relation)
        if min(len(pair.left), len(pair.right)) >= subject.least or relation is ADD
    ]
    bounds = [audit.distinguish(mechanism, pair.left, pair.right, runs=runs, seed=i) for i, pair in enumerate(pairs)]
    return max(told.epsilon / told.claimed for told in bounds)


def judged(work: tuple[str, Neighbours, int, int]) -> tuple[list[str], float]:
    """The objections to one mechanism under one relation, and the share of epsilon that its outputs reach."""
    name, relation, pairs, runs = work
    return replay_all(name, relation, pairs), reached(name, relation, runs)


def main() -> None:
    """Run it all and print a table; exit code 1 if anything was violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000, help="generated neighbours a mechanism and relation")
    parser.add_argument("--runs", type=int, default=20_000, help="releases on each side of a crafted pair")
    parser.add_argument("--only", help="one mechanism, by name")
    wanted = parser.parse_args()
    bad, console = 0, Console(width=120, highlight=False)
    console.print(f"{'mechanism':<24}{'neighbours':<16}{'pairs':>8}{'violations':>12}{'epsilon reached':>18}")
    jobs = [(name, relation) for name in SUBJECTS for relation in (REPLACE, ADD)]
    jobs = [(name, relation) for name, relation in jobs if wanted.only in (None, name)]
    jobs = [(name, relation) for name, relation in jobs if SUBJECTS[name].only in (None, relation)]
    work = [(name, relation, wanted.pairs, wanted.runs) for name, relation in jobs]
    with Pool() as pool:
        for (name, relation), (objections, share) in zip(jobs, pool.imap(judged, work), strict=True):
            bad += len(objections) + (share > 1)
            console.print(f"{name:<24}{relation.name:<16}{wanted.pairs:>8}{len(objections):>12}{share:>18.2f}")
            for objection in sorted(set(objections))[:3]:
                console.print(f"    {objection}", style="red")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
