"""The paper's experiments; `fuzzymil reproduce` runs them."""

from fuzzymil.experiments._runner import EXPERIMENTS, Stopped, reproduce
from fuzzymil.experiments._study import Options

__all__ = ["EXPERIMENTS", "Options", "Stopped", "reproduce"]
