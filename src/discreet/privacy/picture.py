"""A release as a picture: the answer, its interval, and how much of the error is sampling and how much is privacy."""

from typing import Any

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.privacy.summary import lines, named

INK, PALE, PRIVACY = "#1f4e79", "#a9c4de", "#c8553d"
MOST_LABELS = 30


def draw(release: Any, confidence: float, ax: Any) -> Any:
    """Draw on `ax`, or on axes of its own; returns the axes."""
    if release.refusal is not None:
        raise Refused(release.refusal)
    ax = _axes(ax)
    _drawn(ax, release, confidence)
    _sign(ax, release)
    return ax


def draw_groups(groups: Any, confidence: float, ax: Any) -> Any:
    """One number with its interval for each group, below each other; returns the axes."""
    if groups.refusal is not None:
        raise Refused(groups.refusal)
    shown = [(key, release) for key, release in groups.items() if release.refusal is None]
    if not all(isinstance(release.value, int | float | np.number) for _, release in shown):
        raise BadInput(f"{groups.name} has no picture of all groups; draw each with groups[key].plot()")
    ax = _axes(ax)
    places = np.arange(len(shown))[::-1]
    for place, (_, release) in zip(places, shown, strict=True):
        interval = release.interval(confidence)
        ax.hlines(place, interval.low, interval.high, color=INK, linewidth=2)
        ax.plot(release.value, place, "o", color=INK)
    ax.set_yticks(places, [_label(key) for key, _ in shown])
    ax.set_ylim(-0.8, len(shown) - 0.2)
    ax.set_title(f"{groups.name}\n{interval.name}, each by itself", fontsize=10)
    _sign(ax, shown[0][1])
    return ax


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise BadInput("plots need matplotlib; install it with: pip install 'discreet[plot]'") from None
    return plt.subplots(figsize=(7, 4), layout="constrained")[1] if ax is None else ax


def _drawn(ax: Any, release: Any, confidence: float) -> None:
    """By the shape of the value."""
    value = release.value
    square = isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[0] == value.shape[1]
    if hasattr(value, "distribution") and hasattr(value, "plot"):
        _law(ax, release, confidence)
    elif hasattr(value, "edges") and hasattr(value, "heights"):
        _steps(ax, release, confidence)
    elif hasattr(value, "counts") or hasattr(value, "heights"):
        _bars(ax, release, confidence)
    elif hasattr(value, "centres"):
        _centres(ax, release)
    elif square or getattr(getattr(value, "covariance", None), "ndim", 0) == 2:
        _matrix(ax, release, *((value, np.zeros(len(value))) if square else (value.covariance, value.mean)))
    elif named(value) is not None:
        _coefficients(ax, release, confidence)
    elif isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.ndim == 1):
        _points(ax, release, confidence)
    elif isinstance(getattr(value, "sd", None), float):
        _normal(ax, release, confidence)
    else:
        raise BadInput(f"{release.name} has no picture; draw its value as you see fit")


def _steps(ax: Any, release: Any, confidence: float) -> None:
    """A density as steps in their band, with the polygon through them."""
    curve, interval = release.value, release.interval(confidence)
    low, high = interval.low.heights, interval.high.heights
    ax.stairs(high, curve.edges, baseline=low, fill=True, color=PALE, label=f"{interval.name}, all bins at once")
    ax.stairs(curve.heights, curve.edges, color=INK, linewidth=1)
    middles = (curve.edges[1:] + curve.edges[:-1]) / 2
    ax.plot(middles, curve.polygon(middles), color=PRIVACY, linewidth=1.2, label="frequency polygon")
    ax.set_ylim(bottom=0)
    ax.set_ylabel("density")
    ax.legend(loc="best", fontsize=8, frameon=False)
    ax.set_title(release.name, fontsize=10)


def _law(ax: Any, release: Any, confidence: float) -> None:
    value, interval = release.value, release.interval(confidence)
    law = value.distribution()
    ax.set_ylabel("density" if hasattr(law, "pdf") else "probability")
    if hasattr(law, "ppf"):
        value.plot(ax=ax, color=INK)
        shown = "; ".join(f"{name} {interval.low[name]:.4g} to {interval.high[name]:.4g}" for name in value)
        ax.set_title(f"{release.name}\n{interval.name}: {shown}", fontsize=10)
        return
    value.plot(ax=ax, color=PALE, edgecolor=INK, linewidth=0.8)  # of categories
    heights = np.array(list(value.values()))
    ends = [np.array(list(end.values())) for end in (interval.low, interval.high)]
    reach = np.maximum([heights - ends[0], ends[1] - heights], 0)
    ax.errorbar(np.arange(len(heights)), heights, yerr=reach, fmt="none", ecolor=PRIVACY, capsize=3)
    ax.set_title(f"{release.name}\n{interval.name}, each bar by itself", fontsize=10)


def _bars(ax: Any, release: Any, confidence: float) -> None:
    tally, interval = release.value, release.interval(confidence)
    places, what = np.arange(len(tally.keys)), "count" if hasattr(tally, "counts") else "share"
    tall = np.asarray(tally.counts if what == "count" else tally.heights)
    reach = [tall - np.asarray(interval.low), np.asarray(interval.high) - tall]
    ax.bar(places, tall, color=PALE, edgecolor=INK, linewidth=0.8)
    ax.errorbar(places, tall, yerr=np.maximum(reach, 0), fmt="none", ecolor=PRIVACY, capsize=3)
    names = [_label(key) for key in tally.keys]
    if len(names) <= MOST_LABELS:
        turn = 0 if max(map(len, names), default=0) * len(names) < 60 else 35
        ax.set_xticks(places, names, rotation=turn, ha="right" if turn else "center")
    ax.set_ylabel(what)
    ax.set_title(f"{release.name}\n{interval.name}, all bars at once", fontsize=10)


def _points(ax: Any, release: Any, confidence: float) -> None:
    values = np.atleast_1d(np.asarray(release.value, dtype=float))
    places = np.arange(len(values))[::-1]
    if release.spread is not None:
        interval = release.interval(confidence)
        low, high = (np.atleast_1d(np.asarray(end, dtype=float)) for end in (interval.low, interval.high))
        ax.hlines(places, low, high, color=INK, linewidth=2, label=interval.name)
        if release.spread.privacy is not None:
            size = np.broadcast_to(np.asarray(release.spread.privacy, dtype=float), values.shape)
            left, right = np.maximum(values - 2 * size, low), np.minimum(values + 2 * size, high)
            ax.hlines(places, left, right, color=PRIVACY, linewidth=6, alpha=0.6, label="of it privacy (2 sd)")
        ax.legend(loc="best", fontsize=8, frameon=False)
    ax.plot(values, places, "o", color=INK)
    labels = release.provenance.parameters.get("q")  # which quantile is which
    if isinstance(labels, tuple) and len(labels) == len(values):
        ax.set_yticks(places, [f"{float(label):g}" for label in labels])
    else:
        ax.set_yticks([])
    ax.set_ylim(-0.8, len(values) - 0.2)
    ax.set_title(release.name, fontsize=10)


def _centres(ax: Any, release: Any) -> None:
    """Centres as discs of an area by their noisy size: two columns, or the two directions in which they differ most."""
    value = release.value
    centres, words = value.centres, ("the first column", "the second")
    if centres.shape[1] == 1:
        centres, words = np.column_stack([centres, np.zeros(len(centres))]), ("the value", "")
    elif centres.shape[1] > 2:
        turns = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2]
        turns = np.concatenate([turns, np.zeros((2, centres.shape[1]))])[:2]  # of two centres there is one direction
        centres, words = centres @ turns.T, ("the first direction of the centres", "the second")
    area = 900 * np.maximum(value.sizes, 0) / max(1.0, float(value.sizes.max())) + 8
    ax.scatter(*centres.T, s=area, color=PALE, edgecolor=INK, linewidth=0.8, label="area: noisy size")
    ax.errorbar(
        *centres.T, xerr=2 * value.noise, yerr=2 * value.noise, fmt="none", ecolor=PRIVACY, label="noise (2 sd)"
    )
    for number, (x, y) in enumerate(centres):
        ax.annotate(str(number), (x, y), (0, 19), textcoords="offset points", ha="center", fontsize=8, color=INK)
    ax.margins(0.2)
    ax.set_ylabel(words[1])
    if not words[1]:
        ax.set_yticks([])
    ax.legend(loc="best", fontsize=8, frameon=False, markerscale=0.4)
    ax.set_title(f"{release.name}, across: {words[0]}", fontsize=10)


def _coefficients(ax: Any, release: Any, confidence: float) -> None:
    """Each coefficient but the intercept by name, about a line at 0."""
    shown = [line for line in lines(release, confidence) if line.name != "intercept"]
    places = np.arange(len(shown))[::-1]
    sizes = named(getattr(release.spread, "privacy", None)) or {}
    ax.axvline(0, color="#999999", linewidth=0.8)
    barred = [(place, line) for place, line in zip(places, shown, strict=True) if line.low is not None]
    if barred:
        at = [place for place, _ in barred]
        low, high, value = (np.array([getattr(line, end) for _, line in barred]) for end in ("low", "high", "value"))
        size = np.array([sizes.get(line.name, 0.0) for _, line in barred])
        left, right = np.maximum(value - 2 * size, low), np.minimum(value + 2 * size, high)
        ax.hlines(at, low, high, color=INK, linewidth=2, label=release.interval(confidence).name)
        ax.hlines(at, left, right, color=PRIVACY, linewidth=6, alpha=0.6, label="of it privacy (2 sd)")
        ax.plot(value, at, "o", color=INK, markersize=4)
    bare = [(place, line.value) for place, line in zip(places, shown, strict=True) if line.low is None]
    if barred:  # what has no interval could be anywhere: it is named, not placed
        for place, _ in bare:
            ax.text(0.5, place, "no interval", transform=ax.get_yaxis_transform(), ha="center", va="center", color=PALE)
    else:
        ax.plot([value for _, value in bare], [place for place, _ in bare], "o", color=INK, fillstyle="none")
    ax.set_yticks(places, [line.name for line in shown])
    ax.set_ylim(-0.8, len(shown) - 0.2)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="best", fontsize=8, frameon=False)
    ax.set_title(release.name, fontsize=10)


def _matrix(ax: Any, release: Any, covariance: Any, mean: Any) -> None:
    """Two columns as the ellipses of one and two standard deviations, others as a heat map of correlations."""
    if len(covariance) == 2:
        values, vectors = np.linalg.eigh(covariance)
        angles = np.linspace(0, 2 * np.pi, 200)
        circle = (vectors * np.sqrt(np.maximum(values, 0))) @ np.array([np.cos(angles), np.sin(angles)])
        for times, colour in ((1, INK), (2, PALE)):
            x, y = np.asarray(mean)[:, None] + times * circle
            ax.plot(x, y, color=colour, label=f"{times} sd")
        ax.plot(*mean, "+", color=INK)
        ax.legend(loc="best", fontsize=8, frameon=False)
    else:
        size = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
        image = ax.imshow(covariance / np.outer(size, size), vmin=-1, vmax=1, cmap="RdBu_r")
        ax.figure.colorbar(image, ax=ax, label="correlation")
    ax.set_title(release.name, fontsize=10)


def _normal(ax: Any, release: Any, confidence: float) -> None:
    """The density, and between which means and variances the population's lies."""
    value, interval = release.value, release.interval(confidence)
    low, high = interval.low, interval.high
    grid = np.linspace(value.mean - 4 * value.sd, value.mean + 4 * value.sd, 400)
    corners = [_density(grid, mean, sd) for mean in (low.mean, high.mean) for sd in (low.sd, high.sd)]
    ax.fill_between(grid, np.min(corners, axis=0), np.max(corners, axis=0), color=PALE, label=interval.name)
    ax.plot(grid, _density(grid, value.mean, value.sd), color=INK)
    ax.axvspan(low.mean, high.mean, color=PRIVACY, alpha=0.3, linewidth=0, label="of it the mean's")
    ax.set_yticks([])
    ax.set_ylim(bottom=0)
    ax.legend(loc="best", fontsize=8, frameon=False)
    ax.set_title(release.name, fontsize=10)


def _density(grid: Any, mean: float, sd: float) -> Any:
    return np.exp(-(((grid - mean) / sd) ** 2) / 2) / sd


def _sign(ax: Any, release: Any) -> None:
    words = f"epsilon {float(release.guarantee.epsilon):g}"
    if release.guarantee.delta:
        words += f", delta {float(release.guarantee.delta):g}"
    if not release.provenance.publishable:
        words += "; not for publication: seeded noise"
    ax.set_xlabel(words, loc="right", fontsize=7, color="#666666")


def _label(key: Any) -> str:
    if isinstance(key, tuple):
        return f"{key[0]:g}-{key[1]:g}"
    return "missing" if key is None else str(key)
