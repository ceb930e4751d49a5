"""A self-contained HTML report about a model and data."""

from fuzzymil.report._report import Report, write_report

__all__ = ["Report", "write_report"]
