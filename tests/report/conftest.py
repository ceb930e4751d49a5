"""Reports without their figures, which take most of the time, for tests that are about something else."""

import pytest

from fuzzymil.report import _performance, _sections


@pytest.fixture
def undrawn(monkeypatch):
    for module in (_performance, _sections):
        monkeypatch.setattr(module, "figure_svg", lambda plot: b"<svg></svg>")
