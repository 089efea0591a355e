"""Whole questions on hostile neighbours, in every container: `python -m benchmarks.questions --runs 20000`.

Each run asks one question of two neighbouring tables (benchmarks/neighbouring.py), with the same answers from the door
(benchmarks/replayed.py): of a session's table, or of rows and columns handed in. Epsilon is large enough for small
tables to be answered: a run that is refused by what is public compares little, so the share that is not is printed. A
run is a function of its question, container, relation and number, and can be had again:
`python -m benchmarks.questions --only "fit of labels" --kind text --relation replace --first 17 --runs 1`.
"""

import argparse
import logging
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pool
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.question_cases import BOTH, CASES, Case
from benchmarks.record import Row, record
from benchmarks.replayed import Judged
from discreet.privacy.guarantee import Neighbours


def judged(name: str, kind: str, relation: Neighbours, run: int, case: Case | None = None) -> Judged:
    """One run: a function of its question, its container, its relation and its number."""
    rng = np.random.default_rng([crc32(f"{name} {kind} {relation.name}".encode()), run])
    return (case or CASES[name]).judged(kind, relation, run, rng)


@dataclass(slots=True)
class Tally:
    """The runs of a question in a container."""

    runs: int = 0
    drew: int = 0
    answered: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)  # what, and where to find it again
    refusals: dict[str, int] = field(default_factory=dict)


def worked(work: tuple[str, str, tuple[Neighbours, ...], int, int]) -> Tally:
    """Some runs of a question in a container, under each relation."""
    name, kind, relations, first, runs = work
    tally = Tally()
    for run in range(first, first + runs):
        for relation in relations:
            found = judged(name, kind, relation, run)
            tally.runs += 1
            tally.drew += found.drew
            tally.answered += found.answered
            place = f"--only {name!r} --kind {kind!r} --relation {relation.name.lower()} --first {run} --runs 1"
            tally.wrong += [(what, place) for what in found.objections]
            if not found.drew and not found.objections:
                tally.refusals[found.refused[:120]] = tally.refusals.get(found.refused[:120], 0) + 1
    return tally


def main(given: Sequence[str] | None = None) -> None:
    """Print the runs, the share that was answered and the objections; exit code 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000, help="of all questions together")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run of each")
    parser.add_argument("--only", help="questions whose name holds this")
    parser.add_argument("--kind", help="one container")
    parser.add_argument("--relation", choices=[relation.name.lower() for relation in BOTH])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refusals", action="store_true", help="say why nothing was drawn")
    parser.add_argument("--write", action="store_true", help="keep the figures for the page of benchmarks")
    wanted = parser.parse_args(given)
    logging.getLogger("discreet").setLevel(logging.INFO)  # what is logged must not depend on the data either
    chosen = [
        (name, kind)
        for name, case in CASES.items()
        for kind in case.kinds
        if (wanted.only or "") in name and wanted.kind in (None, kind)
    ]
    relations = {name: _relations(CASES[name], wanted.relation) for name, _ in chosen}
    shares = sum(CASES[name].share * len(relations[name]) for name, _ in chosen)
    work = [
        (name, kind, relations[name], wanted.first, math.ceil(wanted.runs * CASES[name].share / shares))
        for name, kind in chosen
    ]
    found: dict[tuple[str, str], Tally] = {}
    with Pool(wanted.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        for place, tally in zip(chosen, pool.imap(worked, work), strict=True):
            found[place] = tally
            _show(*place, tally, wanted.refusals)
    total = [
        sum(part) for part in zip(*((t.runs, t.drew, t.answered, len(t.wrong)) for t in found.values()), strict=True)
    ]
    print("runs {}, noise drawn {}, answered {}, objections {}".format(*total))
    if wanted.write:
        record("questions", _rows(found), note=NOTE)
    sys.exit(1 if total[-1] else 0)


def _relations(case: Case, wanted: str | None) -> tuple[Neighbours, ...]:
    return tuple(each for each in case.relations if wanted in (None, each.name.lower()))


def _show(name: str, kind: str, tally: Tally, refusals: bool) -> None:
    share = tally.answered / tally.runs
    print(
        f"{name:<40}{kind:<18}{tally.runs:>6}{tally.drew / tally.runs:>8.0%}{share:>8.0%}{len(tally.wrong):>6}",
        flush=True,
    )
    for what in sorted({what for what, _ in tally.wrong})[:3]:
        print(f"    {what}: {next(place for told, place in tally.wrong if told == what)}")
    for why, count in tally.refusals.items() if refusals else ():
        print(f"    {count} refused: {why}")


def _rows(found: Mapping[tuple[str, str], Tally]) -> Iterator[Row]:
    """A row a question, over its containers."""
    for name in dict.fromkeys(name for name, _ in found):
        some = [tally for (one, _), tally in found.items() if one == name]
        runs, drew, answered, wrong = (
            sum(part) for part in zip(*((t.runs, t.drew, t.answered, len(t.wrong)) for t in some), strict=True)
        )
        shares = f"noise drawn in {drew / runs:.0%}, answered {answered / runs:.0%}"
        figure = f"objections of {runs:,} runs in {len(some)} containers; {shares}"
        yield name, figure, str(wrong), "0", not wrong


NOTE = (
    "One question asked of two tables that differ in one person, with the same answers from the noise: everything "
    "that leaves is compared."
)


if __name__ == "__main__":
    main()
