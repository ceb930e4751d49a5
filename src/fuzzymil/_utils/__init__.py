"""Shared helpers: exceptions, atomic files, array conversion, prefetching and runtime settings."""
