"""Bags of instances: conversion, validation and streams."""

from fuzzymil.bags._bags import Bags, as_bags
from fuzzymil.bags._stream import BagStream

__all__ = ["BagStream", "Bags", "as_bags"]
