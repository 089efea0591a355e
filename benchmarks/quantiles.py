"""Whether intervals of quantiles hold on real columns, rounded or not, and how wide they are.

    python -m benchmarks.quantiles [--runs 20]

Each column is a population; 4,000 people are drawn from it with replacement, given as floats with nothing declared. A
run asks for the three quartiles at epsilon 2, and for the median at epsilon 0.2, under both relations. The figures are
the share of 95% intervals that hold the column's quantile, and the median width in standard deviations of the column
beside that of the order statistics' interval without privacy.
"""

import argparse
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from scipy.stats import binom

from benchmarks.record import Row, record
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.quantile import Quantile

NOTE = "4,000 people drawn from a real column, nothing declared."
PEOPLE: Final = 4000
ASKED: Final = (((0.25, 0.5, 0.75), 2.0), ((0.5,), 0.2))
BAR: Final = 0.93
Array = np.ndarray[Any, Any]


def columns() -> Iterator[tuple[str, Array]]:
    """Named before anything was run."""
    import statsmodels.api as sm
    from lifelines import datasets as survival

    from sklearn import datasets as sets

    tables = {
        "statsmodels fair": (sm.datasets.fair.load_pandas().data, "age educ yrs_married rate_marriage affairs"),
        "statsmodels randhie": (sm.datasets.randhie.load_pandas().data, "mdvis lpi hlthg"),
        "statsmodels anes96": (sm.datasets.anes96.load_pandas().data, "age PID vote income popul"),
        "scikit-learn diabetes": (sets.load_diabetes(as_frame=True, scaled=False).data, "age bmi s5"),
        "scikit-learn breast cancer": (sets.load_breast_cancer(as_frame=True).data, "mean_area"),
        "lifelines rossi": (survival.load_rossi(), "age prio fin"),
        "lifelines gbsg2": (survival.load_gbsg2(), "age tsize pnodes"),
    }
    for name, (table, wanted) in tables.items():
        for column in wanted.split():
            yield f"{name}, {column}", table[column.replace("_area", " area")].to_numpy(dtype=float)


def plain_width(rows: Array, q: float) -> float:
    """The interval of order statistics, without privacy."""
    low, high = (int(binom.ppf(tail, len(rows), q)) for tail in (0.025, 0.975))
    ordered = np.sort(rows)
    return float(ordered[high] - ordered[low])


def measured(runs: int) -> Iterator[Row]:
    for name, column in columns():
        for shares, epsilon in ASKED:
            held, widths, plain = [], [], []
            truth = np.quantile(column, shares, method="inverted_cdf")
            for relation in Neighbours:
                mechanism = Quantile(shares, epsilon, neighbours=relation)
                for run in range(runs):
                    rows = np.random.default_rng([3, run]).choice(column, PEOPLE)
                    release = mechanism.release(rows, Seeded(run))
                    if release.refusal is None:
                        interval = release.interval()
                        held += ((interval.low <= truth) & (truth <= interval.high)).tolist()
                        widths += (interval.high - interval.low).tolist()
                        plain += [plain_width(rows, q) for q in shares]
            spread = float(np.std(column))
            asked = f"{name}: {'quartiles' if len(shares) > 1 else 'median'}, epsilon {epsilon:g}"
            share = float(np.mean(held))
            yield asked, f"coverage, {len(held)} intervals", f"{share:.3f}", f">= {BAR}", share >= BAR
            wide, usual = np.median(widths) / spread, np.median(plain) / spread
            yield asked, f"median width in standard deviations (without privacy {usual:.3f})", f"{wide:.3f}", "", True


def study(runs: int) -> None:
    """Measure, print, write."""
    record("quantiles", measured(runs), note=NOTE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    study(parser.parse_args().runs)


if __name__ == "__main__":
    main()
