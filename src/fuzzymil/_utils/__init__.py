"""Exceptions, atomic files, array conversion, registries, and runtime settings."""
