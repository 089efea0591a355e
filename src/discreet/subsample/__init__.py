"""Subsample and aggregate: any estimator, fitted on blocks of people, combined privately."""
