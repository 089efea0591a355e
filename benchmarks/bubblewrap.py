"""The hostile programs of tests/sandbox against bubblewrap and against our sandbox: which of them each holds.

`python -m benchmarks.bubblewrap` prints a table; it needs Debian's package `bubblewrap`. Held means: the block beside
the victim's returned 0.0, as if the victim were not there.
"""

import runpy
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from discreet.sandbox.sandbox import SYSTEM, Sandbox, _environment, _libraries
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import SourceFit
from discreet.subsample.partition import Blocks
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import opened, packed

HOSTILE = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "sandbox" / "hostile.py"))
ATTACKS, HEAD, TOOLS = (HOSTILE[name] for name in ("ATTACKS", "HEAD", "TOOLS"))
SECONDS = 6.0
RUN = """
import os, sys
x = np.ones((4, 2)); x[0, 0] = {first}
answer = f(x, np.zeros(4))
os.write(1, repr(float(answer)).encode()); os._exit(0)
"""


def walled(program: str) -> str:
    """What a program prints within bubblewrap: all namespaces, no rights, libraries alone and read-only."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    command += ["--uid", "65534", "--gid", "65534", "--disable-userns", "--unshare-user"]
    for path in dict.fromkeys([*SYSTEM, *_libraries(), sys.prefix, sys.base_prefix]):
        command += ["--ro-bind-try", path, path]
    command += ["--dev", "/dev", "--tmpfs", "/room", "--chdir", "/room"]
    for name, value in _environment():
        command += ["--setenv", name, value]
    command += [sys.executable, "-I", "-c", program]
    made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        return made.communicate(timeout=SECONDS)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        made.kill()
        made.communicate()
        return "late"


def by_bubblewrap(attack: str) -> str:
    """What the second of two runs says, the first having been the victim's."""
    walled(HEAD + attack + RUN.format(first=666.0))
    return walled(HEAD + attack + RUN.format(first=1.0))


def by_ours(attacks: dict[str, str]) -> dict[str, str]:
    """The same by our sandbox."""
    x = np.ones((8, 2))
    x[0, 0] = 666.0
    some, found = Blocks(BlockTable(x, np.zeros(8)), np.array([0, 2, 4, 6, 8])), {}
    box = Sandbox(seconds=1.0, memory=1 << 30, modules=TOOLS)
    with opened(box, SourceFit(HEAD + "def f(x, y):\n    return 0.0\n", "f")) as cells:
        for name, attack in attacks.items():
            other = replace(cells, estimator=packed(SourceFit(HEAD + attack, "f")))
            found[name] = repr(float(other.rows(Shape("number", ("v",)), some, None)[1, 0]))
    return found


def main() -> None:
    """Print the table."""
    if shutil.which("bwrap") is None:
        raise SystemExit("bubblewrap is not installed: apt-get install bubblewrap")
    if walled(HEAD + "def f(x, y):\n    return 0.0\n" + RUN.format(first=1.0)) != "0.0":
        raise SystemExit("bubblewrap does not start here")
    ours, held = by_ours(ATTACKS), [0, 0]
    sys.stdout.write("| program | bubblewrap | ours |\n|---|---|---|\n")
    for name, attack in ATTACKS.items():
        told = [by_bubblewrap(attack), ours[name]]
        held = [count + (one == "0.0") for count, one in zip(held, told, strict=True)]
        shown = ["held" if one == "0.0" else f"not held ({one or 'no answer'})" for one in told]
        sys.stdout.write(f"| {name} | {shown[0]} | {shown[1]} |\n")
        sys.stdout.flush()
    sys.stdout.write(f"| all {len(ATTACKS)} | {held[0]} held | {held[1]} held |\n")


if __name__ == "__main__":
    main()
