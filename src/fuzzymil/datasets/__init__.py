"""Data to try things on."""

from fuzzymil.datasets.synthetic import CONCEPTS, make_two_concepts

__all__ = ["CONCEPTS", "make_two_concepts"]
