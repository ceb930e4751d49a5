"""An HTML report on a model and bags."""

from fuzzymil.report._report import Report, write_report

__all__ = ["Report", "write_report"]
