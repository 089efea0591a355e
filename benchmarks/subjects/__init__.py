"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, decisions, friendly, statistics

SUBJECTS = {**statistics.SUBJECTS, **friendly.SUBJECTS, **blocks.SUBJECTS, **decisions.SUBJECTS}
