"""`make audit`: every mechanism against many generated neighbours, and against its own outputs.

Replay: generated pairs of neighbours under both relations, with offsets to 1e12, ties, infinities and missing values;
the figure is the number of violations. Distinguish: crafted pairs, many releases on each side, confidence 99.99%; the
figure is the largest lower bound on epsilon over the promised one.

Slow mechanisms may be given fewer pairs and runs: `--seconds` is the most CPU time for each half of a mechanism under a
relation. `--out FILE` keeps every figure in a JSON file, with its numbers of pairs and runs, commit and date.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.subjects import SUBJECTS
from benchmarks.subjects.subject import ADD, NUMBERS, PLACES, REPLACE, SCALES, Subject
from discreet import audit
from discreet.audit.replay import FATES, free_draws, replayed
from discreet.audit.worlds import HOSTILE
from discreet.privacy.guarantee import Neighbours

FEWEST = 1000  # runs on each side below which a bound on epsilon is not worth printing


def generated(subject: Subject, relation: Neighbours, pairs: int, rng: np.random.Generator) -> Iterator[audit.Pair]:
    """Random tables with one odd row: few distinct values, or (of numbers) many around one place on one scale.

    One in five has any size from 1 up, the others up to 40 rows more than the mechanism needs to answer; all have the
    size that the mechanism was made for, where that is public.
    """
    pool = (*subject.values, *HOSTILE)
    for index in range(pairs):
        least = 1 if index % 5 == 0 else subject.least
        size = int(rng.integers(0, 40)) + least
        if subject.size is not None and relation is REPLACE:
            size = subject.size
        if subject.ordinary and index % 2:
            rows = [subject.ordinary[i] for i in rng.integers(len(subject.ordinary), size=size)]
        elif subject.values is NUMBERS and index % 2:
            rows = list(rng.normal(rng.choice(PLACES), rng.choice(SCALES), size))
        else:
            some = [pool[i] for i in rng.integers(len(pool), size=rng.integers(1, 6))]
            rows = [some[i] for i in rng.integers(len(some), size=size)]
        place = int(rng.integers(size))
        odd = [*rows[:place], pool[rng.integers(len(pool))], *rows[place + (relation is REPLACE) :]]
        yield audit.Pair(rows, odd) if rng.integers(2) else audit.Pair(odd, rows)


def replay_all(name: str, relation: Neighbours, pairs: int, seconds: float = math.inf) -> tuple[int, list[str]]:
    """How many generated neighbours were replayed, and every objection on them; that nothing was drawn is one."""
    subject, found, done, draws = SUBJECTS[name], list[str](), 0, 0
    mechanism, rng = subject.mechanism(relation), np.random.default_rng(0)
    begun = time.process_time()
    for index, pair in enumerate(generated(subject, relation, pairs, rng)):
        fates = FATES if index == 0 and free_draws(mechanism, pair) else FATES[:1]
        for fate in fates:
            ran = replayed(mechanism, pair, seed=index, fate=fate)
            found, draws = found + ran.objections, draws + ran.draws
        done += 1
        if time.process_time() - begun > seconds:
            break
    if done and not draws:
        found.append("no pair came to a draw: nothing was compared")
    return done, found


def reached(name: str, relation: Neighbours, runs: int, seconds: float = math.inf) -> tuple[int, float | None]:
    """How many runs there were, and the largest lower bound on epsilon over the promised one, on crafted pairs.

    None where the time would not do for `FEWEST` runs: fewer tell nothing.
    """
    subject = SUBJECTS[name]
    mechanism = subject.mechanism(relation)
    pairs = [pair for pair in subject.pairs(relation) if relation is ADD or allowed(subject, len(pair.left))]
    if not pairs or runs < FEWEST:
        return 0, None
    if seconds < math.inf:
        begun = time.process_time()
        for pair in pairs:
            audit.distinguish(mechanism, pair.left, pair.right, runs=100)
        runs = min(runs, int(100 * seconds / (time.process_time() - begun)))
    if runs < FEWEST:
        return 0, None
    bounds = [audit.distinguish(mechanism, pair.left, pair.right, runs=runs, seed=i) for i, pair in enumerate(pairs)]
    return runs, max(told.epsilon / told.claimed for told in bounds)


def allowed(subject: Subject, size: int) -> bool:
    """Whether a table of a public number of rows can be answered."""
    return size >= subject.least if subject.size is None else size == subject.size


def judged(work: tuple[str, Neighbours, int, int, float]) -> tuple[int, list[str], int, float | None]:
    """The objections to one mechanism under one relation, and the share of epsilon that its outputs reach."""
    name, relation, pairs, runs, seconds = work
    return *replay_all(name, relation, pairs, seconds), *reached(name, relation, runs, seconds)


def main() -> None:
    """Run it all and print a table; exit code 1 if anything was violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000, help="generated neighbours a mechanism and relation")
    parser.add_argument("--runs", type=int, default=20_000, help="releases on each side of a crafted pair")
    parser.add_argument("--seconds", type=float, default=math.inf, help="the most CPU time for each half of a row")
    parser.add_argument("--processes", type=int, default=None, help="as many as cores unless given")
    parser.add_argument("--only", help="one mechanism, by name")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures; rows that it holds and are not run stay")
    wanted = parser.parse_args()
    bad, console = 0, Console(width=132, highlight=False)
    console.print(
        f"{'mechanism':<44}{'neighbours':<16}{'pairs':>8}{'violations':>12}{'runs':>8}{'epsilon reached':>18}"
    )
    jobs = [(name, relation) for name in SUBJECTS for relation in (REPLACE, ADD)]
    jobs = [(name, relation) for name, relation in jobs if wanted.only in (None, name)]
    jobs = [(name, relation) for name, relation in jobs if SUBJECTS[name].only in (None, relation)]
    work = [(name, relation, wanted.pairs, wanted.runs, wanted.seconds) for name, relation in jobs]
    with Pool(wanted.processes) as pool:
        for (name, relation), (pairs, objections, runs, share) in zip(jobs, pool.imap(judged, work), strict=True):
            bad += len(objections) + (share is not None and share > 1)
            told = "-" if share is None else f"{share:.2f}"
            console.print(f"{name:<44}{relation.name:<16}{pairs:>8}{len(objections):>12}{runs:>8}{told:>18}")
            for objection in sorted(set(objections))[:3]:
                console.print(f"    {objection}", style="red")
            if wanted.out is not None:
                figures = {"pairs": pairs, "violations": len(objections), "runs": runs, "reached": share}
                keep(wanted.out, {"mechanism": name, "neighbours": relation.name.lower()}, figures)
    sys.exit(1 if bad else 0)


def keep(path: Path, row: dict[str, Any], figures: dict[str, Any]) -> None:
    """Write a row into a JSON file of rows, in place of what it held for the same mechanism and relation."""
    told = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False)  # noqa: S607
    row |= figures | {"commit": told.stdout.strip(), "date": datetime.now(UTC).date().isoformat()}
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"how": __doc__, "rows": []}
    rows = [old for old in held["rows"] if any(old[key] != row[key] for key in ("mechanism", "neighbours"))]
    held["rows"] = sorted([*rows, row], key=lambda old: (old["mechanism"], old["neighbours"]))
    text = json.dumps(held | {"rows": 0}).replace(
        '"rows": 0', '"rows": [\n' + ",\n".join(map(json.dumps, held["rows"])) + "\n]"
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")  # a line a row


if __name__ == "__main__":
    main()
