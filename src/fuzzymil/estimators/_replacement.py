"""Whether other rules can take the place of a fitted model's own."""

from __future__ import annotations

from typing import Any

from fuzzymil._utils.errors import InputError, ParameterError, described
from fuzzymil.rules import RuleBase

__all__ = ["fitting_rules"]


def fitting_rules(model: Any, rules: Any) -> RuleBase:
    """Return rules over a fitted model's features, or raise unless they can take the place of its own.

    Features go by name where the model was fitted with names, by their place where it was not; outputs
    go by their place.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> model = MIANFISClassifier(2, max_epochs=1, random_state=0).fit([[[0.0]], [[1.0]]], [0, 1])
    >>> fitting_rules(model, model.rules_.edit(rename={"x1": "hue"})).feature_names
    ('hue',)
    """
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"rules must be a RuleBase, model.rules_.edit(...) say; got {described(rules)}.")
    kind = type(model).__name__
    n_outputs = len(model.rules_.outputs)
    if len(rules.outputs) != n_outputs:
        raise InputError(f"These rules conclude {len(rules.outputs)} output(s), those of this {kind} {n_outputs}.")
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        names = tuple(map(str, names))
        return rules if rules.feature_names == names else rules.over(names)
    if rules.n_features != model.n_features_in_:
        raise InputError(
            f"These rules have {rules.n_features} variables; this {kind} was fitted on {model.n_features_in_} features."
        )
    return rules
