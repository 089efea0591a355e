"""Write docs/errata.md: what the lectures print and does not hold, with the numbers of the counterexamples.

python -m scripts.errata
"""

from pathlib import Path

from discreet.lectures import ERRATA
from discreet.lectures.errata import Erratum

PAGE = Path(__file__).parent.parent / "docs" / "errata.md"
WORDS = {
    "privacy": "Privacy breaks if it is done as printed",
    "proof": "A gap in a proof, or a case in which it fails",
    "answer": "The answer is worse than it says",
    "print": "Only the print",
}
HEAD = """\
# Errata of the lectures

This package comes from five lectures. As printed, some of what they say breaks privacy. Each fault below has a name;
its counterexample runs, and returns the printed number and the one that is found:

```python
>>> from discreet.lectures import erratum
>>> printed, found = erratum("ramp").run()
>>> printed, round(found, 2)
(3.0, 51.49)

```

The lectures are counted from 0: subsample-and-aggregate and FriendlyCore (0), statistics and privacy (1), properties of
differential privacy (2), FriendlyCore for Gaussians (3), univariate estimation (4). The last column says where the
package does it: a claim in brackets stands in the module of that name, with its proof.
"""
TAIL = """
## Where we depart from the lectures on purpose

- Lecture 4 removes points beyond the threshold; we clip them to it. The sensitivity is the same and the bias smaller.
- Lloyd's first centres are drawn in a public ball and kept apart, not drawn uniformly from the domain; centres are
  projected back into the ball. Rows are projected into it first: the lecture assumes that they are there.
- The lectures add real-valued noise. Floats leak (Mironov 2012): here all noise is drawn in whole numbers on a public
  grid.
- A ledger that lets analysts choose each epsilon as they go needs a filter, not the composition theorem for fixed
  epsilons of lecture 2: what is spent is summed before each release.
- Replicability (lecture 2) gives no privacy and never saves budget.
"""


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for kind, words in WORDS.items():
        lines += [f"## {words}", "", "| name | where | printed | found | right | here |", "|---|---|---|---|---|---|"]
        lines += [_row(found) for found in ERRATA if found.kind == kind]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n" + TAIL


def _row(found: Erratum) -> str:
    claimed, seen = found.run()
    told = f"{found.finds} **{seen:.4g}**, not {claimed:.4g}"
    return f"| {found.name} | {found.where} | {found.printed} | {told} | {found.right} | `{found.ours}` |"


if __name__ == "__main__":
    PAGE.write_text(page())
