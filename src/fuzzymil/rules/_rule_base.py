"""The rule base: one immutable, readable value that is the model.

It has variables with named terms (fuzzy sets), rules over them, and the operators that join them. An expert can
write one, clustering proposes one, and training improves one; the same value is used for inference, printed,
edited, saved and plotted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy.typing as npt

from fuzzymil._utils import html, storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.discovery import package_above
from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil._version import __version__
from fuzzymil.rules import activations, conversion, editing, json
from fuzzymil.rules import compile as arrays
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.cards import rule_cards
from fuzzymil.rules.files import export, fcl, fis, fll, fml, system, tables
from fuzzymil.rules.files.system import System
from fuzzymil.rules.files.words import ENDINGS
from fuzzymil.rules.language import source
from fuzzymil.rules.rule import Variable

_LINES = 40  # of rules, when they are shown without being printed


class RuleBase(RuleSet):
    """Fuzzy if-then rules over bags of instances.

    Create one with `parse` from text, with `from_arrays`, by training, or with `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of Variable, or of str
        The outputs, by name; those of which rules conclude sets with terms and a range from ``low`` to ``high``.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule by AND (Layer 2).
    aggregation : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag (Layer 3) in premises without quantifiers; see `Quantified`.
    alpha : float, or one per rule
        Sharpness of a soft ``aggregation``: 0 is the mean, +inf the maximum over instances.
    conclusion_aggregation : {"softmax", "mean", "max", "min"}
        Joins the linear responses of the instances (Layer 5, first order).
    conclusion_alpha : float, or one per output
        Sharpness of ``conclusion_aggregation="softmax"``.
    normalize : bool
        Whether strengths are divided by their sum (Layer 4), so that the output is a weighted mean of the conclusions.
        If not, the rules are *additive*: the output is the default plus the sum of strength times conclusion.
    default : sequence of float
        Of additive rules, what their conclusions are added to; of others, the output for bags on which every rule is
        exactly zero. A single number applies to all outputs. Default: zeros; of rules that conclude sets, the middle
        of each range.
    limited : bool
        Whether values are clipped to the range of their variable (``low`` to ``high``).
    s_norm : {"algebraic", "max", "bounded", "hamacher", "einstein"}, optional
        Joins conditions by OR. Default: the dual of ``t_norm``.
    defuzzification : Defuzzification, optional
        How the sets that rules conclude become numbers; None if they conclude numbers.
    comment : str
        What the author noted about the rules as a whole. Rules and variables have comments of their own, and rules
        labels; all of them survive training and editing, and are kept in text and JSON.

    Examples
    --------
    >>> rules = RuleBase.from_arrays(
    ...     centers=[[0.0, 0.0], [1.0, 1.0]], widths=[[0.3, 0.3], [0.3, 0.3]], coefs=[0.0, 1.0],
    ...     feature_names=["hue", "texture"], output_names=["sky"])
    >>> print(rules)
    Rule 1: IF hue is low AND texture is low THEN sky = 0
    Rule 2: IF hue is high AND texture is high THEN sky = 1
    >>> rules.infer([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]]).output.round(2).tolist()
    [[0.0], [0.55]]

    Rules may conclude sets instead of numbers:

    >>> rules = RuleBase.parse('''
    ... VARIABLE depth [m]: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small WITH 0.5
    ... ''')
    >>> rules.infer([[[0.9], [0.0]], [[0.8], [1.0]]]).output.round(3).tolist()
    [[0.575], [0.195]]
    >>> print(rules)
    Rule 1: IF depth is shallow THEN risk is great
    Rule 2: IF depth is deep THEN risk is small WITH 0.5
    """

    # ------------------------------------------------------------------ constructors

    @classmethod
    def parse(
        cls,
        text: str | Iterable[str],
        variables: Iterable[Variable] | None = None,
        outputs: Iterable[Variable] | None = None,
        **operators: Any,
    ) -> Self:
        """Parse rules written by hand or by `to_source`.

        Parameters
        ----------
        text : str, or sequence of str
            Rules, and declarations of variables, outputs and operators unless these are passed as arguments.
        variables : sequence of Variable, optional
            The variables that the rules refer to.
        outputs : sequence of Variable, optional
            Outputs with terms that the rules conclude: ``THEN risk is great``.
        **operators
            ``t_norm``, ``s_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``, ``normalize``,
            ``default``, ``limited``, unless the text states them (``USING t_norm = min``). Default: as in `RuleBase`,
            but ``aggregation="max"`` if no ``alpha`` is stated, because an expert's rule about an instance is meant to
            hold if some instance satisfies it. `to_source` states all operators.

            Of rules that conclude sets, also the settings of `Defuzzification`; the default of ``t_norm`` is then "min".

        Raises
        ------
        RuleSyntaxError
            Shows the line, a caret under the character, and what was expected there.

        Examples
        --------
        >>> rules = RuleBase.parse('''
        ... VARIABLE hue FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
        ... VARIABLE texture: smooth = Gaussian(0, 0.3)
        ... IF hue is blue AND texture is smooth THEN sky = 1    # the sky is blue and smooth
        ... IF hue is not blue THEN sky = 0
        ... ''')
        >>> rules.infer([[[0.6, 0.1], [0.1, 0.9]]]).output.round(2).tolist()
        [[0.49]]
        """
        return source.parse(cls, text, variables, outputs, **operators)

    @classmethod
    def from_arrays(
        cls,
        centers: npt.ArrayLike,
        widths: npt.ArrayLike,
        coefs: npt.ArrayLike,
        *,
        feature_names: Iterable[str] | None = None,
        output_names: Iterable[str] | None = None,
        ranges: npt.ArrayLike | None = None,
        **operators: Any,
    ) -> Self:
        """Create conjunctions of Gaussian sets from arrays, in the user's units.

        Parameters
        ----------
        centers, widths : arrays of shape (n_rules, n_features)
        coefs : array of shape (n_rules,), (n_rules, n_outputs, 1) or (n_rules, n_outputs, 1 + n_features)
            Constant first.
        feature_names, output_names : sequences of str, optional
        ranges : array of shape (n_features, 2), optional
            Range of the data, to which *low*, *medium* and *high* refer. Default: the range of the centers.
        **operators
            ``t_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``, ``normalize``, ``default``.

        Examples
        --------
        >>> print(RuleBase.from_arrays(centers=[[0.0], [1.0]], widths=[[0.3], [0.3]], coefs=[0, 1]))
        Rule 1: IF x1 is low THEN y = 0
        Rule 2: IF x1 is high THEN y = 1
        """
        names: dict[str, Any] = {"feature_names": feature_names, "output_names": output_names, "ranges": ranges}
        return arrays.from_arrays(cls, centers, widths, coefs, **names, **operators)

    @classmethod
    def from_sets(
        cls, sets: Mapping[str, tuple[Array, ...]], masks: Mapping[str, Array], coefs: Array, **settings: Any
    ) -> Self:
        """Create a rule base from the network's arrays (see `network.Params`); the inverse of `compile`.

        Parameters
        ----------
        sets : mapping of family to arrays of shape (n_rules, n_features)
            One array per parameter of the family.
        masks : mapping of family to array of shape (n_rules, n_features)
            1 where a rule has a set of this family.
        coefs : array of shape (n_rules, n_outputs, 1 or 1 + n_features)
        **settings
            As in `from_arrays`.
        """
        return arrays.from_sets(cls, sets, masks, coefs, **settings)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`.

        Examples
        --------
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> RuleBase.from_dict(rules.to_dict()) == rules
        True
        """
        return json.from_dict(cls, content)

    # ------------------------------------------------------------------ methods
    # The functions of this package that work on rules are the methods themselves, documented where they are defined.

    infer = activations.infer
    compile = arrays.compiled
    with_numbers = arrays.with_numbers
    edit = editing.edit
    over = editing.over
    to_sugeno = conversion.to_sugeno
    to_mamdani = conversion.to_mamdani
    simplify = editing.simplify
    diagnose = editing.diagnose
    diff = editing.diff
    to_text = source.to_text
    to_source = source.to_source
    statements = source.statements
    concluded_text = source.concluded_text
    describe_terms = source.describe_terms
    to_dict = json.to_dict

    @property
    def centers(self) -> Array:
        """Most typical value of each set, shape (n_rules, n_features); NaN for don't-care."""
        return arrays.centers(self)

    @property
    def widths(self) -> Array:
        """Spread of each set, shape (n_rules, n_features), a Gaussian's standard deviation; NaN for don't-care."""
        return arrays.widths(self)

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return self.to_text(max_conditions=None if self.n_features <= 12 else 8)

    def __repr__(self) -> str:
        counts = [(self.n_rules, "rule"), (self.n_features, "feature")]
        facts = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        lines = str(self).splitlines()
        more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
        return "\n".join([f"{type(self).__name__}({facts})", *lines[:_LINES], *more])

    def _repr_html_(self) -> str:
        return html.fragment(rule_cards(self))

    def save(self, path: storage.Path_) -> None:
        """Write the rules as JSON; if that fails, an existing file stays intact.

        Examples
        --------
        >>> import tempfile
        >>> from fuzzymil.rules import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     RuleBase.load(f"{folder}/rules.json") == rules
        True
        """
        _check_ending(path, "save writes JSON", "write_rules(rules, path)")
        content = {"library": __version__, **self.to_dict()}
        storage.write_document(path, json.FORMAT, json.VERSIONS[json.FORMAT], content)

    @classmethod
    def load(cls, path: storage.Path_) -> Self:
        """Read rules written by `save`; nothing in the file is executed."""
        _check_ending(path, "load reads JSON", "read_rules(path)")
        return cls.from_dict(storage.read_document(path, json.VERSIONS))

    def studio(self, bags: Any = None) -> Any:
        """Open the rule studio in a notebook: see, drag, write and train these rules.

        Outside notebooks, use ``fuzzymil studio`` on the command line.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts, optional

        Returns
        -------
        StudioWidget
            Shows the studio where it is displayed; its ``rules`` are the rules as they are now. Requires anywidget:
            ``pip install "fuzzymil[notebook]"``.
        """
        return package_above("fuzzymil.studio.widget").show(self, bags)

    # ------------------------------------------------------------------ other programs

    def to_fll(self) -> str:
        """Return the rules as FLL, the language of fuzzylite; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that FLL cannot express: NOT before parentheses under norms that are not dual, and membership
            families and norms that FLL does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fll())
        # The format has no bags: other programs infer one instance at a time.
        Engine: rules
        InputVariable: x1
          enabled: true
          range: 0 1
          lock-range: false
          term: low Gaussian 0 0.3
          term: high Gaussian 1 0.3
        ...
          rule: if x1 is low then y is rule1
          rule: if x1 is high then y is rule2
        >>> RuleBase.from_fll(rules.to_fll()) == rules
        True
        """
        return self._exported("fll")

    @classmethod
    def from_fll(cls, text: str) -> Self:
        """Parse FLL; anything unsupported raises an error that points at its line.

        The instances of a bag are joined by their maximum (``aggregation="max"``). A missing default becomes 0, or
        the middle of the range for Mamdani rules; ``lock-range`` of inputs becomes ``limited``.

        Raises
        ------
        RuleSyntaxError

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_fll('''
        ... InputVariable: ambient
        ...   term: dark Triangle 0 0 0.5
        ... OutputVariable: power
        ...   defuzzifier: WeightedAverage TakagiSugeno
        ...   term: high Constant 1
        ...   term: low Constant 0.2
        ... RuleBlock: rules
        ...   rule: if ambient is dark then power is high
        ...   rule: if ambient is not dark then power is low
        ... ''')
        >>> rules.infer([[0.25]]).output.tolist()
        [[0.6]]
        """
        return cls._from_system(fll.read(text))

    def to_fis(self) -> str:
        """Return the rules as the text of a MATLAB ``.fis`` file; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: AND mixed with OR, two conditions on one variable, hedges other
            than *not*, ``limited``, and membership families and norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fis())
        % The format has no bags: other programs infer one instance at a time.
        [System]
        ...
        [Input1]
        Name='x1'
        Range=[0 1]
        NumMFs=2
        MF1='low':'gaussmf',[0.3 0]
        MF2='high':'gaussmf',[0.3 1]
        ...
        [Rules]
        1, 1 (1) : 1
        2, 2 (1) : 1
        >>> RuleBase.from_fis(rules.to_fis()) == rules
        True
        """
        return self._exported("fis")

    @classmethod
    def from_fis(cls, text: str) -> Self:
        """Parse the text of a MATLAB ``.fis`` file; anything unsupported raises an error that points at its line.

        The instances of a bag are joined by their maximum (``aggregation="max"``), and the default of an output is
        the middle of its range.

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fis.read(text))

    def to_fcl(self) -> str:
        """Return the rules as FCL, the Fuzzy Control Language of IEC 61131-7; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: ``limited``, hedges in conclusions, and membership families and
            norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> print(rules.to_fcl())
        // The format has no bags: other programs infer one instance at a time.
        FUNCTION_BLOCK rules
        ...
        FUZZIFY x1
          RANGE := (0 .. 1);
          TERM low := GAUSS 0 0.3;
          TERM high := GAUSS 1 0.3;
        END_FUZZIFY
        ...
          RULE 2 : if x1 is high THEN y is rule2;
        END_RULEBLOCK
        ...
        >>> RuleBase.from_fcl(rules.to_fcl()) == rules
        True
        """
        return self._exported("fcl")

    @classmethod
    def from_fcl(cls, text: str, block: str | None = None) -> Self:
        """Parse FCL as the standard, jFuzzyLogic and fuzzylite write it; errors point at their line.

        ``block`` is the name of the function block to read if there are several.

        The instances of a bag are joined by their maximum (``aggregation="max"``). An output without a range spans its
        terms.

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fcl.read(text, block))

    def to_fml(self) -> str:
        """Return the rules as FML, the XML language of IEEE 1855; comments at the top list what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot express: AND mixed with OR, several hedges, ``limited``, sums, and
            membership families and norms that the format does not have.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], t_norm="min", aggregation="max")
        >>> '<gaussianShape param1="1" param2="0.3" />' in rules.to_fml()
        True
        >>> RuleBase.from_fml(rules.to_fml()) == rules
        True
        """
        return self._exported("fml")

    @classmethod
    def from_fml(cls, text: str) -> Self:
        """Parse FML: Mamdani, TSK or Tsukamoto systems; errors name the variable, term or rule.

        The instances of a bag are joined by their maximum (``aggregation="max"``).

        Raises
        ------
        RuleSyntaxError
        """
        return cls._from_system(fml.read(text))

    def to_python(self) -> str:
        """Return the rules as a Python module with functions ``infer`` and ``infer_bag`` that need nothing else.

        Raises
        ------
        ParameterError
            For what code cannot express: ``hold``, ``activation``, registered quantifiers, and the aggregations
            "softmax_relative", "softmax_log", "lse" and "power".

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> module = {}
        >>> exec(rules.to_python(), module)
        >>> module["infer"]([0.5]), module["infer_bag"]([[0.5], [1.0]])
        ([0.5], [0.8004...])
        """
        return self._exported("python")

    def to_c(self) -> str:
        """Return the rules as a C99 file with functions ``infer`` and ``infer_bag`` that need only ``math.h``.

        See `to_python` for what cannot be expressed.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
        >>> "void infer(const double *x, double *out) {" in rules.to_c()
        True
        """
        return self._exported("c")

    def _exported(self, format: str) -> str:
        return export.write(format, system.of_rules(self), self)

    def _losses(self, format: str) -> list[str]:
        return export.losses(format, system.of_rules(self), self)

    @classmethod
    def _from_system(cls, content: System) -> Self:
        try:
            return cls(**system.fields_of(content))
        except RuleSyntaxError:
            raise
        except ParameterError as problem:
            raise RuleSyntaxError(str(problem)) from None

    # ------------------------------------------------------------------ tables

    def to_markdown(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as a Markdown table: one row per rule, one column per feature, conclusions last.

        Premises with OR, or with NOT before parentheses, are written in one column instead; a second table then
        defines the terms.

        Parameters
        ----------
        max_conditions : int, optional
            Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
        digits : int or None
            Significant digits of numbers; None writes them exactly.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> print(rules.to_markdown())
        | rule | hue | y |
        | --- | --- | --- |
        | 1 | low: Gaussian(0, 0.3) | 0 |
        | 2 | high: Gaussian(1, 0.3) | 1 |
        """
        return tables.to_markdown(self, max_conditions, digits)

    def to_latex(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        r"""Return the rules as a LaTeX table that needs no packages; see `to_markdown`.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1e-9], feature_names=["hue_1"])
        >>> print(rules.to_latex())
        \begin{tabular}{rll}
        \hline
        rule & hue\_1 & y \\
        \hline
        $1$ & low: Gaussian($0$, $0.3$) & $0$ \\
        $2$ & high: Gaussian($1$, $0.3$) & $1\cdot10^{-9}$ \\
        \hline
        \end{tabular}
        """
        return tables.to_latex(self, max_conditions, digits)


def _check_ending(path: storage.Path_, does: str, instead: str) -> None:
    """Raise `ParameterError` if the name of a file says that it holds another format."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ENDINGS.get(ending, "json") != "json":
        raise ParameterError(f"{does}, and {ending} means another format: use fuzzymil.rules.formats.{instead}.")
