"""docs/compare.md and its pictures, from the figures."""

from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from matplotlib.figure import Figure

from benchmarks.compare.contenders import ROOT

DOCS: Final = ROOT / "docs"
AHEAD: Final = 1.02  # a ratio that is no more than this times the best is as good, within the runs' own error
JUDGED: Final = ("discreet", "discreet, no interval")  # told no more than the table
ANSWERS: Final = 0.95  # the share of runs that must be answered
HEAD: Final = """\
# Compared with others

By `make compare`. Everybody is asked about the same people, drawn anew in each run. `discreet` is told nothing but the
table; what each of the others is told beyond that stands behind its name, and is the truth: bounds are six standard
deviations to either side of the true mean, for a quantile too. Where n is told, one person is replaced; else one is
added or removed, which is our default and hides more.

**Error** is the root of the mean squared error over that of the answer without privacy in the same runs (for k-means
the root of the loss over that of k-means without privacy; for counts the root of the mean squared error itself).
**Answered** is the share of runs that were not refused; the error is that of the answered ones. **Holds** is the share
of 95% intervals that hold the population's value, whatever the interval says it is about; only `discreet` gives
intervals. **Width** is their median width. **Plain** is the error without privacy, in the data's unit. **Bound** is
the error, over plain, below which no private method can be for both of two populations near this one
(`benchmarks/compare/least.py`): a floor, not a goal, for its constants are not sharp. A cell is **ahead** if no
other is more than 2% better and at least 95% of the runs are answered; else it says who is. With few runs 2% is less
than chance: errors of R runs are known within about 1 / sqrt(R), one part in eight for 60.

Peers give no intervals, and an interval for a quantile costs more people: one for the 99% point needs n * epsilon of
about 15,000 and is refused in all cells here. So `discreet, no interval` (`confidence=None`, from n * epsilon of about
3,000) has a verdict of its own. Google's library is asked in one run of five.

OpenDP 0.16, diffprivlib 0.6 and Google's library (through PyDP 1.1, with its approximate bounds) are their own
packages. CoinPress (Biswas et al. 2020), AdaSSP (Wang 2018), TukeyEM (Amin et al. 2022), Durfee (2023) and DP-Lloyd (Su
et al. 2016) are written anew from the papers, with float noise, for this page only.
"""


def write(figures: Mapping[str, Any]) -> None:
    """The page, and a picture for each statistic that has a finer grid."""
    cells = [cell for name, part in figures.items() if name != "curves" for cell in part["cells"]]
    lines = [HEAD, *_summary(cells)]
    lines += ["", *_speed(cells)]
    for name in _pictures(figures):
        lines += ["", f"![error against n and epsilon]({name}.png)"]
    for part in dict.fromkeys(cell["part"] for cell in cells):
        lines += ["", *_table(part, [cell for cell in cells if cell["part"] == part])]
    days = sorted({part["day"] for part in figures.values()})
    runs = "; ".join(f"{name} {_runs(part['cells'])}" for name, part in figures.items())
    lines += ["", f"Measured on {', '.join(days)}; runs a cell: {runs}. `make compare` makes 200, of models 40."]
    (DOCS / "compare.md").write_text("\n".join(lines) + "\n")


def _runs(cells: list[Any]) -> str:
    least, most = (end(cell["runs"] for cell in cells) for end in (min, max))
    return f"{least}" if least == most else f"{least} to {most}"


def ratio(cell: Mapping[str, Any], row: Mapping[str, Any]) -> float | None:
    """The error over that without privacy in the same runs; a tied quantile is found without error."""
    if row["error"] is None or cell["about"] == "people":
        return row["error"]  # type: ignore[no-any-return]
    return float(row["error"] / (row.get("plain") or cell["plain"] or 1.0))


def verdict(cell: Mapping[str, Any], who: str = "discreet") -> str:
    """Who is best, ours told nothing."""
    ours = next(row for row in cell["rows"] if row["who"] == who)
    others = [
        (found, row["who"])
        for row in cell["rows"]
        if (found := ratio(cell, row)) is not None and row["answered"] >= ANSWERS and not _own(row)
    ]
    best = min(others, default=None)
    mine = ratio(cell, ours)
    if mine is None or ours["answered"] < ANSWERS:
        return "behind: refused" if best else "refused, as by all"
    if best is None or mine <= AHEAD * best[0]:
        return "ahead"
    return f"behind {best[1].split(',')[0]}"


def _own(row: Mapping[str, Any]) -> bool:
    return str(row["who"]).startswith("discreet")


def _summary(cells: list[Any]) -> list[str]:
    lines = ["## In short", "", "| statistic | cells | ahead | behind |", "|---|---|---|---|"]
    for part in dict.fromkeys(cell["part"] for cell in cells):
        mine = [cell for cell in cells if cell["part"] == part]
        for who in (row["who"] for row in mine[0]["rows"] if row["who"] in JUDGED):
            said = [verdict(cell, who) for cell in mine]
            behind = {name: said.count(name) for name in sorted(set(said)) if name != "ahead"}
            told = ", ".join(f"{name.removeprefix('behind ')} {count}" for name, count in behind.items())
            name = part + who.removeprefix("discreet")
            lines.append(f"| {name} | {len(said)} | {said.count('ahead')} | {told or 'none'} |")
    return lines


def _speed(cells: list[Any]) -> list[str]:
    """Median CPU of the cells with most people."""
    lines = ["## Speed", "", "CPU of one answer, the median over the cells with most people.", ""]
    lines += ["| statistic | n | |", "|---|---|---|"]
    for part in dict.fromkeys(cell["part"] for cell in cells):
        most = max(cell["size"] for cell in cells if cell["part"] == part)
        taken: dict[str, list[float]] = {}
        for cell in cells:
            if (cell["part"], cell["size"]) == (part, most):
                for row in cell["rows"]:
                    taken.setdefault(row["who"], []).append(row["seconds"] or 0.0)
        told = "; ".join(f"{who}: {_brief(1e3 * median(all_of))} ms" for who, all_of in taken.items())
        lines.append(f"| {part} | {most:,} | {told} |")
    return lines


def _table(part: str, cells: list[Any]) -> list[str]:
    lines = [
        f"## {part[0].upper()}{part[1:]}",
        "",
        "| people | n, epsilon | plain | bound | who | error | answered | holds | width | CPU | |",
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|")
    for cell in cells:
        at = f"{cell['size']:,}, {cell['epsilon']:g}" + (f", delta {cell['delta']:g}" if cell["delta"] else "")
        plain = "" if cell["about"] == "people" or cell["plain"] is None else _brief(cell["plain"])
        bound = _brief(cell["least"] / cell["plain"]) if cell.get("least") and cell["plain"] else ""
        for place, row in enumerate(cell["rows"]):
            over = ratio(cell, row)
            error = "" if over is None else _brief(over)
            holds = "" if row["coverage"] is None else f"{row['coverage']:.3f}"
            width = "" if row["width"] is None else _brief(row["width"])
            first = (cell["people"], at, plain, bound) if place == 0 else ("", "", "", "")
            said = f"**{verdict(cell, row['who'])}**" if row["who"] in JUDGED else ""
            told = (
                *first,
                row["who"],
                error,
                f"{row['answered']:.2f}",
                holds,
                width,
                "" if row["seconds"] is None else f"{1e3 * row['seconds']:.1f} ms",
                said,
            )
            lines.append(f"| {' | '.join(told)} |")
    return lines


def _brief(number: float) -> str:
    return f"{number:.3g}" if number < 1e6 else f"{number:.0e}"


def _pictures(figures: Mapping[str, Any]) -> list[str]:
    """Error against n at epsilon 1, and against epsilon at n = 5,000; without privacy as a dashed line."""
    if "curves" not in figures:
        return []
    wanted = {(cell["part"], cell["people"]) for cell in figures["curves"]["cells"]}
    cells = [c for part in figures.values() for c in part["cells"] if (c["part"], c["people"]) in wanted]
    names = []
    for part in sorted({part for part, _ in wanted}):
        people = sorted({name for kind, name in wanted if kind == part})
        figure = Figure(figsize=(4 * len(people), 6.5), layout="constrained")
        axes = figure.subplots(2, len(people), sharex="row", squeeze=False)
        for column, name in enumerate(people):
            mine = [cell for cell in cells if (cell["part"], cell["people"]) == (part, name)]
            at_one = sorted((cell for cell in mine if cell["epsilon"] == 1.0), key=lambda cell: int(cell["size"]))
            at_size = sorted((cell for cell in mine if cell["size"] == 5000), key=lambda cell: float(cell["epsilon"]))
            _curves(axes[0][column], at_one, "size", f"{name}, epsilon 1", "people")
            _curves(axes[1][column], at_size, "epsilon", f"{name}, n = 5,000", "epsilon")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(f"{part}: root mean squared error")
        stem = f"compare-{part.replace(' ', '-').replace('.', '')}"
        figure.savefig(DOCS / f"{stem}.png", dpi=110)
        names.append(stem)
    return names


def _curves(axes: Any, cells: list[Any], along: str, title: str, label: str) -> None:
    floors = [cell["plain"] for cell in cells]
    places = [cell[along] for cell in cells]
    for place, who in enumerate(row["who"] for row in cells[0]["rows"]):
        rows = [cell["rows"][place] for cell in cells]
        shown = [
            (x, row["error"]) for x, row in zip(places, rows, strict=True) if row["error"] and row["answered"] > ANSWERS
        ]
        style = {"linewidth": 2.4, "zorder": 3} if who == "discreet" else {"linewidth": 1.2}
        axes.plot(*zip(*shown, strict=True) if shown else ([], []), marker="o", markersize=3, label=who, **style)
    axes.plot(places, floors, "k--", linewidth=1, label="without privacy")
    axes.set(xscale="log", yscale="log", title=title, xlabel=label)
    axes.set_ylim(0.5 * min(floors), 300 * min(floors))
    axes.spines[["top", "right"]].set_visible(False)
