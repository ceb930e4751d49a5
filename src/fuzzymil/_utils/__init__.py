"""Errors, files that are written whole, checked arrays, and how compiled programs run."""
