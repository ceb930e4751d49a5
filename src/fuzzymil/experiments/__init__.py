"""The paper's experiments; `fuzzymil reproduce` runs them."""

from fuzzymil.experiments._experiment import Options
from fuzzymil.experiments._runner import EXPERIMENTS, Stopped, reproduce

__all__ = ["EXPERIMENTS", "Options", "Stopped", "reproduce"]
