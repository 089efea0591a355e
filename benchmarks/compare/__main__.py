"""Ask everybody, and write docs/compare.json, docs/compare.md and its pictures.

    python -m benchmarks.compare [--runs 200] [--models 40] [--minutes 40] [--only columns] [--page]

Every run draws people anew and asks all contenders about the same people. All of it takes about 45 minutes of one idle
core; `--minutes` ends it earlier, with fewer runs a cell. `--page` draws the page from the figures that are there. The
other packages are asked in an interpreter of their own, `.venv-compare`, which `make compare` sets up.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from rich.progress import track

from benchmarks.compare.cases import PARTS, Case
from benchmarks.compare.contenders import ROOT, Answer, Question, flat, timed
from benchmarks.compare.least import least
from benchmarks.compare.page import write

FIGURES: Final = ROOT / "docs" / "compare.json"
ROUNDS: Final = 10


class Outcome(NamedTuple):
    """What came of asking once: CPU seconds; unless refused the distance from the truth, and what the interval did."""

    seconds: float
    far: float | None = None
    held: float | None = None
    width: float | None = None


Run = tuple[float, dict[str, Outcome]]


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="for one column")
    parser.add_argument("--models", type=int, default=40, help="runs for models")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no round begins later; half rounds are kept")
    parser.add_argument("--only", default="", choices=["", *PARTS])
    parser.add_argument("--page", action="store_true", help="only draw the page anew")
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    held = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    if not wanted.page:
        parts = [wanted.only] if wanted.only else list(PARTS)
        for found in rounds(parts, wanted.runs, wanted.models, wanted.minutes, wanted.workers):
            held |= found
            held = json.loads(json.dumps(held), parse_float=lambda text: float(f"{float(text):.5g}"))
            FIGURES.write_text(json.dumps(held).replace(', {"place"', ',\n{"place"') + "\n")  # a line a cell
    for part, figures in held.items():
        for cell in figures["cells"]:
            cell["least"] = least(cases(part)[cell["place"]])
    write(held)


def rounds(parts: list[str], runs: int, models: int, minutes: float, workers: int) -> Iterator[dict[str, Any]]:
    """The figures after each round of all cells: whoever stops early has as many runs of every cell, or one round more.

    A tenth of the runs is a round, so that a cell's people and its contenders' speed are spread over the whole time.
    """
    end = time.monotonic() + 60 * minutes
    places = [(part, place) for part in parts for place, _ in enumerate(cases(part))]
    seen: dict[tuple[str, int], list[Run]] = {cell: [] for cell in places}
    with ProcessPoolExecutor(workers) as pool:
        for number in range(ROUNDS):
            if time.monotonic() > end:
                return
            jobs = {}
            for part, place in places:
                count = runs if cases(part)[place].light else models
                turn = range(count * number // ROUNDS, count * (number + 1) // ROUNDS)
                jobs[pool.submit(ran, part, place, turn, end if number else math.inf)] = (part, place)
            for job in track(as_completed(jobs), total=len(jobs), description=f"round {number + 1} of {ROUNDS}"):
                seen[jobs[job]] += job.result()
            day = datetime.now(UTC).date().isoformat()
            yield {
                part: {
                    "day": day,
                    "cells": [summed(part, place, seen[part, place]) for at, place in places if at == part],
                }
                for part in parts
            }


@cache
def cases(part: str) -> list[Case]:
    """The cells of a part."""
    return list(PARTS[part]())


def ran(part: str, place: int, turn: range, end: float = math.inf) -> list[Run]:
    """Some runs of one cell: how far the answer without privacy was, and what came of everybody that was asked."""
    if time.monotonic() > end:
        return []
    case, found = cases(part)[place], []
    for question, without in asked(case, part, place, turn):
        truth = without if case.truth is None else np.broadcast_to(flat(case.truth), without.shape)
        came = {}
        for name, contender in case.contenders.items():
            if not question.seed % getattr(contender, "every", 1):
                came[name] = _outcome(case, question, truth, *timed(contender, question))
        found.append((_far(case, question, without, truth), came))
    return found


def _outcome(case: Case, question: Question, truth: Any, answer: Answer, seconds: float) -> Outcome:
    if answer is None:
        return Outcome(seconds)
    value, interval = answer
    far = _far(case, question, value, truth)
    if interval is None:
        return Outcome(seconds, far)
    low, high = interval
    return Outcome(seconds, far, float(np.mean((low <= truth) & (truth <= high))), float(np.median(high - low)))


def summed(part: str, place: int, runs: list[Run]) -> dict[str, Any]:
    """One cell: for everybody the error, that without privacy in the same runs, coverage, width, refusals and time."""
    case, rows = cases(part)[place], []
    for name in case.contenders:
        asked_of = [(plain, came[name]) for plain, came in runs if name in came]
        given = [came for _, came in asked_of]
        held = [came.held for came in given if came.held is not None]
        widths = [came.width for came in given if came.width is not None]
        rows.append(
            {
                "who": name,
                "error": _root([came.far for came in given if came.far is not None]),
                "plain": _root([plain for plain, came in asked_of if came.far is not None]),
                "answered": sum(came.far is not None for came in given) / max(1, len(given)),
                "runs": len(given),
                "coverage": float(np.mean(held)) if held else None,
                "width": float(np.median(widths)) if widths else None,
                "seconds": float(np.median([came.seconds for came in given])) if given else None,
            }
        )
    return {
        "place": place,
        "part": case.part,
        "people": case.people,
        "size": case.size,
        "epsilon": case.epsilon,
        "delta": case.delta,
        "runs": len(runs),
        "plain": _root([plain for plain, _ in runs]),
        "about": "loss" if case.loss else "people" if case.truth is None else "population",
        "rows": rows,
    }


def asked(case: Case, part: str, place: int, turn: range) -> Iterator[tuple[Question, Any]]:
    """The people of each run, and the answer without privacy."""
    for run in turn:
        rng = np.random.default_rng([run, place, *part.encode()])
        people = case.draw(rng, case.size)
        known = dict(case.known)
        yield (
            Question(people=people, epsilon=case.epsilon, delta=case.delta, known=known, seed=run),
            flat(case.plain(people)),
        )


def _far(case: Case, question: Question, value: Any, truth: Any) -> float:
    """How far a value is from the truth; for clusters the loss itself."""
    if case.loss is not None:
        return case.loss(question.people, value)
    return float(np.linalg.norm(value - truth))


def _root(errors: list[float]) -> float | None:
    finite = [min(error, 1e150) if not math.isnan(error) else 1e150 for error in errors]
    return float(math.sqrt(np.mean(np.square(finite)))) if finite else None


if __name__ == "__main__":
    main()
