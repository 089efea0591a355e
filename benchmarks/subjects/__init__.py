"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, families, friendly, statistics

SUBJECTS = {**statistics.SUBJECTS, **families.SUBJECTS, **friendly.SUBJECTS, **blocks.SUBJECTS}
