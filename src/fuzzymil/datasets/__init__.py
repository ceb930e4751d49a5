"""Reading and writing bags, benchmark datasets, and simulated data."""

from fuzzymil.datasets._benchmarks import (
    BENCHMARKS,
    BenchmarkSet,
    DataNotFound,
    describe,
    load_elephant,
    load_fox,
    load_musk1,
    load_musk2,
    load_tiger,
)
from fuzzymil.datasets._io import Guess, guess_format, matching_files, read_bags, stream_bags, write_bags
from fuzzymil.datasets._synthetic import CONCEPTS, PLANTED, PlantedProblem, make_planted, make_two_concepts
from fuzzymil.datasets.formats import FORMATS, DataFileError

__all__ = [
    "BENCHMARKS",
    "CONCEPTS",
    "FORMATS",
    "PLANTED",
    "BenchmarkSet",
    "DataFileError",
    "DataNotFound",
    "Guess",
    "PlantedProblem",
    "describe",
    "guess_format",
    "load_elephant",
    "load_fox",
    "load_musk1",
    "load_musk2",
    "load_tiger",
    "make_planted",
    "make_two_concepts",
    "matching_files",
    "read_bags",
    "stream_bags",
    "write_bags",
]
