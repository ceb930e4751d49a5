"""All methods of the paper's table of results, measured on the same folds."""
