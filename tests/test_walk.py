"""The way of a question through the package is no longer than it was: files and functions that it passes through."""

import pytest
from scripts.walk import questions, size, walked

from discreet.noise.randomness import Seeded

LONGEST = {'session.mean("x")': (50, 333), "discreet.mean(x)": (36, 262)}  # files, functions


@pytest.mark.parametrize("title", LONGEST)
def test_a_mean_passes_through_no_more_files_and_functions(title: str) -> None:
    with questions(Seeded(1)) as asked:
        files, functions = size(walked(asked[title]))
    most_files, most = LONGEST[title]
    assert files <= most_files, f"{title} passes through {files} files; `python -m scripts.walk --all` lists them"
    assert functions <= most, f"{title} passes through {functions} functions; `python -m scripts.walk --all` lists them"
