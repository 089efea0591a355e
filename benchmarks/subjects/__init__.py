"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, families, friendly, stable, statistics

PARTS = (statistics, stable, families, friendly, blocks)
SUBJECTS = {name: subject for part in PARTS for name, subject in part.SUBJECTS.items()}
