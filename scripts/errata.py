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

Some are also objects that look like mechanisms and break the promise that they state, to be attacked in class. They are
marked UNSAFE, and no release of theirs may be published:

```python
>>> from discreet import audit, Seeded
>>> printed = erratum("ramp").as_printed
>>> printed.release([[0.0]] * 60, Seeded(1)).provenance.notes
('UNSAFE: a fault of the lectures, run as printed; it does not keep the promise that it states',)
>>> audit.distinguish(printed, [[0.0]] * 60, [[999.0]] + [[0.0]] * 59, runs=400).violated
True

```

Every counterexample is run by `tests/lectures/test_errata.py`, every attack too.

The lectures are counted from 0: subsample-and-aggregate and FriendlyCore (0), statistics and privacy (1), properties of
differential privacy (2), FriendlyCore for Gaussians (3), univariate estimation (4). The last column says where the
package does it: a claim in brackets stands in the module of that name, with its proof.
"""
TAIL = """
## Where we depart from the lectures on purpose

- Lecture 4 removes points beyond the threshold; we clip them to it. The sensitivity is the same and the bias smaller.
  `lectures.naive_mean(x, interval, epsilon=..., far="remove")` does as lectured.
- Lloyd's first centres in `discreet.kmeans` are drawn in a public ball and kept apart, not drawn uniformly from the
  domain. `lectures.private_lloyd` draws them as lectured. In both, rows are pulled into the ball first, which the
  lecture assumes, and centres are pulled back into it.
- The lectures print Theorem 1.1 for continuous noise. Noise in whole numbers is t or more with a chance of up to
  2 / (1 + e^(-epsilon / 2)) times theirs, and more than t with at most theirs.
- `lectures.friendly_avg` tests the sum of the weights with Gaussian noise, and lets the noise on the mean depend on the
  noisy sum, where the lecture has Laplace noise and a fixed threshold: less noise for the same promise.
- The FriendlyCore of the package drops pairs of strangers (MatchCore) instead of weighing rows: one row changes one
  survivor, not weights of 3.
- The lectures replace one person. Functions of the package hide whether a person is there at all, unless they are told
  `neighbours="replace"`; under that default the number of rows is private, and no formula reads it.
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
