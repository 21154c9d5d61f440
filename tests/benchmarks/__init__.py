"""Measurements, each run alone: ``python -m tests.benchmarks.NAME [--json]``. Ratios are taken by turns in one run."""
