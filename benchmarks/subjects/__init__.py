"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import blocks, friendly, glms, models, statistics

SUBJECTS = {
    **statistics.SUBJECTS,
    **friendly.SUBJECTS,
    **blocks.SUBJECTS,
    **models.SUBJECTS,
    **glms.SUBJECTS,
}
