"""Draws docs/clusters.png: four clusters of people by age and body mass index, at epsilon 1.

python examples/clusters.py [file]
"""

import sys
from pathlib import Path

import numpy as np

import discreet

PICTURE = Path(__file__).parent.parent / "docs" / "clusters.png"
NAMES, UNITS = ("age", "bmi"), np.array([20.0, 7.0])


def draw(path: Path) -> None:
    """Cluster, and draw what was released."""
    people = discreet.datasets.load_nhanes().select(NAMES).drop_null()
    rows = np.column_stack([people.column(name) for name in NAMES]) / UNITS
    release = discreet.kmeans(rows, 4, epsilon=1.0, delta=1e-6, unit="person", rng=discreet.Seeded(1))
    for centre, size in zip(release.value.centres * UNITS, release.value.sizes, strict=True):
        print(f"about {size:.0f} people around age {centre[0]:.0f} and index {centre[1]:.0f}")
    release.plot().figure.savefig(path, dpi=90)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
