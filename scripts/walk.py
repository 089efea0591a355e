"""The way of a question through the package: files and functions that a second, warm call passes through.

python -m scripts.walk            how many files and functions
python -m scripts.walk --all      and which: calls, file, function
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import discreet
from discreet.privacy.mechanism import Randomness

HOME = str(Path(discreet.__file__).parent)
AGES = np.arange(4_000) * 37 % 60 + 20.0


def walked(ask: Callable[[], object]) -> Counter[CodeType]:
    """How often each function of the package is called by the second call of `ask`."""
    ask()
    seen: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            seen[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return seen


def size(seen: Counter[CodeType]) -> tuple[int, int]:
    """Files and functions."""
    return len({code.co_filename for code in seen}), len(seen)


@contextmanager
def questions(rng: Randomness | None = None) -> Iterator[dict[str, Callable[[], object]]]:
    """A session's mean and the function's, of the same column."""
    with discreet.open({"x": AGES}, budget=100.0, ledger=":memory:", rng=rng) as session:
        yield {
            'session.mean("x")': lambda: session.mean("x", epsilon=0.5),
            "discreet.mean(x)": lambda: discreet.mean(AGES, epsilon=0.5, rng=rng),
        }


def main() -> None:
    """Print them."""
    with questions() as asked:
        for title, ask in asked.items():
            seen = walked(ask)
            files, functions = size(seen)
            print(f"{title}: {files} files, {functions} functions, {seen.total()} calls")
            if "--all" in sys.argv:
                for code, calls in sorted(seen.items(), key=lambda item: (item[0].co_filename, item[0].co_firstlineno)):
                    print(f"{calls:6} {code.co_filename.removeprefix(HOME + '/'):40} {code.co_qualname}")


if __name__ == "__main__":
    main()
