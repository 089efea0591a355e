"""`discreet demo`: the main job on built-in real data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.accounting.filter import Budget, Filter
from discreet.datasets import NHANES_CATEGORIES, load_nhanes
from discreet.noise.secure import Secure
from discreet.noise.seeded import Seeded
from discreet.promise.mechanism import Mechanism
from discreet.promise.release import Release
from discreet.statistics.bins import Categories, Edges
from discreet.statistics.count import Count
from discreet.statistics.histogram import Histogram, Tally, label
from discreet.statistics.hypothesis import ProportionTest, Tested
from discreet.statistics.mean import RankClippedMean
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.proportion import Proportion
from discreet.statistics.quantile import Quantile

BUDGET = Budget(2.0, 1e-6)
WIDTH = 30
NARROWEST = 80  # columns: a narrower table would cut its numbers, so that it is left to the terminal to wrap it


@dataclass(frozen=True, slots=True)
class Step:
    """One question, its answer, and what is left after it."""

    question: str
    release: Release[Any]
    left: Filter

    def record(self) -> dict[str, Any]:
        """Plain values."""
        left = {"epsilon": float(self.left.left.epsilon), "delta": float(self.left.left.delta)}
        return {"question": self.question} | self.release.to_dict() | {"left": left}


def questions() -> list[tuple[str, str, Callable[[Any], Any], Mechanism[Any]]]:
    """(question, column, what to make of the column, mechanism): all fixed before the data are read."""
    unit = "person"
    is_yes = lambda column: [value == "Yes" for value in column]  # noqa: E731
    is_woman = lambda column: [value == "Female" for value in column]  # noqa: E731
    whole = lambda column: column  # noqa: E731
    measured = lambda column: [value for value in column if value is not None]  # noqa: E731
    health = Categories.of(NHANES_CATEGORIES["general_health"])
    decades = Edges.of(range(0, 91, 10))
    return [
        ("people told they have diabetes", "diabetes", is_yes, Count(0.1, unit=unit)),
        ("share who smoked 100 cigarettes", "smoked_100_cigarettes", is_yes, Proportion(0.1, unit=unit)),
        ("are half of them women?", "sex", is_woman, ProportionTest(0.5, 0.1, unit=unit)),
        ("mean body mass index, no bounds", "bmi", measured, RankClippedMean(0.3, unit=unit)),
        ("median systolic pressure", "systolic_bp", measured, Quantile(0.5, 0.3, granularity=1, unit=unit)),
        ("general health, by category", "general_health", whole, Histogram(health, 0.3, unit=unit)),
        ("age in decades, public edges", "age", whole, Histogram(decades, 0.3, unit=unit)),
        ("education, found in the data", "education", whole, OpenHistogram(0.5, 1e-6, unit=unit)),
    ]


def run(seed: int | None) -> list[Step]:
    """Ask everything: charge first, then read."""
    rng = Secure() if seed is None else Seeded(seed)
    balance, table, steps = Filter.basic(BUDGET), load_nhanes(), []
    for question, column, prepare, mechanism in questions():
        balance = balance.charge(mechanism.loss)
        release = mechanism.release(prepare(table.column(column).to_pylist()), rng)
        steps.append(Step(question, release, balance))
    return steps


def show(steps: list[Step], seed: int | None) -> None:
    """Tables in the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.width = max(console.width, NARROWEST)
    console.print("Private answers about [bold]8,366 people[/] of the US health survey NHANES 2017-18.\n")
    answers = Table(box=None, header_style="bold", pad_edge=False)
    answers.add_column("question")
    for heading in ("answer", "95% interval", "epsilon", "left of 2"):
        answers.add_column(heading, justify="right", no_wrap=True)
    for step in steps:
        answers.add_row(step.question, *_cells(step))
    console.print(answers)
    for step in steps:
        if step.release.refusal is None and isinstance(step.release.value, Tally):
            console.print(f"\n[bold]{step.question}[/] (noise interval for all bars at once)")
            console.print(_bars(step.release))
    console.print(f"\nThe budget: {steps[-1].left}.")
    console.print(
        "Missing answers count as no; the mean and the median are of those who were measured. Their intervals and the "
        "share's are about a population that these people were drawn from at random; NHANES is a weighted survey, so "
        "that population is not the United States."
    )
    console.print("What an epsilon means: [bold]discreet explain --epsilon 2 --delta 1e-6[/]")
    if seed is not None:
        console.print("[bold red]Not for publication: the noise was seeded.[/]")


def _cells(step: Step) -> list[str]:
    release = step.release
    epsilon = f"{float(release.guarantee.epsilon):g}"
    left = f"{float(step.left.left.epsilon):g}"
    if release.refusal is not None:
        return ["refused", "", epsilon, left]
    if isinstance(release.value, Tally):
        return [f"{len(release.value)} bins", "below", epsilon, left]
    if isinstance(release.value, Tested):
        return [f"p = {release.value.p_value:.2g}", "", epsilon, left]
    interval = release.interval()
    return [_short(release.value), f"{_short(interval.low)} to {_short(interval.high)}", epsilon, left]


def _short(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.4g}"


def _bars(release: Release[Tally]) -> Any:
    from rich.table import Table
    from rich.text import Text

    tally, interval = release.value, release.interval()
    bars = Table(box=None, show_header=False, pad_edge=False)
    most = max([1, *tally.counts.tolist()])
    for index, name in enumerate(tally.keys):
        count = int(tally.counts[index])
        low, high = int(interval.low[index]), int(interval.high[index])
        bars.add_row(Text(label(name)), "█" * round(WIDTH * count / most), str(count), f"{low} to {high}")
    if tally.other is not None:
        bars.add_row("other or missing", "", str(tally.other), "")
    return bars
