"""Memory that is mapped from files, made private in a process that goes on running in it."""

import subprocess
import sys

import pytest

PROGRAM = """
import os
import numpy as np
import scipy.special
from discreet.sandbox.settled import mappings, of_files, settle, shared

rows = np.random.default_rng(0).normal(size=(60, 4))
before = np.linalg.svd(rows)[1].tobytes(), scipy.special.ndtri(0.3)
maps = os.open("/proc/self/maps", os.O_RDONLY)
places = [one[:2] for one in of_files(maps)]
said = settle(maps)
after = np.linalg.svd(rows)[1].tobytes(), scipy.special.ndtri(0.3)
rights = {one[0]: one[1] for one in mappings(maps)}
child = os.fork()
if child == 0:
    os._exit(int(np.linalg.svd(rows)[1].tobytes() != before[0]))
ended = os.waitpid(child, 0)[1]
executable = any(right[2:3] == b"x" for right in rights.values())
print(repr(said), len(places) > 20, len(of_files(maps)), before == after, ended, executable, shared(maps))
import mmap
board = mmap.mmap(-1, 4096)
print(shared(maps))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a sandbox on Linux needs")
def test_no_page_of_a_file_is_left_and_all_works_as_before() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["'' True 0 True 0 True False", "True"], done.stderr
