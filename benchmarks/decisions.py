"""What private tests are worth: their size under null hypotheses, ties and discrete data included, and their power.

    python -m benchmarks.decisions [--runs 20000] [--means 4000]

A run of an exact test draws data, computes the statistic by the function that the test uses (ranks with random places,
signs with random coins, counts in cells, scores), adds discrete Laplace noise of the distribution and scale that the
door draws, and compares with the critical value of the test's own null distribution. Tests with a simulated null
distribution run it for every run, with 199 draws instead of 9,999, by the same functions (at estimated probabilities in
a fifth of the runs). Tests of means are whole releases from seeds, so they are fewer.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.record import Row, record
from discreet import Seeded, mean_test, paired_test, two_means_test, two_samples_test
from discreet.hypotheses.category_tests import dependence, distance, likely_listed, margin, pooled
from discreet.hypotheses.combined_tests import ScoreSum, best_plan, best_votes, scores
from discreet.hypotheses.goodness_of_fit import MOVED, distribution_on_bins, misfit, null_fits, whole_of
from discreet.hypotheses.likelihood_ratio import LEVELS, RatioCells, best_clamp, clamped_steps, ratio_distribution
from discreet.hypotheses.null_distributions import NoisyDistribution
from discreet.hypotheses.rank_tests import deviation, larger_pairs, null_deviations, rank_sum_distribution, ranks
from discreet.hypotheses.signed_tests import coins, positive_ranks, signed_ranks_distribution, signs
from discreet.noise import distributions as simulated
from discreet.noise.distributions import laplace_scale
from discreet.statistics.proportion import upper_tail

LEVEL, DRAWS = 0.05, 199
Generator = np.random.Generator
Size = tuple[str, str, float, int]
Power = tuple[str, str, str, str, str]

DATA: dict[str, Callable[[Generator, int], Any]] = {
    "normal": lambda g, n: g.normal(0, 1, n),
    "Cauchy": lambda g, n: g.standard_cauchy(n),
    "Poisson(2)": lambda g, n: g.poisson(2, n).astype(float),
    "Bernoulli(0.1)": lambda g, n: (g.random(n) < 0.1).astype(float),
    "all equal": lambda g, n: g.normal() * np.ones(n),
}
SYMMETRIC: dict[str, Callable[[Generator, int], Any]] = {
    "normal": DATA["normal"],
    "t with 2 degrees": lambda g, n: g.standard_t(2, n),
    "difference of two Poisson(1)": lambda g, n: (g.poisson(1, n) - g.poisson(1, n)).astype(float),
    "90% zeros": lambda g, n: np.where(g.random(n) < 0.9, 0.0, g.normal(size=n)),
}


def rejects(distribution: NoisyDistribution, totals: Any, generator: Generator, two_sided: bool = True) -> float:
    """The share of noisy statistics whose p-value is at most 0.05."""
    noisy = np.asarray(totals) + simulated.laplace(generator, (len(totals),), distribution.scale)
    critical = distribution.critical(LEVEL / 2 if two_sided else LEVEL)
    above = noisy >= critical
    return float(np.mean(above | (noisy <= distribution.doubled_centre - critical) if two_sided else above))


def signed_sizes(runs: int) -> Iterator[Size]:
    for (name, draw), size, epsilon in ((one, n, e) for one in SYMMETRIC.items() for n, e in ((60, 1.0), (500, 0.1))):
        g, distribution, door = np.random.default_rng(1), signed_ranks_distribution(size, epsilon), Seeded(1)
        flips = coins(size * 1000, door).reshape(1000, size)
        totals = [positive_ranks(draw(g, size), flips[i % 1000], g.permutation(size)) for i in range(runs)]
        yield f"paired_test, n={size}, eps={epsilon:g}", name, rejects(distribution, totals, g), runs
    g, epsilon, size = np.random.default_rng(2), 0.5, 100
    flips = coins(size * 1000, Seeded(2)).reshape(1000, size)
    for name, draw in SYMMETRIC.items():
        heads = [int(signs(draw(g, size), flips[i % 1000]).sum()) for i in range(runs)]
        noisy = np.array(heads) + simulated.laplace(g, (runs,), laplace_scale(1, epsilon)) + g.random(runs) - 0.5
        tails = np.interp(noisy, grid := np.arange(-60, 160, 0.25), [upper_tail(size, 0.5, t, epsilon) for t in grid])
        share = float(np.mean(2 * np.minimum(tails, 1 - tails) <= LEVEL))
        yield f"paired_test, signs, n={size}, eps={epsilon:g}", name, share, runs


def group_sizes(runs: int) -> Iterator[Size]:
    for name, draw in DATA.items():
        for one, other, epsilon in ((40, 40, 1.0), (30, 200, 0.5)):
            g, distribution = np.random.default_rng(3), rank_sum_distribution(one, other, epsilon)
            totals = [larger_pairs(ranks(draw(g, one + other), g.permutation(one + other)), one) for _ in range(runs)]
            yield f"two_samples_test, n={one}+{other}, eps={epsilon:g}", name, rejects(distribution, totals, g), runs
    for name in ("normal", "Poisson(2)"):
        g, groups, epsilon = np.random.default_rng(4), (30, 30, 40), 1.0
        size = sum(groups)
        scale = laplace_scale(2 * (size - min(groups)), epsilon)
        found = np.array([ranks(DATA[name](g, size), g.permutation(size)) for _ in range(runs)])
        noisy = deviation(found, groups) + simulated.laplace(g, (runs,), scale)
        null = null_deviations(g, groups, DRAWS * 2000).reshape(2000, DRAWS)  # 2000 null distributions, used in turn
        null = null + simulated.laplace(g, null.shape, scale)
        reached = (null[np.arange(runs) % 2000] >= noisy[:, None]).sum(axis=1)
        yield f"anova, n={groups}, eps={epsilon:g}", name, share_of(reached), runs


def share_of(reached: Any) -> float:
    return float(np.mean((1 + np.asarray(reached)) / (1 + DRAWS) <= LEVEL))


def count_sizes(runs: int) -> Iterator[Size]:
    distributions = {"six faces": np.full(6, 1 / 6), "rare cells": np.array([0.9, 0.05, 0.03, 0.01, 0.005, 0.005])}
    for (name, p), size, epsilon in (
        (one, n, e) for one in distributions.items() for n, e in ((100, 1.0), (1000, 0.1))
    ):
        g, scale, chances = np.random.default_rng(5), laplace_scale(MOVED, epsilon), whole_of(tuple(p))
        drawn = g.multinomial(size, chances, runs)
        seen = misfit(drawn + simulated.laplace(g, drawn.shape, scale), size, chances, scale)
        reached = [(null_fits(g, size, chances, scale, DRAWS) >= one).sum() for one in seen]
        yield f"goodness_of_fit_test, n={size}, eps={epsilon:g}", name, share_of(reached), runs
        sizes = (size // 2, size)
        yield (
            f"closeness_test, n={sizes[0]}+{sizes[1]}, eps={epsilon:g}",
            name,
            closeness(g, chances, sizes, scale, runs // 5),
            runs // 5,
        )
    margins = {"even 3 x 2": ([1 / 3] * 3, [0.5] * 2), "rare 3 x 3": ([0.9, 0.07, 0.03], [0.8, 0.15, 0.05])}
    for (name, (rows, columns)), size, epsilon in (
        (one, n, e) for one in margins.items() for n, e in ((100, 1.0), (300, 1.0), (2000, 0.1))
    ):
        g, scale = np.random.default_rng(6), laplace_scale(MOVED, epsilon)
        yield (
            f"independence_test, n={size}, eps={epsilon:g}",
            name,
            independence(g, rows, columns, size, scale, runs // 5),
            runs // 5,
        )


def closeness(g: Generator, p: Any, sizes: tuple[int, int], scale: Any, runs: int) -> float:
    reached = []
    for _ in range(runs):
        table = np.stack([g.multinomial(size, p) for size in sizes])[None]
        noisy = table + simulated.laplace(g, table.shape, scale)
        fitted = pooled(noisy, sizes)[0]
        drawn = np.stack([g.multinomial(size, fitted, DRAWS) for size in sizes], axis=1)
        null = distance(drawn + simulated.laplace(g, drawn.shape, scale), sizes, scale)
        reached.append((null >= distance(noisy, sizes, scale)[0]).sum())
    return share_of(reached)


def independence(g: Generator, p: Any, q: Any, size: int, scale: Any, runs: int) -> float:
    chances, shape, reached = np.outer(p, q).ravel(), (len(p), len(q)), []
    for _ in range(runs):
        other, *cells = simulated.laplace(g, (1 + len(chances),), scale)
        listed = likely_listed(size, int(other), scale)
        noisy = (g.multinomial(size, chances) + np.array(cells)).reshape(1, *shape)
        fitted = (margin(noisy, 2).T @ margin(noisy, 1)).ravel()
        drawn = g.multinomial(listed, fitted, DRAWS) + simulated.laplace(g, (DRAWS, len(chances)), scale)
        null = dependence(drawn.reshape(DRAWS, *shape), scale)
        reached.append((null >= dependence(noisy, scale)[0]).sum())
    return share_of(reached)


def ratio_sizes(runs: int) -> Iterator[Size]:
    distributions: dict[str, tuple[Any, Any]] = {
        "N(0, 1) against N(0.25, 1)": (stats.norm(0, 1), stats.norm(0.25, 1)),
        "Poisson(2) against Poisson(2.5)": (stats.poisson(2), stats.poisson(2.5)),
    }
    for name, (p, q) in distributions.items():
        g, size, epsilon, cells = np.random.default_rng(7), 200, 0.5, RatioCells.of(p, q)
        steps = clamped_steps(cells.ratios, *best_clamp(cells, size, epsilon))
        distribution = ratio_distribution(cells, steps, size, laplace_scale(LEVELS, epsilon))
        totals = [steps[cells.places(p.rvs(size, random_state=g))].sum() for _ in range(runs)]
        yield f"likelihood_ratio_test, n={size}, eps={epsilon:g}", name, rejects(distribution, totals, g, False), runs


def block_sizes(runs: int) -> Iterator[Size]:
    base: dict[str, Callable[[Any], Any]] = {
        "one-sided t test, normal data": lambda x: stats.ttest_1samp(x, 0.0, axis=1, alternative="greater").pvalue,
        "exact sign test, normal data": lambda x: stats.binom.sf((x > 0).sum(axis=1) - 1, x.shape[1], 0.5),
    }
    for name, test in base.items():
        for size, epsilon in ((1000, 1.0), (5000, 0.2)):
            g, (blocks, reach) = np.random.default_rng(8), best_plan(size // 20, epsilon)
            distribution = ScoreSum(blocks, reach, epsilon).distribution
            totals = [int(scores(test(g.normal(size=(blocks, size // blocks))), reach).sum()) for _ in range(runs)]
            yield f"custom_test, n={size}, eps={epsilon:g}", name, rejects(distribution, totals, g, False), runs


MEANS: dict[str, tuple[Callable[[Generator, int], Any], float]] = {
    "normal": (lambda g, n: g.normal(5, 2, n), 5.0),
    "exponential": (lambda g, n: g.exponential(1, n), 1.0),
    "uniform": (lambda g, n: g.random(n), 0.5),
    "Poisson(3)": (lambda g, n: g.poisson(3, n).astype(float), 3.0),
    "t with 3 degrees": (lambda g, n: g.standard_t(3, n), 0.0),
    "Bernoulli(0.1)": (lambda g, n: (g.random(n) < 0.1).astype(float), 0.1),
    "one fifth N(2, 4), the others N(0, 1)": (
        lambda g, n: np.where(g.random(n) < 0.2, g.normal(2, 2, n), g.normal(0, 1, n)),
        0.4,
    ),
    "lognormal(0.5)": (lambda g, n: g.lognormal(0, 0.5, n), math.exp(0.125)),
    "lognormal(1)": (lambda g, n: g.lognormal(0, 1, n), math.exp(0.5)),
}


def mean_sizes(runs: int) -> Iterator[Size]:
    asked: list[tuple[str, dict[str, Any], str, int, float]] = [
        ("model='gaussian'", {"model": "gaussian"}, "normal", 1000, 1.0),
        ("bounds=(0, 12)", {"bounds": (0.0, 12.0)}, "exponential", 1000, 1.0),
        *(("no model", {}, name, n, epsilon) for n, epsilon in ((1000, 1.0), (5000, 0.1)) for name in MEANS),
    ]
    for words, options, name, size, epsilon in asked:
        g, (draw, truth) = np.random.default_rng(9), MEANS[name]
        found = [mean_test(draw(g, size), truth, epsilon=epsilon, rng=Seeded(i), **options) for i in range(runs)]
        yield f"mean_test, {words}, n={size}, eps={epsilon:g}", name, rejected(found), runs
    pairs: list[tuple[str, dict[str, Any], str, float]] = [
        *((words, options, name, 1.0) for words, options, name, _, _ in asked[:2]),
        *(
            ("no model", {}, name, times)
            for name in ("normal", "exponential", "lognormal(0.5)")
            for times in (1.0, 3.0)
        ),
        ("no model", {}, "exponential", -1.0),
        ("no model", {}, "lognormal(1)", 1.0),
        ("no model", {}, "Bernoulli(0.1)", 1.0),
    ]
    for words, options, name, times in pairs:
        g, (draw, truth) = np.random.default_rng(10), MEANS[name]
        samples = ((draw(g, 1000), truth + times * (draw(g, 700) - truth)) for _ in range(runs))
        found = [two_means_test(x, y, epsilon=1.0, rng=Seeded(i), **options) for i, (x, y) in enumerate(samples)]
        law = name if times == 1 else f"{name}, deviations of the second times {times:g}"
        yield f"two_means_test, {words}, n=1000+700", law, rejected(found), runs


def rejected(found: list[Any]) -> float:
    """The share of releases with a p-value of at most 0.05; a refusal rejects nothing."""
    return float(np.mean([release.refusal is None and release.value.decide(LEVEL) for release in found]))


def mean_powers(runs: int) -> Iterator[Power]:
    """Whole releases: shifts of a mean by three standard errors, and of one of two means by 0.15."""
    for size, epsilon in ((1000, 1.0), (5000, 0.1)):
        for name in ("normal", "t with 3 degrees", "uniform", "exponential"):
            g, (draw, truth) = np.random.default_rng(16), MEANS[name]
            shift = 3 * draw(g, 10**6).std() / math.sqrt(size)
            data = [draw(g, size) + shift for _ in range(runs)]
            got = [mean_test(x, truth, epsilon=epsilon, rng=Seeded(i)) for i, x in enumerate(data)]
            usual = np.mean([stats.ttest_1samp(x, truth).pvalue <= LEVEL for x in data])
            words = f"mean_test, {name}, shift of three standard errors, n={size}, eps={epsilon:g}"
            yield words, f"{rejected(got):.3f}", f"{usual:.3f}", "", f"t test; {runs} runs"
    g = np.random.default_rng(17)
    both = [(g.normal(0.15, 1, 1000), g.normal(0, 1, 1000)) for _ in range(runs)]
    usual = np.mean([stats.ttest_ind(x, y).pvalue <= LEVEL for x, y in both])
    for test in (two_means_test, two_samples_test):
        got = [test(x, y, epsilon=1.0, rng=Seeded(i)) for i, (x, y) in enumerate(both)]
        words = f"{test.__name__}, normal, shift 0.15, n=1000+1000, eps=1"
        yield words, f"{rejected(got):.3f}", f"{usual:.3f}", "", f"t test; {runs} runs"
    data = [g.normal(3 / math.sqrt(1000), 1, 1000) for _ in range(runs)]
    usual = np.mean([stats.ttest_1samp(x, 0.0).pvalue <= LEVEL for x in data])
    got = [paired_test(x, epsilon=0.1, rng=Seeded(i)) for i, x in enumerate(data)]
    words = "paired_test, normal, shift of three standard errors, n=1000, eps=0.1"
    yield words, f"{rejected(got):.3f}", f"{usual:.3f}", "", f"t test; {runs} runs"


def powers(runs: int) -> Iterator[Power]:
    """Private, without privacy, and by votes of blocks (with the number of blocks and their level planned)."""
    for size, shift, epsilon in ((300, 0.25, 0.5), (1000, 0.1, 1.0)):
        g, cells = np.random.default_rng(11), RatioCells.of(stats.norm(0, 1), stats.norm(shift, 1))
        data = g.normal(shift, 1, (runs, size))
        usual = data.mean(axis=1) * math.sqrt(size) > stats.norm.ppf(1 - LEVEL)
        got = []
        for clamp in (best_clamp(cells, size, epsilon), (-epsilon, epsilon)):
            steps = clamped_steps(cells.ratios, *clamp)
            distribution = ratio_distribution(cells, steps, size, laplace_scale(LEVELS, epsilon))
            got.append(rejects(distribution, [steps[cells.places(x)].sum() for x in data], g, False))
        vote = votes(g, data, math.ceil(20 / epsilon) | 1, 0.5, epsilon)
        words = f"likelihood_ratio_test, N(0, 1) against N({shift:g}, 1), n={size}, eps={epsilon:g}"
        yield words, f"{got[0]:.3f}", f"{usual.mean():.3f}", f"{vote:.3f}", f"clamp at +-eps: {got[1]:.3f}"
    for size, shift, epsilon in ((200, 0.3, 1.0), (200, 0.3, 0.2)):
        g, distribution = np.random.default_rng(12), rank_sum_distribution(size, size, epsilon)
        data = g.normal(0, 1, (runs, 2 * size))
        data[:, :size] += shift
        totals = [larger_pairs(ranks(x, np.arange(2 * size)), size) for x in data]
        usual = stats.ttest_ind(data[:, :size], data[:, size:], axis=1).pvalue <= LEVEL
        words = f"two_samples_test, n={size}+{size}, shift {shift:g}, eps={epsilon:g}"
        yield words, f"{rejects(distribution, totals, g):.3f}", f"{usual.mean():.3f}", "", "t test"
    for size, shift, epsilon in ((200, 0.2, 1.0), (200, 0.2, 0.2)):
        g, distribution = np.random.default_rng(13), signed_ranks_distribution(size, epsilon)
        data = g.normal(shift, 1, (runs, size))
        totals = [positive_ranks(x, np.zeros(size, dtype=bool), np.arange(size)) for x in data]
        usual = stats.ttest_1samp(data, 0.0, axis=1).pvalue <= LEVEL
        words = f"paired_test, n={size}, shift {shift:g}, eps={epsilon:g}"
        yield words, f"{rejects(distribution, totals, g):.3f}", f"{usual.mean():.3f}", "", "t test"
    for size, effect, epsilon in ((500, 2.5, 1.0), (2000, 2.5, 1.0), (2000, 4.0, 1.0), (2000, 2.5, 0.1)):
        g, (blocks, reach) = np.random.default_rng(14), best_plan(size // 5, epsilon)
        distribution = ScoreSum(blocks, reach, epsilon).distribution
        data = g.normal(effect / math.sqrt(size), 1, (runs, size))
        p_values = [_block_p(x, blocks) for x in data]
        private = rejects(distribution, [int(scores(p, reach).sum()) for p in p_values], g, False)
        usual = stats.ttest_1samp(data, 0.0, axis=1, alternative="greater").pvalue <= LEVEL
        vote = votes(g, data, *best_votes(size // 5, epsilon), epsilon)
        words = f"custom_test, t test, blocks of 5 or more, n={size}, effect {effect:g} / sqrt n, eps={epsilon:g}"
        yield words, f"{private:.3f}", f"{usual.mean():.3f}", f"{vote:.3f}", f"{blocks} blocks, clip {reach:g}"
    edges, null = distribution_on_bins(stats.norm(0, 1), None, 10)
    for size, epsilon in ((500, 1.0), (500, 0.2)):
        g, scale, chances = np.random.default_rng(15), laplace_scale(MOVED, epsilon), whole_of(null)
        true = whole_of(distribution_on_bins(stats.norm(0.25, 1), edges, 10)[1])
        drawn, usual = g.multinomial(size, true, runs), g.multinomial(size, chances, 20_000)
        plain = ((drawn - size * chances)[:, :-1] ** 2 / (size * chances[:-1])).sum(axis=1)
        cut = np.quantile(((usual - size * chances)[:, :-1] ** 2 / (size * chances[:-1])).sum(axis=1), 1 - LEVEL)
        critical = np.quantile(null_fits(g, size, chances, scale, 20_000), 1 - LEVEL)
        seen = misfit(drawn + simulated.laplace(g, drawn.shape, scale), size, chances, scale)
        words = f"goodness_of_fit_test, 10 bins of N(0, 1), truth N(0.25, 1), n={size}, eps={epsilon:g}"
        yield words, f"{np.mean(seen > critical):.3f}", f"{np.mean(plain > cut):.3f}", "", "chi-square"


def _block_p(x: Any, blocks: int) -> Any:
    kept = x[: len(x) // blocks * blocks].reshape(blocks, -1)
    return stats.ttest_1samp(kept, 0.0, axis=1, alternative="greater").pvalue


def votes(g: Generator, data: Any, blocks: int, level: float, epsilon: float) -> float:
    """The share of runs in which noisy votes reject."""
    counted = [(_block_p(x, blocks) <= level).sum() for x in data]
    noisy = (
        np.array(counted) + simulated.laplace(g, (len(data),), laplace_scale(1, epsilon)) + g.random(len(data)) - 0.5
    )
    return float(np.mean([upper_tail(blocks, level, float(t), epsilon) <= LEVEL for t in noisy]))


NOTE = (
    "With 250 runs a size of 0.05 is seen as 0.022 to 0.078. A size below the level is careful: no more false alarms "
    "than promised, but less power."
)
PARTS: dict[str, Callable[[int], Iterator[Size]]] = {
    "signed": signed_sizes,
    "groups": group_sizes,
    "counts": count_sizes,
    "ratio": ratio_sizes,
    "blocks": block_sizes,
    "means": mean_sizes,
}


def size_row(row: Size) -> Row:
    """A size below the level is careful, one above it is missed."""
    name, data, share, count = row
    return f"{name}: {data}", f"size at level {LEVEL}, {count:,} runs", f"{share:.4f}", "<= 0.055", share <= 0.055


def power_row(row: Power, runs: int) -> Row:
    name, private, plain, voted, _ = row
    beside = f"without privacy {plain}" + (f", votes of blocks {voted}" if voted else "")
    return name, f"power at level {LEVEL}, {runs:,} runs ({beside})", private, "", True


def study(runs: int, means: int, only: str | None = None) -> None:
    """Measure, print, and (unless only a part was asked for) write."""
    few = max(500, runs // 10)
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        name: partial(lambda part, times: map(size_row, part(times)), part, means if name == "means" else runs)
        for name, part in PARTS.items()
    }
    parts["power"] = lambda: (power_row(row, few) for row in powers(few))
    parts["mean power"] = lambda: (power_row(row, means) for row in mean_powers(means))
    rows = (row for name, part in parts.items() if only in (None, name) for row in part())
    record("decisions", rows, note=NOTE, keep=only is None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--means", type=int, default=4_000)
    parser.add_argument("--only", choices=[*PARTS, "power", "mean power"])
    asked = parser.parse_args()
    study(asked.runs, asked.means, asked.only)
