"""Rules as a layer of a PyTorch network."""

from fuzzymil._utils.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingExtraError(
        'fuzzymil.torch needs PyTorch, which is not installed: pip install "fuzzymil[torch]".'
    ) from None

from fuzzymil.torch._head import FuzzyBagHead

__all__ = ["FuzzyBagHead"]

FuzzyBagHead.__module__ = __name__  # where users import it from
