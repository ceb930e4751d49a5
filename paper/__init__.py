"""The paper's experiments on multiple-instance fuzzy inference: ``python -m paper --help``."""
