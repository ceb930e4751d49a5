"""MI-Sugeno: inference on bags with rules that a person wrote."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Self

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators._expert import ExpertSystem, replaced, variables_of
from fuzzymil.estimators.persistence import loadable
from fuzzymil.estimators.rule_model import ExplainableModel
from fuzzymil.rules import Activations, Rule, RuleBase
from fuzzymil.rules.language import parser

__all__ = ["MISugeno"]

_OPERATORS = ("t_norm", "s_norm", "aggregation", "alpha", "combine", "consequent_alpha", "normalize", "default")
_CUSTOMARY = {"t_norm": "min", "aggregation": "max", "combine": "mean"}


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MISugeno(ExpertSystem, ExplainableModel):
    """An expert's if-then rules on bags of instances, with conclusions that are numbers (MI-Sugeno).

    For each rule, the memberships of an instance are joined over its features, the truth of the instances over
    the bag, and the instances' linear responses into what the rule concludes; the output is the mean of the rules'
    conclusions, weighted by their strengths. `infer` needs no data to be fitted on. `fit` learns nothing either:
    it checks the features and records the classes, so that rules score, cross-validate and are saved, drawn and
    explained like a learned model.

    Parameters
    ----------
    inputs : mapping or sequence of Variable, optional
        What the rules speak about: name to terms, ``{"hue": {"blue": Gaussian(0.6, 0.1)}}``, or to a `Variable` with
        a range and a unit. Not needed where the rules declare their variables themselves.
    rules : str, sequence of str, or RuleBase
        ``"IF hue is blue AND texture is not rough THEN sky = 1"``; `RuleBase.parse` tells the language.
    t_norm, s_norm, aggregation, alpha, combine, consequent_alpha, normalize : optional
        The operators, as in `RuleBase`. Default: what the rules say themselves (``USING t_norm = product``, or a
        rule base's own); else ``t_norm="min"``, ``aggregation="max"``, as the paper's figure has it, and
        ``combine="mean"``, which unlike a softmax does not depend on the unit of the conclusions.
    default : float, or one an output, optional
        The output for a bag on which every rule is truly zero. Default: what the rules say themselves, else 0.
    threshold : float or None, default 0.5
        An output above it means the second class. None makes a regressor: `predict` gives the output itself.
    missing : {"error", "ignore"}, default "error"
        What to do with NaN: refuse, or let a missing value fit every set.

    Attributes
    ----------
    rule_base : RuleBase
        The rules that the settings describe; there without a fit.
    rules_ : RuleBase
        The same after a fit, several outputs in the order of ``classes_``.
    members_ : list of RuleBase
        ``[rules_]``, as in a learned model.
    classes_ : array of shape (n_classes,)
        Of a classifier: the labels given to `fit` (0 and 1 if there were none). With several outputs, each is
        named after its class, and the greatest decides.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only when the bags had feature names.

    Examples
    --------
    >>> from fuzzymil.membership import Gaussian
    >>> hue, texture = {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)}, {"smooth": Gaussian(0, 0.3)}
    >>> model = MISugeno(
    ...     inputs={"hue": hue, "texture": texture},
    ...     rules=["IF hue is blue AND texture is smooth THEN sky = 1", "IF hue is red THEN sky = 0"])
    >>> found = model.infer([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]])
    >>> found.firing.round(3).tolist()
    [[0.882, 0.607], [0.0, 1.0]]
    >>> found.output.round(3).tolist()
    [[0.593], [0.0]]
    >>> model.fit([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]], ["sky", "no sky"]).predict([[[0.6, 0.0]]]).tolist()
    ['sky']
    """

    kind_of_rules = RuleBase

    inputs: Any = dataclasses.field(default=None, kw_only=False)
    rules: Any = dataclasses.field(default=None, kw_only=False)
    combine: str | None = None
    consequent_alpha: Any = None
    normalize: bool | None = None

    @property
    def rule_base(self) -> RuleBase:
        """The rules that the settings describe."""
        given = self._chosen(_OPERATORS)
        if isinstance(self.rules, RuleBase):
            if self.inputs is not None:
                raise ParameterError("inputs are in the rule base already: leave them out.")
            return replaced(self.rules, given)
        if self.rules is None:
            raise ParameterError("MISugeno needs rules: MISugeno(inputs, ['IF hue is blue THEN sky = 1']), say.")
        variables = variables_of("inputs", self.inputs)
        said = parser.read(self.rules, variables).settings
        customary = {name: value for name, value in _CUSTOMARY.items() if name not in said}
        return replaced(RuleBase.parse(self.rules, variables, **customary), given)

    def infer(self, X: Any) -> Activations:
        """Infer bags with the rules as the settings describe them, without any fit.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
            Features are matched by name where the bags have names; further ones are left out.

        Returns
        -------
        Activations
            Truth of each rule for each instance, firing strength for each bag, what each rule concludes, and
            the weighted mean of that.
        """
        found: Activations = self._inferred(self.rule_base, X)
        return found

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the features and record the classes; the rules stay as they are.

        Parameters
        ----------
        X : Bags, or anything `as_bags` takes
        y : array of shape (n_bags,), optional
            Default: the labels the bags carry, if any.
        """
        return self._settle(self.rule_base, self._bags(X), y)

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy with these rules, edited ones say, and their own operators.

        Parameters
        ----------
        rules : RuleBase
            Over the model's features, with as many outputs as its own rules have.

        Examples
        --------
        >>> model = MISugeno(rules="VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1")
        >>> model = model.fit([[[0.6]], [[0.1]]], ["no", "yes"])
        >>> model.with_rules(model.rules_.edit(conclusions={1: 0})).predict([[[0.6]]]).tolist()
        ['no']
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        model.set_params(inputs=None, rules=rules, **dict.fromkeys(_OPERATORS))
        model._set_fitted(rules, getattr(self, "classes_", None))
        return model

    def _set_fitted(self, rules: RuleBase, classes: Array | None) -> None:
        super()._set_fitted(rules, classes)
        self.members_ = [rules]

    def _with_outputs(self, rules: RuleBase, order: list[int]) -> RuleBase:
        def sorted_as(values: Any) -> Any:
            return tuple(values[k] for k in order)

        alpha = rules.consequent_alpha
        return dataclasses.replace(
            rules,
            outputs=sorted_as(rules.outputs),
            rules=tuple(Rule(rule.premise, sorted_as(rule.coefs), rule.weight) for rule in rules.rules),
            default=sorted_as(rules.default),
            consequent_alpha=sorted_as(alpha) if isinstance(alpha, tuple) else alpha,
        )
