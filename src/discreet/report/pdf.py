"""The page on paper: printed by a browser without a window, if there is one."""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LIMIT: Final = 60.0  # seconds


def to_pdf(html: str, path: str | os.PathLike[str], *, seconds: float = LIMIT) -> bool:
    """Print the page to a file; False if no browser is found, or it does not succeed in time.

    The browser has a profile of its own, which is removed, no network, and reads the page from a private file.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    with tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True) as folder:
        page, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8", errors="replace")
        command = [
            browser,
            "--headless=new",
            f"--user-data-dir={folder}/profile",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-sync",
            "--no-first-run",
            "--no-default-browser-check",
            "--host-resolver-rules=MAP * ~NOTFOUND",  # whatever it looks for, it finds no address
            "--proxy-server=127.0.0.1:9",
            "--no-pdf-header-footer",
            f"--print-to-pdf={made}",
            page.as_uri(),
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # a browser of root has no other way
        if not _ran(command, seconds):
            return False
        if not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            return False
        shutil.copyfile(made, path)
    return True


def _ran(command: list[str], seconds: float) -> bool:
    """Whether it ended well and in time; what it has started ends with it."""
    quiet = subprocess.DEVNULL
    try:
        running = subprocess.Popen(  # noqa: S603
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return False
    try:
        return running.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(OSError):
            os.killpg(running.pid, signal.SIGKILL) if hasattr(os, "killpg") else running.kill()
        running.wait()
