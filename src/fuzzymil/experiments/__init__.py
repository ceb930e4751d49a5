"""The paper's experiments, one file each; `fuzzymil reproduce` runs them."""

from fuzzymil.experiments.running import EXPERIMENTS, Stopped, reproduce
from fuzzymil.experiments.study import Options

__all__ = ["EXPERIMENTS", "Options", "Stopped", "reproduce"]
