"""Benchmarks: each ``bench_<topic>`` prints ratios against a baseline measured in the same run."""
