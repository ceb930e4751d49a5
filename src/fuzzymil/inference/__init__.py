"""Fuzzy sets, norms, quantifiers, the paper's six layers, and the engines that run them: NumPy, JAX, PyTorch.

- `layers`: the six layers, with a table of the paper's equations
- `membership`: fuzzy sets
- `norms`, `premises`: AND, OR, NOT, hedges, quantified parts and missing values
- `aggregation`, `quantifiers`: joining the instances of a bag
- `segments`: which instances belong to which bag
- `conclusions`: rules that conclude fuzzy sets, and defuzzification
- `activations`: running a compiled rule base on bags
- `engines`: what NumPy, JAX and PyTorch do in ways of their own
"""
