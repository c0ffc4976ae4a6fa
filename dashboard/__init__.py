"""The review: a lake over recorded runs, analysis, charts and pages."""
