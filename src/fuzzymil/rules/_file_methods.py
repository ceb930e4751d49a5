"""What all rules can do: be written for other programs, be read from them, and be printed as tables."""

from __future__ import annotations

from typing import Any, Self

from fuzzymil._utils.errors import RuleSyntaxError

__all__ = ["Interchange"]


class Interchange:
    """The other formats of `RuleBase` and `MamdaniRules`; files are read and written by `fuzzymil.rules.formats`."""

    def to_fll(self) -> str:
        """Return the rules as FLL, the language of fuzzylite, headed by comments that tell what is lost.

        Raises
        ------
        ParameterError
            For rules that FLL cannot say: NOT before a bracket under norms that are not dual.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"], aggregation="max")
        >>> print(rules.to_fll())
        # Bags are not part of the format: other programs infer one instance at a time.
        Engine: rules
        InputVariable: hue
          enabled: true
          range: 0 1
          lock-range: false
          term: low Gaussian 0 0.3
          term: high Gaussian 1 0.3
        ...
          rule: if hue is low then y is rule1
          rule: if hue is high then y is rule2
        >>> RuleBase.from_fll(rules.to_fll()) == rules
        True
        """
        from fuzzymil.rules.formats import export  # which builds on the rules

        rules: Any = self
        return export.to_fll(rules)

    @classmethod
    def from_fll(cls, text: str) -> Self:
        """Read FLL; what is not supported is an error that points at its line.

        Instances of a bag are joined by their greatest (``aggregation="max"``). See `fuzzymil.rules.formats.fll` for
        what becomes of the rest.

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
        from fuzzymil.rules.formats import fll, system

        return cls._of_this_kind(system.to_rules(fll.read(text)))

    def to_fis(self) -> str:
        """Return the rules as the text of a MATLAB ``.fis`` file, headed by comments that tell what is lost.

        Raises
        ------
        ParameterError
            For rules that the format cannot say: AND and OR mixed, a variable twice in a rule, hedges other
            than *not*, ``limited``.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"], aggregation="max")
        >>> print(rules.to_fis())
        % Bags are not part of the format: other programs infer one instance at a time.
        [System]
        ...
        [Input1]
        Name='hue'
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
        from fuzzymil.rules.formats import export

        rules: Any = self
        return export.to_fis(rules)

    @classmethod
    def from_fis(cls, text: str) -> Self:
        """Read the text of a MATLAB ``.fis`` file; what is not supported is an error that points at its line.

        Instances of a bag are joined by their greatest (``aggregation="max"``), and the default of an output is the
        middle of its range. See `fuzzymil.rules.formats.fis`.

        Raises
        ------
        RuleSyntaxError
        """
        from fuzzymil.rules.formats import fis, system

        return cls._of_this_kind(system.to_rules(fis.read(text)))

    def to_markdown(self, max_terms: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as a Markdown table: one row a rule, one column a feature, conclusions last.

        Premises with OR, or with brackets under NOT, stand in one column instead; a second table then defines
        the terms.

        Parameters
        ----------
        max_terms : int, optional
            Show only a rule's most selective conditions (narrowest for their variable's range first).
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
        from fuzzymil.rules.formats import tables

        rules: Any = self
        return tables.to_markdown(rules, max_terms, digits)

    def to_latex(self, max_terms: int | None = None, digits: int | None = 4) -> str:
        r"""Return the rules as a LaTeX table that needs no package; see `to_markdown`.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue_1"])
        >>> print(rules.to_latex())
        \begin{tabular}{rll}
        \hline
        rule & hue\_1 & y \\
        \hline
        $1$ & low: Gaussian($0$, $0.3$) & $0$ \\
        $2$ & high: Gaussian($1$, $0.3$) & $1$ \\
        \hline
        \end{tabular}
        """
        from fuzzymil.rules.formats import tables

        rules: Any = self
        return tables.to_latex(rules, max_terms, digits)

    @classmethod
    def _of_this_kind(cls, rules: object) -> Self:
        if not isinstance(rules, cls):
            found = type(rules).__name__
            kind = "Sugeno" if found == "RuleBase" else "Mamdani"
            raise RuleSyntaxError(f"The text holds a {kind} system: read it with {found}.")
        return rules
