"""Learning rules: `choose` searches for short rules; `train` moves the sets of given rules by gradient descent."""
