"""What the layers need beyond the functions that NumPy, JAX and PyTorch have in common, one module per engine.

The layers are written once: a function takes the plain functions from `namespace` and the others from `engine_of`, by
the arrays that it is given. NumPy serves small inference at once, without importing or compiling anything; JAX serves
training, large data and GPUs; PyTorch serves the tensors of `fuzzymil.torch`.

An engine defines ``stop_gradient``, ``numbers``, ``least``, ``softmax``, ``shares``, ``log_softmax``, ``sigmoid``,
``einsum``, ``sorted_within``, ``in_chunks`` and ``log_truth_of_gaussians``; where there is a faster way than the
general one, also ``fast_softmax`` and ``log_truth_of_conjunctions``. `numpy_parts` predicts with quantified rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import is_of_jax, is_of_torch

_LOADED: dict[str, Any] = {}  # by name; torch.compile cannot trace an import by name


def engine_of(values: Any) -> Any:
    """Return the module of the engine that an array belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> engine_of(np.ones(2)).__name__
    'fuzzymil.inference.engines.numpy'
    """
    if type(values) is np.ndarray:
        name = "numpy"
    else:
        name = "jax" if is_of_jax(values) else "torch" if is_of_torch(values) else "numpy"
    if name not in _LOADED:
        _LOADED[name] = import_module(f"{__name__}.{name}")
    return _LOADED[name]
