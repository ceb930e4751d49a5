"""The messages about versions, training and files; importing this package registers them."""

from fuzzymil.studio.actions import files, training, versions

__all__ = ["files", "training", "versions"]
