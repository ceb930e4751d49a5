"""The paper's six layers, with norms, aggregation over instances, segments, and fast kernels.

- `layers`: the six layers and `forward`, with a table of the paper's equations
- `norms`, `premises`: AND, OR, NOT and hedges within a rule
- `aggregation`: joining the instances of a bag
- `quantifiers`, `parts`: premises about the bag as a whole, such as *at least 3 instances* and *most of them*
- `segments`: which instances belong to which bag, inside compiled code
- `inference`: running a compiled rule base on bags
- `conclusions`, `defuzzification`, `mamdani`: rules that conclude fuzzy sets
- `kernels`: faster ways to compute the same values
"""

from fuzzymil.inference import (
    aggregation,
    conclusions,
    defuzzification,
    inference,
    layers,
    mamdani,
    norms,
    parts,
    premises,
    quantifiers,
    segments,
)

__all__ = [
    "aggregation",
    "conclusions",
    "defuzzification",
    "inference",
    "layers",
    "mamdani",
    "norms",
    "parts",
    "premises",
    "quantifiers",
    "segments",
]
