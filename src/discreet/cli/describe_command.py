"""`discreet describe`: a private profile of a whole table, in the terminal and as a page."""

from typing import Any

from discreet.plan.profile import UNRECORDED, plural
from discreet.privacy.exact import show
from discreet.privacy.safe_text import clean, cleaned


def show_profile(dossier: dict[str, Any]) -> None:
    """One line for each column, and the bars of categories."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    dossier = cleaned(dossier)
    console = Console(highlight=False)
    console.width = max(console.width, 80)
    columns: dict[str, dict[str, Any]] = {}
    for entry in dossier["releases"]:
        record = entry["release"]
        if not entry["columns"]:
            people = f"{_with_bar(record)} {plural(dossier['data']['unit'])}"
            console.print(Text(f"{dossier['title']}: {people}", style="bold"))
            continue
        seen = columns.setdefault(entry["columns"][0], {"kind": entry["kind"]})
        seen[entry["about"]] = record
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("quantiles or categories, with 95% intervals", overflow="fold", ratio=1)
    for name, seen in columns.items():
        table.add_row(Text(name), seen["kind"], _missing(seen), Text(_summary(seen)))
    console.print(table)
    budget = dossier["budget"]
    console.print(
        f"\nThe whole profile: epsilon {show(budget['this']['epsilon'])}, delta {show(budget['this']['delta'])}, "
        f"{dossier['data']['neighbours']}."
    )
    if not all(entry["release"]["publishable"] for entry in dossier["releases"]):
        console.print("[bold red]Not for publication: the noise was seeded.[/]")
    if not dossier["reproducibility"]["receipts"]:
        console.print(UNRECORDED)


def _missing(seen: dict[str, Any]) -> str:
    if "missing" in seen:
        return _percent(seen["missing"])
    tally = (seen.get("categories") or {}).get("value")
    if not tally:
        return ""
    total = sum(max(0, count) for count in tally["counts"]) + max(0, tally.get("other") or 0)
    gone = sum(count for key, count in zip(tally["keys"], tally["counts"], strict=True) if key is None)
    gone += (tally.get("other") or 0) if seen["kind"] == "boolean" else 0
    return f"{max(0, gone) / total:.1%}" if total > 0 else ""


def _percent(record: dict[str, Any]) -> str:
    if record["refusal"] is not None:
        return "refused"
    half = (record["interval"]["high"] - record["interval"]["low"]) / 2
    return f"{record['value']:.1%} ±{half:.1%}"


def _summary(seen: dict[str, Any]) -> str:
    if "quantiles" in seen:
        return _quantiles(seen["quantiles"])
    if "categories" in seen:
        return _categories(seen["categories"])
    return ""


def _quantiles(record: dict[str, Any]) -> str:
    if record["refusal"] is not None:
        return f"refused: {record['refusal']}"
    shares = record["provenance"]["parameters"]["q"]
    listed = isinstance(shares, list)
    low, high = record["interval"]["low"], record["interval"]["high"]
    rows = zip(shares, record["value"], low, high, strict=True) if listed else [(shares, record["value"], low, high)]
    return "\n".join(f"{float(q):4.0%}  {_number(value)}  ({_number(a)} to {_number(b)})" for q, value, a, b in rows)


def _categories(record: dict[str, Any], most: int = 8) -> str:
    if record["refusal"] is not None:
        return f"refused: {record['refusal']}"
    tally, bar = record["value"], record["interval"]
    half = max((high - low) / 2 for low, high in zip(bar["low"], bar["high"], strict=True)) if bar["low"] else 0
    pairs = sorted(zip(tally["keys"], tally["counts"], strict=True), key=lambda pair: -pair[1])
    shown = [f"{'missing' if key is None else clean(str(key))} {count:,}" for key, count in pairs[:most]]
    more = [f"{len(pairs) - most} more"] if len(pairs) > most else []
    return (", ".join([*shown, *more]) or "no category is common enough to be shown") + f"  (each ±{half:,.0f})"


def _with_bar(record: dict[str, Any]) -> str:
    bar = record["interval"]
    return f"{record['value']:,} ({bar['low']:,} to {bar['high']:,})"


def _number(number: float | None) -> str:
    if number is None:
        return "beyond all"
    return f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}" if abs(number) < 1e15 else f"{number:.3g}"
