"""Multiple-instance fuzzy inference."""

from fuzzymil._version import __version__ as __version__
