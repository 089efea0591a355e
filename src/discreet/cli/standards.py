"""The other forms of a stored report: for a registry, for catalogues of data, for statistical offices."""

from pathlib import Path
from typing import Final

from discreet.cli.reports import check_writable, replace_file
from discreet.errors import BadInput
from discreet.report import from_json
from discreet.report.catalogue import dcat
from discreet.report.registry import Curator, registry
from discreet.report.sdmx import sdmx

CURATORS: Final[dict[str, Curator]] = {
    "government": "Government",
    "industry": "Industry",
    "nonprofit": "Nonprofit",
}


def standards(
    file: Path, folder: Path, *, curator: str | None, catalogue: bool, exchange: bool, force: bool
) -> list[Path]:
    """The files that were asked for, all or none; nothing is asked of the data or charged."""
    try:
        report = from_json(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}; give the results.json of a release") from None
    made: dict[str, str] = {}
    if curator is not None:
        if curator not in CURATORS:
            raise BadInput(f"--registry is {curator[:40]!r}; say who publishes: {', '.join(CURATORS)}")
        made["registry.yaml"] = registry(report, CURATORS[curator])
    if catalogue:
        made["dcat.jsonld"] = dcat(report)
    if exchange:
        made["results.sdmx.csv"] = sdmx(report)
    if made:
        check_writable(folder, force, tuple(made))
    for name, text in made.items():
        replace_file(folder / name, text)
    return [folder / name for name in made]
