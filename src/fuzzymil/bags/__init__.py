"""Bags of instances: conversion, validation and streams."""

from fuzzymil.bags._as_bags import as_bags
from fuzzymil.bags._bags import Bags
from fuzzymil.bags._source import Source
from fuzzymil.bags._stream import BagStream
from fuzzymil.bags.columns import Column, Columns

__all__ = ["BagStream", "Bags", "Column", "Columns", "Source", "as_bags"]
