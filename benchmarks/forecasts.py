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
from collections.abc import Iterator
from typing import Final

import numpy as np

import discreet
from benchmarks.forecast_columns import Case, columns, counts, distributions
from benchmarks.forecast_models import decisions, people, tables
from benchmarks.record import Row, record

BAR: Final = 0.20
NOTE = "What `discreet.forecast` says from assumptions alone, beside the errors of releases on random data."


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
    rows = (row for case in cases for row in compared(case, asked.runs, asked.seed))
    sys.exit(0 if record("forecasts", rows, note=NOTE, keep=not asked.only) else "missed")


def compared(case: Case, runs: int, seed: int) -> Iterator[Row]:
    """The forecast over what was achieved, and what the forecast took."""
    said, achieved, spent, count = measure(case, runs, seed)
    ratio = said / achieved if achieved else 1.0 if said == achieved else math.inf
    about = case.note or ", ".join(
        f"{key}={getattr(value, '__name__', value)}" for key, value in case.about.items() if key != "null"
    )
    what = f"{case.statistic}: " + ", ".join(filter(None, (about[:60], f"n={case.rows}", f"eps={case.epsilon:g}")))
    figure = "power" if case.statistic.endswith("test") else "median error"
    met = abs(ratio - 1) <= BAR
    yield what, f"forecast over the {figure}, {count} runs", f"{ratio:.2f}", "0.8 to 1.2", met
    yield what, "CPU seconds of the forecast", f"{spent:.2f}", "", True


if __name__ == "__main__":
    main()
