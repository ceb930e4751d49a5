"""MI-Sugeno: inference on bags with rules that an expert has written."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, ClassVar, Self

from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators._expert import ExpertSystem, variables_of
from fuzzymil.estimators.persistence import loadable
from fuzzymil.rules import Activations, RuleBase
from fuzzymil.rules.language import parser

_OPERATORS = (
    "t_norm",
    "s_norm",
    "aggregation",
    "alpha",
    "conclusion_aggregation",
    "conclusion_alpha",
    "normalize",
    "default",
)


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MISugeno(ExpertSystem):
    """If-then rules written by an expert, applied to bags; rules conclude numbers (MI-Sugeno).

    For each rule, the memberships of an instance are combined over its features, the truth of the instances over the
    bag, and the instances' linear responses into the conclusion of the rule. The output is the mean of the rules'
    conclusions, weighted by their firing strengths. `infer` does not need `fit`. `fit` learns nothing: it checks the
    features and records the classes, so that rules can be scored, cross-validated, saved, plotted and explained like a
    learned model.

    Parameters
    ----------
    inputs : mapping, sequence of Variable or None, default None
        The input variables: a mapping from names to terms, ``{"hue": {"blue": Gaussian(0.6, 0.1)}}``, or to a
        `Variable` with a range and a unit. Not needed if the rules declare their variables themselves.
    rules : str, sequence of str, or RuleBase, default None
        The rules, such as ``"IF hue is blue AND texture is not rough THEN sky = 1"``; `RuleBase.parse` describes the
        language.
    t_norm, s_norm, aggregation, alpha, conclusion_aggregation, conclusion_alpha, normalize : default None
        The operators, as in `RuleBase`. None: what the rules state (``USING t_norm = min, aggregation = max``, or those
        of a rule base), otherwise the defaults of `RuleBase.parse`: the product, and the maximum over instances. The
        same text gives the same numbers wherever it is read. The paper's figure of MI-Sugeno has ``t_norm="min"``.
    default : float or sequence of float, default None
        Output for a bag on which no rule fires at all; one value, or one per output. None: what the rules state,
        otherwise 0.
    threshold : float or None, default 0.5
        An output above it means the positive class. None makes a regressor: `predict` returns the output itself.
    pos_label : label or None, default None
        Of two classes, the positive one, which a single output is about. None: the class after which the output is
        named, otherwise the one that sorts last.
    missing : {"error", "ignore"}, default "error"
        How to handle NaN: raise an error, or let a missing value match every fuzzy set, unless the rules say what it
        stands for (``MISSING AS``).

    Attributes
    ----------
    rule_base : RuleBase
        The rules that the parameters describe; available without a fit.
    rules_ : RuleBase
        The same after a fit, with several outputs in the order of ``classes_``.
    members_ : list of RuleBase
        ``[rules_]``, as in a learned model.
    classes_ : array of shape (n_classes,)
        For a classifier: the labels passed to `fit` (0 and 1 if there were none). Each of several outputs is named
        after its class, and the greatest output decides.
    pos_label_ : label or None
        Of two classes, the positive one, which a single output is about.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Gaussian
    >>> hue, texture = {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)}, {"smooth": Gaussian(0, 0.3)}
    >>> model = MISugeno(
    ...     inputs={"hue": hue, "texture": texture},
    ...     rules=["IF hue is blue AND texture is smooth THEN sky = 1", "IF hue is red THEN sky = 0"],
    ...     t_norm="min")
    >>> found = model.infer([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]])
    >>> found.firing.round(3).tolist()
    [[0.882, 0.607], [0.0, 1.0]]
    >>> found.output.round(3).tolist()
    [[0.593], [0.0]]
    >>> model.fit([[[0.65, 0.1], [0.2, 0.9]], [[0.1, 0.5]]], ["sky", "no sky"]).predict([[[0.6, 0.0]]]).tolist()
    ['sky']
    """

    concludes_sets: ClassVar[bool] = False

    inputs: Any = dataclasses.field(default=None, kw_only=False)
    rules: Any = dataclasses.field(default=None, kw_only=False)
    t_norm: str | None = None
    s_norm: str | None = None
    aggregation: str | None = None
    alpha: Any = None
    conclusion_aggregation: str | None = None
    conclusion_alpha: Any = None
    normalize: bool | None = None
    default: Any = None

    @property
    def rule_base(self) -> RuleBase:
        """The rules that the parameters describe."""
        found: RuleBase = self._rules_read_once()
        return found

    def _described_rules(self) -> RuleBase:
        given = {name: value for name in _OPERATORS if (value := getattr(self, name)) is not None}
        if isinstance(self.rules, RuleBase):
            if self.inputs is not None:
                raise ParameterError("A RuleBase already has its inputs: leave inputs out.")
            return self._of_this_kind(self.rules).with_settings(**given)
        if self.rules is None:
            raise ParameterError("MISugeno needs rules, for example MISugeno(inputs, ['IF hue is blue THEN sky = 1']).")
        variables = variables_of("inputs", self.inputs)
        # Parameters overrule the text; `parse` takes only what the text does not state.
        stated = {"default", *parser.read(self.rules, variables).settings}
        further = {name: value for name, value in given.items() if name not in stated}
        changed = {name: value for name, value in given.items() if name in stated}
        return self._of_this_kind(RuleBase.parse(self.rules, variables, **further)).with_settings(**changed)

    def infer(self, X: Any) -> Activations:
        """Apply the rules that the parameters describe to bags; does not need `fit`.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            Features are matched by name if the bags have names; other features are ignored.

        Returns
        -------
        Activations
            Truth of each rule for each instance, firing strength for each bag, the conclusion of each rule, and their
            weighted mean.
        """
        found: Activations = self._inferred(self.rule_base, X)
        return found

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the features and record the classes; the rules do not change.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Class of each bag. Default: the labels of the bags, if any.
        """
        return self._settle(self.rule_base, self._bags(X), y)

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy with other rules, for example edited ones, and their operators.

        Parameters
        ----------
        rules : RuleBase
            Rules over the model's features, with as many outputs as its own.

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
        model._set_fitted(rules, getattr(self, "classes_", None), self._positive_place)
        return model

    def _with_outputs(self, rules: RuleBase, order: list[int]) -> RuleBase:
        def sorted_as(values: Any) -> Any:
            return tuple(values[k] for k in order)

        alpha = rules.conclusion_alpha
        return dataclasses.replace(
            rules,
            outputs=sorted_as(rules.outputs),
            rules=tuple(rule.concluding(sorted_as(rule.coefs)) for rule in rules.rules),
            default=sorted_as(rules.default),
            conclusion_alpha=sorted_as(alpha) if isinstance(alpha, tuple) else alpha,
        )
