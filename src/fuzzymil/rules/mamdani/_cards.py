"""Mamdani rules as cards for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil.rules.cards import Condition, card, conditions, in_numbers, limited
from fuzzymil.rules.curves import Sketcher
from fuzzymil.rules.language import printer
from fuzzymil.rules.mamdani._rule_set import MamdaniRuleSet
from fuzzymil.rules.mamdani._weighted import WEIGHTED
from fuzzymil.rules.premise import Is


def mamdani_cards(rules: MamdaniRuleSet, texts: Sequence[str], concluded: Sequence[str]) -> Markup:
    """Return Mamdani rules as cards for a notebook: the sets of their conditions, and those that they conclude.

    Parameters
    ----------
    rules : MamdaniRules
    texts, concluded : sequences of str
        Each rule, and what it concludes, as text.
    """
    base = rules.premises
    sketcher = Sketcher(base.variables, np.zeros((0, base.n_features)))
    known = {output.name: output for output in rules.outputs}
    sets = [output for k, output in enumerate(rules.outputs) if rules.setting("defuzzify", k) not in WEIGHTED]
    outputs = Sketcher(sets, np.zeros((0, len(sets))))  # others conclude numbers or formulas

    def made(r: int) -> Markup:
        sets_then: list[Condition] = []
        for name, said in rules.conclusions[r].items():
            term, hedges = (said.term, said.hedges) if isinstance(said, Is) else (said, ())
            shown = outputs.draw(name, term, hedges) if known[name] in sets else None
            text = printer.premise_text(Is(name, term, hedges))
            heading = "" if sets_then else "then"
            sets_then.append(Condition(text, in_numbers(known[name], term), shown, heading))
        asked = (*conditions(base, r, sketcher), *sets_then)
        return card(rules.name_of(r), [concluded[r]], texts[r], asked, "", r)

    return html.joined(limited(made, rules.n_rules))
