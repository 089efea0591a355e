"""Every mechanism of the long audit, by name."""

from benchmarks.subjects import (
    blocks,
    clusters,
    decisions,
    declared,
    families,
    friendly,
    glms,
    models,
    stable,
    statistics,
)

PARTS = (statistics, stable, families, decisions, friendly, blocks, models, glms, clusters, declared)
SUBJECTS = {name: subject for part in PARTS for name, subject in part.SUBJECTS.items()}
