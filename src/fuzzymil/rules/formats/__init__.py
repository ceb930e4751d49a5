"""Rules in files: JSON and the rule language keep everything; FLL and ``.fis`` trade with other programs; tables print.

>>> from fuzzymil import RuleBase
>>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
>>> print(rules.to_markdown())
| rule | hue | y |
| --- | --- | --- |
| 1 | low: Gaussian(0, 0.3) | 0 |
| 2 | high: Gaussian(1, 0.3) | 1 |
"""

from fuzzymil.rules.formats.export import what_is_lost
from fuzzymil.rules.formats.files import read_rules, write_rules

__all__ = ["read_rules", "what_is_lost", "write_rules"]
