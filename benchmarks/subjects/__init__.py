"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, clusters, friendly, statistics

SUBJECTS = {**statistics.SUBJECTS, **friendly.SUBJECTS, **blocks.SUBJECTS, **clusters.SUBJECTS}
