"""Models: regressions, likelihoods, clusters, descent."""
