"""Problems with a known truth, which the rules should find and tell."""
