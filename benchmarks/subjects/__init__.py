"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, friendly, glms, statistics

SUBJECTS = {**statistics.SUBJECTS, **friendly.SUBJECTS, **blocks.SUBJECTS, **glms.SUBJECTS}
