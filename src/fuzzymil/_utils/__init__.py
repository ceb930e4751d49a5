"""Exceptions, atomic files, array conversion, registries, paired tests, and runtime settings."""
