"""Bags of instances: conversion, validation and streams."""

from fuzzymil.bags._bags import Bags, as_bags, bags_of_table
from fuzzymil.bags._stream import BagStream, PartitionedBags, current_client, require_whole_bags
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.bags.table import Source, Table

__all__ = [
    "BagStream",
    "Bags",
    "Column",
    "Columns",
    "PartitionedBags",
    "Source",
    "Table",
    "as_bags",
    "bags_of_table",
    "current_client",
    "require_whole_bags",
]
