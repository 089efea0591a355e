"""docs/benchmarks.md, made of benchmarks/results: `python -m benchmarks.overview`.

The page has a line for each group of figures: how many, from which to which, and how many bars are missed. Each missed
bar is listed. A figure that no line takes is an error, so that nothing measured is left out.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import recorded

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
PICTURE = PAGE.parent / "pictures" / "coverage.svg"


@dataclass(frozen=True, slots=True)
class Line:
    """Figures of one study that belong together."""

    told: str
    study: str
    figure: str = ""  # a pattern that the figure's name must hold
    what: str = ""  # and one for what it is of
    unit: str = ""

    def takes(self, study: str, row: list[Any]) -> bool:
        return study == self.study and bool(re.search(self.figure, row[1]) and re.search(self.what, row[0]))


COVERAGE = (
    Line("mean of a normal column", "means", "^coverage", "gaussian"),
    Line("mean of any shape, eight shapes", "means", "^coverage", "any shape"),
    Line("median, 400 and 2,000 people", "means", "^coverage", "median"),
    Line("quantiles of 23 real columns", "quantiles", "^coverage"),
    Line("mean of rows, d = 1 and 10", "friendly", "^coverage"),
    Line("Bernoulli, binomial, multinomial", "families", "^coverage", "nomial|bernoulli"),
    Line("Poisson, exponential, gamma, beta, normal", "families", "^coverage", "^(poisson|exp|gamma|beta|gauss)"),
    Line("maximum likelihood", "families", "^coverage", "^likelihood"),
    Line("linear regression", "models", "^coverage"),
    Line("logistic and Poisson regression", "glms", "^coverage", "^(?!harder)"),
    Line("... harder: few cases, skewed, 10 features", "glms", "^coverage", "^harder"),
    Line("any estimator, simulated", "blocks", "^coverage, "),
    Line("any estimator, questions on real tables", "blocks", "^coverage of all"),
)
ACCURACY = (
    Line("mean of a normal column: error, over the sample mean's", "means", "^RMSE"),
    Line("... over CoinPress", "means", "CoinPress"),
    Line("... width, over the t interval's", "means", "t interval"),
    Line("mean of any shape: width, over the non-private", "means", "width over the non-private"),
    Line("median: width, over order statistics", "means", "order statistics"),
    Line("quantiles of real columns: width, in standard deviations", "quantiles", "^median width"),
    Line("mean of rows: noise or error, over an oracle's", "friendly", "oracle|clean"),
    Line("... over CoinPress", "friendly", "CoinPress"),
    Line("... over the sample mean's, four shapes", "friendly", "sample mean"),
    Line("... runs lost to 30% far outliers, of 200", "friendly", "^refused or"),
    Line("covariance: error, over the sample's", "covariance", "^error"),
    Line("density: squared error, over the best fixed width", "density"),
    Line("k-means: loss, over k-means without privacy", "clusters", "^(centred|without|pure)"),
    Line("... the lectures' Lloyd", "clusters", "^lloyd"),
    Line("... diffprivlib", "clusters", "^diffprivlib"),
    Line("... friendly: runs near the sample's error, of 20", "clusters", "^runs with"),
    Line("families: width, over the non-private, where the family is right", "families", "width", "^(?!likelihood)"),
    Line("maximum likelihood: width, over the non-private", "families", "width", "^likelihood"),
    Line("linear regression: median error, over AdaSSP", "models", "^over AdaSSP"),
    Line("... median error: ours", "models", "^median error", "no bounds"),
    Line("... median error: AdaSSP, diffprivlib", "models", "^median error", "AdaSSP|diffprivlib"),
    Line("... median error: without privacy", "models", "^median error", "not private"),
    Line("... refused; 5 of 5 where columns correlate at 0.99", "models", "^refused"),
    Line("logistic, Poisson: excess loss", "glms", "^mean excess"),
    Line("... width of an interval", "glms", "^mean width"),
    Line("... points of accuracy lost on three real tables", "glms", "^points"),
    Line("... harder cases: error, over that without privacy", "glms", "^error of"),
    Line("... harder cases: width, over that without privacy", "glms", "^width of"),
    Line("... 10 features of 1,000 people: runs refused, of 40", "glms", "^runs refused"),
    Line("any estimator: width, over the plain robust one", "blocks", "^median width"),
    Line("... error of four slopes", "blocks", "^median error of all"),
    Line("... error of one slope", "blocks", "^median error of one"),
    Line("forecasts: forecast, over the error or power achieved", "forecasts", "^forecast"),
)
TESTS = (
    Line("size: signs, ranks, groups, counts, ratios, blocks", "decisions", "^size", "^(?!mean_test|two_means)"),
    Line("size: means, about 1,000 people, epsilon 1", "decisions", "^size", "^(mean_test.*n=1000|two_means)"),
    Line("size: means without a model, 5,000 people, epsilon 0.1", "decisions", "^size", "^mean_test.*n=5000"),
    Line("power", "decisions", "^power"),
)
SPEED = (
    Line("exact noise: CPU, over numpy's floats", "speed", "float sampler"),
    Line("... values a second, over OpenDP's", "speed", "OpenDP"),
    Line("counts of 2e7 numbers: CPU, over numpy's", "speed", "numpy's \\("),
    Line("import, a small release, a charge: CPU, over its limit", "speed", "^CPU over [\\d.]"),
    Line("means and medians of 1e6 and 1e7: CPU, over numpy's", "means", "CPU"),
    Line("... memory, over the input", "means", "memory"),
    Line("mean of 1e5 to 4e6 rows, d = 10 and 100: CPU", "friendly", "^CPU", unit=" s"),
    Line("... growth, over a straight line's", "friendly", "straight"),
    Line("... memory, over the input", "friendly", "memory"),
    Line("covariance of 1e6 x 10: CPU, over np.cov", "covariance", "CPU"),
    Line("k-means of 1e6 x 10: CPU, over scikit-learn", "clusters", "CPU"),
    Line("linear regression of 1e6 x 10: CPU", "models", "CPU seconds", unit=" s"),
    Line("... over np.cov", "models", "CPU over"),
    Line("logistic of 1e6 rows: time, over scikit-learn", "glms", "time over"),
    Line("... features on the grid, once", "glms", "seconds", unit=" s"),
    Line("a thousand fits and more on 1e6 x 10: time, over one fit", "blocks", "^time"),
    Line("... least squares one by one", "blocks", "^seconds", unit=" s"),
    Line("mean of a file in pieces: CPU, over polars", "tables", "CPU"),
    Line("... peak memory", "tables", "memory", unit=" MB"),
    Line("a forecast: CPU", "forecasts", "CPU", unit=" s"),
)
SECTIONS = {
    "Coverage": (COVERAGE, "The share of 95% intervals that hold what their first line names."),
    "Accuracy": (ACCURACY, "Mostly ratios, so that 1 is no loss. Without bounds given, unless said."),
    "Tests": (TESTS, "Size: the share of true null hypotheses rejected at level 0.05; it should not be above it."),
    "Speed": (SPEED, "CPU time of one process, beside the usual tool in the same run."),
}
WHOLE = {
    "goals": "Goals",
    "profiles": "A profile of a whole table",
    "ledger": "Ledger",
    "fuzz": "Fuzz",
}  # shown row by row


def page(studies: dict[str, dict[str, Any]]) -> str:
    """All of it."""
    missed = [(name, row) for name, study in studies.items() for row in study["rows"] if not row[4]]
    figures = sum(len(study["rows"]) for study in studies.values())
    bars = sum(bool(row[3]) for study in studies.values() for row in study["rows"])
    lines = [
        "# Benchmarks",
        "",
        "<!-- made by python -m benchmarks.overview; do not edit -->",
        f"{figures:,} figures of {len(studies)} studies; {len(missed)} of {bars} bars are [missed](#missed).",
        "`make bench` and `make audit` measure them anew, and [the last table](#studies) says when each was taken, and",
        "how. Two studies have pages of their own: [intervals on real tables](ordinary-data.md) and",
        "[other packages and published methods](compare.md).",
        "",
        "![Coverage of 95% intervals, a dot for each figure](pictures/coverage.svg)",
        "",
    ]
    for title, (some, about) in SECTIONS.items():
        lines += [f"## {title}", "", about, "", "| | figures | from | to | missed |", "|---|---|---|---|---|"]
        lines += [text for line in some if (text := summary(line, studies))]
        lines += [""]
    lines += audits(studies)
    for name, title in ((name, title) for name, title in WHOLE.items() if name in studies):
        lines += [f"## {title}", "", studies[name]["note"], "", "| | | bar |", "|---|---|---|"]
        lines += [f"| {told(row)} | {number(row[2])} | {verdict(row)} |" for row in studies[name]["rows"]]
        lines += [""]
    lines += ["## Missed", "", "| study | | measured | bar |", "|---|---|---|---|"]
    lines += [f"| {name} | {told(row)} | {row[2]} | {escaped(row[3])} |" for name, row in missed]
    lines += ["", "## Studies", "", "| study | date | commit | command | |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {one['date']} | {one['commit']} | `{one['run']}` | {one['note']} |"
        for name, one in studies.items()
    ]
    machines = Counter(study["machine"] for study in studies.values())
    return "\n".join([*lines, "", f"Machine: {'; '.join(machines)}; others use it too.", ""])


def summary(line: Line, studies: dict[str, dict[str, Any]]) -> str:
    """How many figures, from which to which, and how many bars they miss."""
    rows = [row for row in studies[line.study]["rows"] if line.takes(line.study, row)]
    if not rows:
        return ""
    values = sorted(value for row in rows for value in numbers(row[2]))
    ends = " | ".join(f"{value:g}{line.unit}" for value in (values[0], values[-1]))
    wrong = sum(not row[4] for row in rows)
    bars = sum(bool(row[3]) for row in rows)
    met = f"{f'**{wrong}**' if wrong else 0} of {bars}" if bars else ""
    return f"| {line.told} | {len(rows)} | {ends} | {met} |"


def audits(studies: dict[str, dict[str, Any]]) -> list[str]:
    """Neighbouring tables: runs and objections."""
    lines = [
        "## Audits",
        "",
        "Pairs of tables that differ in one person. An objection is anything that tells them apart",
    ]
    lines += ["and was not paid for.", "", "| | runs | objections |", "|---|---|---|"]
    for name, title in (("questions", "whole questions"), ("audit", "mechanisms, each relation apart")):
        rows = studies.get(name, {"rows": []})["rows"]
        runs = sum(int(found[1].replace(",", "")) for row in rows if (found := re.search(r"of ([\d,]+) runs", row[1])))
        if rows:
            lines += [f"| {len(rows)} {title} | {runs:,} | {sum(int(row[2]) for row in rows)} |"]
    return [*lines, ""]


def told(row: list[Any]) -> str:
    """What it is, and which figure of it."""
    return escaped(f"{row[0]}: {row[1]}" if row[1] and row[1] != "plans tried" else row[0])


def verdict(row: list[Any]) -> str:
    return f"{escaped(row[3])} {'' if row[4] else '**missed**'}".strip()


def number(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def numbers(text: str) -> list[float]:
    """One number, or several; of "3 of 5", the 3."""
    return [float(part.split()[0]) for part in text.split(", ")]


def escaped(text: str) -> str:
    return text.replace("|", "&#124;").replace("<", "&lt;")


def left_out(studies: dict[str, dict[str, Any]]) -> list[str]:
    """What no line, or more than one, takes."""
    known = [line for lines, _ in SECTIONS.values() for line in lines]
    return [
        f"{name}: {row[0]}: {row[1]}"
        for name, study in studies.items()
        if name not in (*WHOLE, "questions", "audit")
        for row in study["rows"]
        if sum(line.takes(name, row) for line in known) != 1
    ]


def picture(studies: dict[str, dict[str, Any]]) -> str:
    """Coverage, a dot for each figure; the colours read on light and on dark pages."""
    low, left, width, step = 0.83, 10, 420, 40

    def at(value: float) -> float:
        return left + width * (value - low) / (1 - low)

    height = step * len(COVERAGE) + 50
    wide = left + width + 20
    look = 'font-family="system-ui, sans-serif" font-size="13" fill="#7a828c"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" viewBox="0 0 {wide} {height}" {look}>',
        "<title>Coverage of 95% intervals: a dot for each figure, red where a bar is missed</title>",
    ]
    for tick in (0.85, 0.90, 0.95, 1.0):
        strong = ' stroke-width="2"' if tick == 0.95 else ' stroke-dasharray="2 3"'
        parts.append(f'<path d="M{at(tick):.1f} 8V{height - 34}" stroke="#9aa2ac"{strong}/>')
        parts.append(f'<text x="{at(tick):.1f}" y="{height - 16}" text-anchor="middle">{tick:.2f}</text>')
    for place, line in enumerate(COVERAGE):
        y = step * place + 34
        parts.append(f'<text x="{left}" y="{y - 12}">{line.told.removeprefix("... ")}</text>')
        for row in studies[line.study]["rows"]:
            if line.takes(line.study, row):
                colour = "#2f7fd0" if row[4] else "#d03b2f"
                dots = (f'<circle cx="{at(value):.1f}" cy="{y}" r="4"' for value in numbers(row[2]))
                parts += [f'{dot} fill="{colour}" fill-opacity="0.55"/>' for dot in dots]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Write the page and its picture."""
    studies = recorded()
    if rest := left_out(studies):
        raise SystemExit("no line, or more than one, takes\n" + "\n".join(rest))
    PAGE.write_text(page(studies))
    PICTURE.write_text(picture(studies))


if __name__ == "__main__":
    main()
