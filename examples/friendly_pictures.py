"""The pictures of docs/why-friendly.md: made-up people, fixed seeds, the library's own functions.

`python examples/friendly_pictures.py` draws them into docs/pictures; a test draws them again and compares.
"""

import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image

import discreet
from discreet.accounting.allocation import in_proportion
from discreet.friendly import (
    FriendlyMean,
    RefinedMean,
    TaperSum,
    Within,
    find_centre,
    match_core,
)
from discreet.friendly import (
    radius as plan,
)
from discreet.friendly.average import blurred
from discreet.friendly.core import shuffled
from discreet.friendly.find_centre import MOST
from discreet.friendly.radius import r_clip, r_pair
from discreet.privacy.loss import Gaussian

Floats = npt.NDArray[np.float64]
INK, PALE, RED, GOLD, GREY = "#1f4e79", "#a9c4de", "#c8553d", "#d99a2b", "#666666"
PICTURES: Final = Path(__file__).parent.parent / "docs" / "pictures"
RADIUS: Final = 5.0  # of friendship, in the small pictures
KNOWN: Final = RefinedMean(1.0, 1e-6, sigma=1.0)
COLOURS: Final = 64  # enough for lines and dots, and small on disk


def small_crowd() -> Floats:
    """Twenty-six people who belong together, and four who do not, in a shuffled order."""
    chance = np.random.default_rng(8)
    turn, length = chance.uniform(0, 2 * np.pi, 26), 2.45 * np.sqrt(chance.uniform(size=26))
    crowd = np.column_stack([length * np.cos(turn), length * np.sin(turn)])
    strays = np.array([[6.6, 3.0], [-6.8, 2.3], [5.9, -3.9], [-5.7, -4.1]])
    return chance.permutation(np.vstack([crowd, strays]))


def dropped_pairs(rows: Floats, radius: float) -> list[tuple[int, int]]:
    """Each row in turn is matched with the first later one that is free and no friend."""
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=2) > radius
    free, pairs = np.ones(len(rows), dtype=bool), []
    for one in range(len(rows)):
        later = [other for other in range(one + 1, len(rows)) if free[other] and apart[one, other]]
        if free[one] and later:
            free[[one, later[0]]] = False
            pairs.append((one, later[0]))
    core = match_core(Within(radius).strangers(rows))
    if core.survivors.tolist() != np.flatnonzero(free).tolist():
        raise AssertionError("the picture would not show what the library does")
    return pairs


def friends() -> Figure:
    """Who is a friend of one person in the crowd, and of one stray."""
    rows = small_crowd()
    length = np.linalg.norm(rows, axis=1)
    figure, axes = panels(2, (8.4, 3.65))
    for ax, who in zip(axes, (int(np.argmin(length)), int(np.argmax(length))), strict=True):
        apart = np.linalg.norm(rows - rows[who], axis=1)
        ax.add_patch(Circle(rows[who], RADIUS, color=PALE, alpha=0.3, linewidth=0))
        for other, distance in zip(rows, apart, strict=True):
            near = distance <= RADIUS
            style = {"color": INK, "linewidth": 0.7} if near else {"color": RED, "linewidth": 0.7, "linestyle": "--"}
            ax.plot(*np.stack([rows[who], other]).T, alpha=0.65, zorder=1, **style)
        others = np.arange(len(rows)) != who
        dots(ax, rows[others & (apart <= RADIUS)], INK)
        dots(ax, rows[others & (apart > RADIUS)], RED)
        ax.scatter(*rows[who], s=110, color=GOLD, edgecolor="white", zorder=4)
        count = int((apart <= RADIUS).sum()) - 1
        frame(ax, f"{count or 'no'} friends, {len(rows) - 1 - count} strangers")
    at = rows[np.argmin(length)]
    axes[0].annotate(
        "", (at[0], at[1] + RADIUS), at, arrowprops={"arrowstyle": "<->", "color": GOLD, "shrinkA": 5, "shrinkB": 0}
    )
    axes[0].text(at[0] + 0.15, at[1] + 0.78 * RADIUS, "radius", color=GOLD, fontsize=9.5)
    return figure


def matching() -> Figure:
    """Who is dropped, in one table and in another in which one person is somewhere else."""
    rows = small_crowd()
    survivors = match_core(Within(RADIUS).strangers(rows)).survivors
    who = int(survivors[np.argmin(np.linalg.norm(rows[survivors] - [0.0, 1.2], axis=1))])
    moved = rows.copy()
    moved[who] = [0.8, 5.4]
    other_side = match_core(Within(RADIUS).strangers(moved)).survivors
    changed = sorted(set(survivors.tolist()) ^ set(other_side.tolist()))
    figure, axes = panels(2, (8.4, 3.65))
    for ax, table in zip(axes, (rows, moved), strict=True):
        pairs = dropped_pairs(table, RADIUS)
        gone = np.zeros(len(table), dtype=bool)
        for one, other in pairs:
            gone[[one, other]] = True
            ax.plot(*table[[one, other]].T, color=RED, linewidth=1.3, zorder=1)
        dots(ax, table[~gone], INK)
        ax.scatter(*table[gone].T, s=38, facecolor="white", edgecolor=RED, linewidth=1.4, zorder=3)
        ax.scatter(*table[changed].T, s=150, facecolor="none", edgecolor=GOLD, linewidth=2.2, zorder=4)
        ax.plot(*table[~gone].mean(axis=0), marker="+", markersize=15, markeredgewidth=2.4, color=GOLD, zorder=5)
        left = int((~gone).sum())
        frame(ax, f"{len(pairs)} pairs dropped, {left} people survive")
    axes[0].set_xlabel("a table", color=GREY)
    axes[1].set_xlabel("its neighbour: one person is elsewhere; two changed sides", color=GREY)
    return figure


def taper() -> Figure:
    """What one person may pull at the mean, by distance; and the two rings around a centre."""
    figure, (left, right) = panels(2, (8.4, 3.9), equal=False)
    distance = np.linspace(0, 3.2, 321)
    pull = [float(TaperSum(np.zeros(1), 1.0).add(np.array([[at]])).mean()[0]) for at in distance]
    left.plot(distance, distance, color=GREY, linestyle=":", linewidth=1.4)
    left.plot(distance, np.minimum(distance, 1), color=RED, linestyle="--", linewidth=1.4)
    left.plot(distance, pull, color=INK, linewidth=2.6)
    left.set(xlim=(0, 3.2), ylim=(0, 1.75), xticks=[0, 1, 2, 3], xticklabels=["0", "R", "2R", "3R"])
    left.set(yticks=[0, 1], yticklabels=["0", "R"], xlabel="distance from the centre")
    left.set_title("how hard one person pulls", fontsize=10.5)
    left.text(1.7, 1.6, "plain mean", color=GREY, fontsize=9.5, ha="left", va="center")
    left.text(2.5, 1.04, "clipped", color=RED, fontsize=9.5)
    left.text(1.68, 0.42, "tapered", color=INK, fontsize=9.5)
    left.spines[["top", "right"]].set_visible(False)
    chance = np.random.default_rng(3)
    rows = np.vstack(
        [0.85 * chance.normal(size=(220, 2)), [[5.2, 3.3], [-4.4, 2.4], [7.0, -1.0], [3.9, -2.6], [-6.6, -3.2]]]
    )
    length, ring = np.linalg.norm(rows, axis=1), 3.0
    for size in (2 * ring, ring):
        right.add_patch(Circle((0, 0), size, facecolor=PALE, alpha=0.28, edgecolor=INK, linewidth=0.8))
    weight = np.clip(2 * ring / np.maximum(length, 1e-9) - 1, 0, 1)
    mixed = [tuple(share * np.array(rgb(INK)) + (1 - share) * np.array(rgb(RED))) for share in weight]
    right.scatter(*rows.T, s=14, c=mixed, zorder=3, linewidth=0)
    right.plot(0, 0, marker="+", markersize=14, markeredgewidth=2.4, color=GOLD, zorder=5)
    right.text(0, -ring - 0.15, "within R: full weight", color=INK, ha="center", va="top", fontsize=9)
    right.text(0, -2 * ring + 0.7, "up to 2R: less and less", color=INK, ha="center", va="bottom", fontsize=9)
    right.text(7.6, -1.45, "none", color=RED, ha="right", va="top", fontsize=9)
    frame(right, "around a centre that is known already", (-8, 8), (-6.6, 6.6))
    return figure


def refining() -> Figure:
    """Where the three centres land in forty runs, at epsilon 1: each begins where the one before ended."""
    chance = np.random.default_rng(5)
    rows = np.array([170.0, 70.0]) + chance.normal(size=(2000, 2))
    seeds = [discreet.Seeded(seed) for seed in range(40)]
    found = np.array([steps_of_one_run(rows, rng) for rng in seeds]) - rows.mean(axis=0)
    answer = KNOWN.release(rows, discreet.Seeded(0)).value - rows.mean(axis=0)
    if not np.allclose(found[0, -1], answer, atol=1e-9):
        raise AssertionError("the picture would not show what the library does")
    figure, axes = panels(3, (8.4, 3.3))
    names = ("1. mean of friends", "2. first tapered mean", "3. second: the answer")
    for ax, name, place in zip(axes, names, range(3), strict=True):
        points = found[:, place]
        off = float(np.sqrt(np.mean(points**2)))
        ax.scatter(*(rows[:700] - rows.mean(axis=0)).T, s=7, color=PALE, linewidth=0, alpha=0.6, zorder=1)
        ax.scatter(*points.T, s=17, color=INK, edgecolor="white", linewidth=0.3, zorder=3)
        frame(ax, name, (-2.9, 2.9), (-2.9, 2.9))
        ax.set_xlabel(f"off by {off:#.2g} standard deviations", color=GREY, fontsize=9.5)
    return figure


def steps_of_one_run(rows: Floats, rng: discreet.Seeded) -> list[Floats]:
    """The stages of `KNOWN`, one by one: `refining` checks the last against the library's own answer."""
    (size, width), relation, miss = rows.shape, discreet.Neighbours.REPLACE, float(KNOWN.budget.event)
    parts = plan.known_scale(size, width, float(KNOWN.budget.amount), miss, relation)
    stages = KNOWN.budget.split(**in_proportion(parts or {}))
    costs = {name: stages.part(name, Gaussian) for name in ("test", "centre", "again", "mean")}
    looked = rows[shuffled(size, MOST, rng)]
    radius = r_pair(len(looked), width)
    at = find_centre(looked, radius, test=costs["test"], mean=costs["centre"], miss=miss, neighbours=relation, rng=rng)
    if at is None:
        raise AssertionError("this crowd has a centre")
    found, deviation, averaged = [at.point], at.deviation, at.survivors
    for name, beyond in (("again", plan.BULK), ("mean", 1 / size)):
        sums = TaperSum(found[-1], r_clip(width, width * (deviation**2 + 1 / averaged), beyond)).add(rows)
        noisy, steps = blurred(sums.total, square=(2 << sums.bits) ** 2, cost=costs[name], rng=rng)
        unit = sums.radius / 2.0**sums.bits / size
        found, deviation, averaged = [*found, found[-1] + noisy * unit], steps * unit, size
    return found


def one_person() -> Figure:
    """One person walks away: how far the means follow; and what is released on both sides of the walk."""
    chance = np.random.default_rng(11)
    rows, radius = chance.normal(size=(600, 2)), 8.0
    far = np.geomspace(1, 1e6, 73)
    plain, kept, tapered = (np.array([]) for _ in range(3))
    start = match_core(Within(radius).strangers(rows))
    for distance in far:
        moved = rows.copy()
        moved[17] = [distance, 0.0]
        core = match_core(Within(radius).strangers(moved))
        before = (rows.mean(axis=0), rows[start.survivors].mean(axis=0), TaperSum(np.zeros(2), 3.5).add(rows).mean())
        after = (moved.mean(axis=0), moved[core.survivors].mean(axis=0), TaperSum(np.zeros(2), 3.5).add(moved).mean())
        shift = [float(np.linalg.norm(b - a)) for a, b in zip(before, after, strict=True)]
        plain, kept, tapered = (np.append(x, s) for x, s in zip((plain, kept, tapered), shift, strict=True))
    figure, (left, right) = panels(2, (8.4, 3.9), equal=False)
    bound = 2 * radius / (len(rows) - 2 * start.pairs)
    left.axhspan(bound, 1e5, color=PALE, alpha=0.3, linewidth=0)
    left.loglog(far, plain, color=GREY, linestyle=":", linewidth=1.8)
    left.loglog(far, kept, color=INK, linewidth=2.4)
    left.loglog(far, tapered, color=GOLD, linewidth=2.0)
    left.set(xlim=(1, 1e6), ylim=(3e-4, 1e4), xlabel="how far away one of 600 people goes")
    left.set_title("how far the mean follows, before noise", fontsize=10.5)
    left.text(7e3, 90, "plain mean", color=GREY, fontsize=9.5, ha="right")
    left.text(8e5, bound * 1.3, "where survivors cannot go", color=INK, fontsize=9.5, ha="right", va="bottom")
    left.text(8e5, kept[-1] * 1.2, "mean of survivors", color=INK, fontsize=9.5, ha="right", va="bottom")
    left.text(8e5, tapered[-1] / 1.2, "tapered mean", color="#a8741a", fontsize=9.5, ha="right", va="top")
    left.spines[["top", "right"]].set_visible(False)
    gone = rows.copy()
    gone[17] = [1e6, 0.0]
    ask = FriendlyMean(radius, epsilon=1.0, delta=1e-6)
    for table, colour, first, marker in ((rows, INK, 0, "o"), (gone, RED, 1000, "^")):
        points = np.array([ask.release(table, discreet.Seeded(first + k)).value for k in range(100)])
        right.scatter(*points.T, s=17, color=colour, alpha=0.6, linewidth=0, marker=marker, zorder=3)
    frame(right, "100 releases from each table, epsilon 1", (-0.54, 0.54), (-0.45, 0.45))
    right.set_xlabel("at home (dots); a million away (triangles)", color=GREY)
    return figure


def panels(number: int, size: tuple[float, float], *, equal: bool = True) -> tuple[Figure, Any]:
    """A figure with panels side by side."""
    figure = Figure(figsize=size, dpi=130)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    axes = figure.subplots(1, number, sharex=equal, sharey=equal)
    return figure, axes


def dots(ax: Any, rows: Floats, colour: str) -> None:
    """People."""
    ax.scatter(*rows.T, s=38, color=colour, edgecolor="white", linewidth=0.6, zorder=3)


def frame(
    ax: Any, title: str, wide: tuple[float, float] = (-7.8, 7.8), high: tuple[float, float] = (-5.6, 6.4)
) -> None:
    """Both axes in one measure, no ticks: places have no meaning here but to each other."""
    ax.set_aspect("equal")
    ax.set(xlim=wide, ylim=high, xticks=[], yticks=[])
    ax.spines[:].set_color("#cccccc")
    ax.set_title(title, fontsize=10.5)


def rgb(colour: str) -> tuple[float, ...]:
    """A colour as three shares."""
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))


DRAWN: Final[Mapping[str, Callable[[], Figure]]] = {
    "friends": friends,
    "matching": matching,
    "taper": taper,
    "refining": refining,
    "one-person": one_person,
}


def draw(folder: Path) -> list[Path]:
    """All pictures, as small files with few colours."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, picture in DRAWN.items():
        page = io.BytesIO()
        picture().savefig(page, format="png")
        path = folder / f"{name}.png"
        Image.open(page).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        drawn.append(path)
    return drawn


if __name__ == "__main__":
    for made in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES):
        print(made, made.stat().st_size)
