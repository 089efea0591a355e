"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, friendly, stable, statistics

SUBJECTS = {**statistics.SUBJECTS, **stable.SUBJECTS, **friendly.SUBJECTS, **blocks.SUBJECTS}
