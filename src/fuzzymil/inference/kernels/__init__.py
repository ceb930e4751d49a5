"""Fast paths: the same values as the layers they replace, computed in another way."""
