"""Bags of instances: the only entrance for ragged data, and its validation; streams of bags."""

from fuzzymil.bags._bags import Bags, as_bags
from fuzzymil.bags._stream import BagStream, ahead

__all__ = ["BagStream", "Bags", "ahead", "as_bags"]
