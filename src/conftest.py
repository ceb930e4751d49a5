"""Doctests of modules that import PyTorch are not collected where it is not installed."""

from importlib.util import find_spec

if find_spec("torch") is None:
    collect_ignore = ["fuzzymil/torch.py", "fuzzymil/inference/engines/torch.py", "fuzzymil/_utils/torch_functions.py"]
