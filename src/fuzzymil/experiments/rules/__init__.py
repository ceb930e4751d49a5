"""Readable rules: the cost of short rules, the value of an expert's rules, and the instances they find."""
