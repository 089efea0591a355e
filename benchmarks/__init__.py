"""Measurements: `make bench` and `make audit`."""

from collections.abc import Iterable

Row = tuple[str, str, str, str, bool]  # what, figure, measured, bar, and whether the bar is met


def table_lines(rows: Iterable[Row]) -> list[str]:
    """The lines of a page's table, each printed as soon as it is measured; a missed bar says so."""
    lines = []
    for *told, ok in rows:
        print("  ".join(f"{text:<40}" for text in told), "ok" if ok else "MISSED", flush=True)
        lines.append(f"| {' | '.join(told)} | {'ok' if ok else '**missed**'} |")
    return lines
