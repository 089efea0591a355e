"""Is the error what the forecast said? Every statistic, forecast from assumptions alone, then released many times.

    python -m benchmarks.forecasts [--runs 200] [--only mean]

Achieved errors are medians over independent runs on random data, measured here and not by the code that forecasts: the
truth of each distribution is written down again. For tests the share of rejections stands beside the power. Noise is
fresh.
"""

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

import discreet
from benchmarks.forecast_columns import Case, columns, counts, distributions
from benchmarks.forecast_models import decisions, people, tables

PAGE = Path(__file__).parent.parent / "docs" / "measured-forecasts.md"
BAR: Final = 0.20


def measure(case: Case, runs: int, seed: int) -> tuple[float, float, float, int]:
    """Forecast, achieved, seconds of the forecast, runs that answered."""
    start = time.process_time()
    said = discreet.forecast(case.statistic, rows=case.rows, epsilon=case.epsilon, delta=case.delta, **case.about)
    spent = time.process_time() - start
    rng, found = np.random.default_rng(seed), []
    for _ in range(max(20, int(runs * case.share))):
        release = case.release(rng)
        if release.refusal is None:
            found.append(case.error(release.value))
    test = said.level is not None
    expected = said.power if test else said.error
    achieved = float(np.mean(found) if test else np.median(found)) if found else math.nan
    return math.nan if expected is None else expected, achieved, spent, len(found)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    everything = [*counts(), *columns(), *distributions(), *tables(), *decisions(), *people()]
    cases = [case for case in everything if asked.only in case.statistic]
    lines, missed = [], 0
    for case in cases:
        said, achieved, spent, count = measure(case, asked.runs, asked.seed)
        ratio = said / achieved if achieved else 1.0 if said == achieved else math.inf
        ok = abs(ratio - 1) <= BAR
        missed += not ok
        about = case.note or ", ".join(
            f"{key}={getattr(value, '__name__', value)}" for key, value in case.about.items() if key != "null"
        )
        lines.append(
            f"| `{case.statistic}` | {about[:60]} | {case.rows} | {case.epsilon:g} | {said:.4g} | {achieved:.4g} | "
            f"{ratio:.2f} | {count} | {spent:.2f} | {'ok' if ok else '**missed**'} |"
        )
        print(lines[-1], flush=True)
    if not asked.only:
        head = [
            "# Measured: forecasts",
            "",
            f"By `python -m benchmarks.forecasts --runs {asked.runs}`: what `discreet.forecast` said from assumptions",
            "alone, beside the median error (for tests, the share of rejections) of releases on random data. Bar:",
            "a ratio within 20% of 1; a missed one says so. Achieved medians are themselves uncertain, by about 1.2",
            "over the root of the runs. For NHANES the table is the population, and 4,000 people are drawn from it",
            "with replacement.",
            "",
            "| statistic | assumed | rows | epsilon | forecast | achieved | ratio | runs | forecast, CPU s | |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        tail = ["", f"{len(cases) - missed} of {len(cases)} are within 20%."]
        PAGE.write_text("\n".join([*head, *lines, *tail]) + "\n")
    sys.exit(f"{missed} missed" if missed else 0)


if __name__ == "__main__":
    main()
