"""The report: one self-contained HTML page on a model and bags; ``write_report`` writes it."""

from fuzzymil.report._writer import Report, write_report

__all__ = ["Report", "write_report"]
