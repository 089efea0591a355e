"""`discreet demo`: the story on built-in real data: a profile, a plan, answers, a country's survey, a refusal."""

import shutil
from dataclasses import KW_ONLY, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.accounting.filter import Budget
from discreet.cli import reports
from discreet.cli.describe_command import watching
from discreet.errors import BadInput, OverBudget
from discreet.ledger import Ledger
from discreet.noise.randomness import Seeded
from discreet.plan.profile import describe
from discreet.privacy.exact import show
from discreet.session import open as open_table

if TYPE_CHECKING:
    from rich.console import Console

FOLDER: Final = "discreet-demo"
DATA: Final = ("nhanes.parquet", "nhanes_plan.toml")
COUNTRY: Final = ("nhanes_cholesterol.parquet", "nhanes_cholesterol_plan.toml")  # with the survey's weights
LEDGER: Final = "study.ledger"
POPULATION: Final = "nhanes 2017-18"
BUDGET: Final = 2.5
ASKED: Final = 1.0  # of a last question, more than is left


@dataclass
class Story:
    """What happened, for machines."""

    folder: Path
    _: KW_ONLY
    profile: dict[str, Any] = field(default_factory=dict)
    release: dict[str, Any] = field(default_factory=dict)
    country: dict[str, Any] = field(default_factory=dict)
    charged_again: bool = True
    refusal: str = ""
    sound: bool = False
    left: dict[str, float] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"folder": str(self.folder)}


def prepare(out: Path | None) -> Path:
    """A new folder with the table and the plan in it."""
    folder = out or _unused(Path(FOLDER))
    try:
        folder.mkdir(parents=True, exist_ok=False)
        for name in (*DATA, *COUNTRY):
            shutil.copyfile(str(files("discreet.datasets").joinpath(name)), folder / name)
    except FileExistsError:
        raise BadInput(f"{folder} is there already; give a new folder with --out") from None
    return folder


def _unused(folder: Path) -> Path:
    number = 2
    found = folder
    while found.exists():
        found = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return found


def run(out: Path | None, seed: int | None, *, quiet: bool) -> Story:
    """The story, told as it happens unless `quiet`."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, quiet=quiet)
    console.width = max(console.width, 80)

    def chapter(number: int, title: str, command: str) -> None:
        console.print(Text.assemble("\n", (f"{number}. {title}", "bold")))
        console.print(Text(f"   $ {command}\n", style="dim"), soft_wrap=True)

    rng = None if seed is None else Seeded(seed)
    story = Story(prepare(out))
    table, plan, ledger = (story.folder / name for name in (*DATA, LEDGER))
    console.print(
        "Private answers about [bold]8,366 people[/] of the US health survey NHANES 2017-18 and, with the weights of "
        "that of 2009-10, about [bold]the United States[/]. Each table of people has a budget of epsilon "
        f"{show(BUDGET)} in all."
    )
    chapter(1, "What is in the table?", f"discreet describe {DATA[0]} --epsilon 1 --ledger {LEDGER} ...")
    with watching(None, quiet=quiet) as watch:
        story.profile = describe(
            str(table),
            epsilon=1.0,
            delta=1e-6,
            unit="person",
            ledger=str(ledger),
            population=POPULATION,
            budget=Budget(BUDGET, 1e-5),
            rng=rng,
            watch=watch,
        ).to_dict()
    if not quiet:
        reports.show_profile(story.profile)
    chapter(2, "A plan: what it would cost, and how good it would be", f"discreet release {DATA[1]} --dry-run")
    bound = reports.load(plan)
    if not quiet:
        reports.show_forecast(bound)
    chapter(3, "The answers, and a report", f"discreet release {DATA[1]} --yes")
    folder = story.folder / "release"
    reports.check_writable(folder, force=False)
    with watching(len(bound.priced.questions), quiet=quiet) as watch:
        story.release, written = reports.release(bound, folder, rng=rng, watch=watch)
    if not quiet:
        reports.show_answers(story.release, [path.relative_to(story.folder) for path in written])
    chapter(4, "The United States: a survey's weights, strata and clusters", f"discreet release {COUNTRY[1]} --yes")
    story.country = _country(story.folder, rng, console)
    chapter(5, "The same plan again: stored answers, at no cost", f"discreet release {DATA[1]} --yes --force")
    _again(story, bound, ledger)
    console.print("The same answers; nothing was charged." if not story.charged_again else "It was charged again.")
    chapter(6, "One question too many", f'session.mean("total_cholesterol", epsilon={ASKED:g})')
    story.refusal = _refused(table, ledger)
    console.print(Text(f"Refused: {story.refusal}"))
    chapter(7, "What an auditor sees", f"discreet ledger verify {LEDGER}")
    with Ledger(ledger) as book:
        verdict = book.verify()
        balance = book.balance(POPULATION)
    story.sound = verdict.ok
    story.left = {"epsilon": float(balance.left.cost), "delta": float(balance.left.delta)}
    console.print(Text(str(verdict)))
    console.print(Text(f"\nThe report, the plan and the ledger are in {story.folder}; open release/report.html."))
    console.print("What an epsilon means: [bold]discreet explain --epsilon 2.5 --delta 1e-5[/]")
    if seed is not None:
        console.print("[bold red]Not for publication: the noise was seeded.[/]")
    return story


def _country(folder: Path, rng: Seeded | None, console: "Console") -> dict[str, Any]:
    """What a weighted sample of its people says about a country."""
    console.print(
        "The answers above are about people like those in the file, which has no weights. In the survey of 2009-10 "
        "each person stands for a known number of people of the United States, so these are about the country:\n"
    )
    bound = reports.load(folder / COUNTRY[1])
    out = folder / "country"
    reports.check_writable(out, force=False)
    with watching(len(bound.priced.questions), quiet=console.quiet) as watch:
        answers, written = reports.release(bound, out, rng=rng, watch=watch)
    if not console.quiet:
        reports.show_answers(answers, [path.relative_to(folder) for path in written])
    console.print(
        "\nWithout privacy the estimate for adults is 13.6%; the survey's own report has 13.4%, adjusted for age."
    )
    return answers


def _again(story: Story, bound: Any, ledger: Path) -> None:
    with Ledger(ledger) as book:
        before = book.balance(POPULATION)
    again, _ = reports.release(bound, story.folder / "release", rng=None, watch=lambda _: None)
    with Ledger(ledger) as book:
        story.charged_again = book.balance(POPULATION) != before or again != story.release


def _refused(table: Path, ledger: Path) -> str:
    with open_table(str(table), None, None, ledger, population=POPULATION) as session:
        try:
            session.mean("total_cholesterol", epsilon=ASKED)
        except OverBudget as error:
            return str(error)
    return ""
