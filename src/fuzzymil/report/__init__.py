"""A self-contained HTML report on a model and data."""

from fuzzymil.report._report import Report, write_report

__all__ = ["Report", "write_report"]
