import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from tests.report.made import dossier, entry, records

from discreet.report import page, to_pdf
from discreet.report.page import BROWSERS

FAKE = """#!{python}
import os, sys, time
from pathlib import Path
from urllib.parse import unquote, urlsplit
Path({log!r}).write_text("\\n".join(sys.argv))
made = next(word.split("=", 1)[1] for word in sys.argv if word.startswith("--print-to-pdf="))
{does}
"""
PRINTS = "Path(made).write_bytes(b'%PDF-1.4 ' + Path(unquote(urlsplit(sys.argv[-1]).path)).read_bytes())"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def install(folder: Path, does: str, name: str = "google-chrome") -> None:
    program = folder / "bin" / name
    program.write_text(FAKE.format(python=sys.executable, log=str(folder / "log"), does=does))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_without_a_browser_nothing_is_printed(fake: Path) -> None:
    assert to_pdf("<p>x</p>", fake / "x.pdf") is False
    assert not (fake / "x.pdf").exists()


@pytest.mark.parametrize("name", BROWSERS)
def test_a_browser_prints_a_private_file_that_is_gone_afterwards(fake: Path, name: str) -> None:
    install(fake, PRINTS, name)
    assert to_pdf("<p>é \ud800</p>", fake / "x.pdf") is True
    assert (fake / "x.pdf").read_bytes() == "%PDF-1.4 <p>é ?</p>".encode()
    words = (fake / "log").read_text().splitlines()
    assert "--headless=new" in words
    assert ("--no-sandbox" in words) == (os.geteuid() == 0)
    profile = Path(next(word.split("=", 1)[1] for word in words if word.startswith("--user-data-dir=")))
    assert not profile.parent.exists()


@pytest.mark.parametrize("does", ["sys.exit(1)", "pass", "Path(made).write_text('no pdf')", "time.sleep(60)"])
def test_failures_and_delays_leave_no_file(fake: Path, does: str) -> None:
    install(fake, does)
    assert to_pdf("<p>x</p>", fake / "x.pdf", seconds=1.0) is False
    assert not (fake / "x.pdf").exists()


@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no browser is installed")
def test_a_real_browser_prints_the_page(tmp_path: Path) -> None:
    if to_pdf(page(dossier(entry(records()["mean"]))), tmp_path / "x.pdf"):  # one may be installed and not start
        assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    else:
        pytest.skip("the browser does not start here")
