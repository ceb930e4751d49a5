"""Fast paths: the same values as the layers they stand for, computed another way."""
