"""Ask everybody, and write docs/compare.json, docs/compare.md and its pictures.

    python -m benchmarks.compare [--runs 200] [--models 40] [--only columns] [--page]

Every run draws people anew and asks all contenders about the same people. `--page` draws the page from the figures that
are there. The other packages are asked in an interpreter of their own, `.venv-compare`, which `make compare` sets up.
"""

import argparse
import json
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks.compare.cases import PARTS, Case
from benchmarks.compare.contenders import ROOT, Answer, Question, flat, timed
from benchmarks.compare.page import write

FIGURES = ROOT / "docs" / "compare.json"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="for one column")
    parser.add_argument("--models", type=int, default=40, help="runs for models")
    parser.add_argument("--only", default="", choices=["", *PARTS])
    parser.add_argument("--page", action="store_true", help="only draw the page anew")
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    held = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    if not wanted.page:
        parts = [wanted.only] if wanted.only else list(PARTS)
        places = [(part, place) for part in parts for place, _ in enumerate(cases(part))]
        found: dict[str, list[Any]] = {part: [] for part in parts}
        with ProcessPoolExecutor(wanted.workers) as pool:
            jobs = {pool.submit(measured, part, place, wanted.runs, wanted.models): part for part, place in places}
            for job in track(as_completed(jobs), total=len(jobs), description="cells"):
                found[jobs[job]].append(job.result())
        day = datetime.now(UTC).date().isoformat()
        for part, cells in found.items():
            order = sorted(cells, key=lambda cell: cell["place"])
            held[part] = {"day": day, "runs": wanted.runs, "models": wanted.models, "cells": order}
        held = json.loads(json.dumps(held), parse_float=lambda text: float(f"{float(text):.5g}"))
        FIGURES.write_text(json.dumps(held).replace(', {"place"', ',\n{"place"') + "\n")  # a line a cell
    write(held)


@cache
def cases(part: str) -> list[Case]:
    """The cells of a part."""
    return list(PARTS[part]())


def measured(part: str, place: int, runs: int, models: int) -> dict[str, Any]:
    """One cell: for everybody the error over that without privacy, coverage, width, refusals and time."""
    case = cases(part)[place]
    count = runs if case.light else models
    plain: list[float] = []
    answers: dict[str, list[tuple[Answer, float]]] = {name: [] for name in case.contenders}
    errors: dict[str, list[float]] = {name: [] for name in case.contenders}
    held: dict[str, list[float]] = {name: [] for name in case.contenders}
    widths: dict[str, list[float]] = {name: [] for name in case.contenders}
    for question, without in asked(case, part, place, count):
        truth = without if case.truth is None else np.broadcast_to(flat(case.truth), without.shape)
        plain.append(_far(case, question, without, truth))
        for name, contender in case.contenders.items():
            if question.seed % getattr(contender, "every", 1):
                continue
            answer, taken = timed(contender, question)
            answers[name].append((answer, taken))
            if answer is None:
                continue
            value, interval = answer
            errors[name].append(_far(case, question, value, truth))
            if interval is not None:
                low, high = interval
                held[name].append(float(np.mean((low <= truth) & (truth <= high))))
                widths[name].append(float(np.median(high - low)))
    rows = []
    for name, given in answers.items():
        done = [answer for answer, _ in given if answer is not None]
        rows.append(
            {
                "who": name,
                "error": _root(errors[name]),
                "answered": len(done) / len(given),
                "coverage": float(np.mean(held[name])) if held[name] else None,
                "width": float(np.median(widths[name])) if widths[name] else None,
                "seconds": float(np.median([taken for _, taken in given])),
            }
        )
    return {
        "place": place,
        "part": case.part,
        "people": case.people,
        "size": case.size,
        "epsilon": case.epsilon,
        "delta": case.delta,
        "runs": count,
        "plain": _root(plain),
        "about": "loss" if case.loss else "people" if case.truth is None else "population",
        "rows": rows,
    }


def asked(case: Case, part: str, place: int, count: int) -> Iterator[tuple[Question, Any]]:
    """The people of each run, and the answer without privacy."""
    for run in range(count):
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
