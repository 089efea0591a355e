"""`make audit`: every mechanism against many generated neighbours, and against its own outputs.

Replay: generated pairs of neighbours under both relations, with offsets to 1e12, ties, infinities and missing values;
the figure is the number of violations. Distinguish: crafted pairs, many releases on each side, confidence 99.99%; the
figure is the largest lower bound on epsilon over the promised one.
"""

import argparse
import sys
from collections.abc import Iterator
from multiprocessing import Pool

import numpy as np
from rich.console import Console

from benchmarks.subjects import SUBJECTS
from benchmarks.subjects.subject import ADD, NUMBERS, PLACES, REPLACE, SCALES, Subject
from discreet import audit
from discreet.audit.replay import FATES, free_draws, replay
from discreet.audit.worlds import HOSTILE
from discreet.privacy.guarantee import Neighbours


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
