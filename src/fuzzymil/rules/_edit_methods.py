"""What a rule base can become: changed by hand, simplified, looked over. The work is done in `editing`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase
    from fuzzymil.rules.editing import Diagnosis, Simplified

__all__ = ["Changing"]


class Changing:
    """The changes of a `RuleBase`; each returns another one and leaves it as it is."""

    def over(self, feature_names: Iterable[str]) -> RuleBase:
        """Return the same rules over these features: in their order, further ones don't-care.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> rules.over(["size", "hue"]).feature_names
        ('size', 'hue')
        """
        from fuzzymil.rules import editing

        return editing.over(cast("RuleBase", self), tuple(feature_names))

    def edit(
        self,
        *,
        rename: Mapping[Any, str] | None = None,
        sets: Mapping[Any, Any] | None = None,
        new_terms: Mapping[Any, Any] | None = None,
        without: Mapping[int, str | Iterable[str]] | None = None,
        conclusions: Mapping[int, Any] | None = None,
        weights: Mapping[int, float] | None = None,
        merge: Iterable[Iterable[int]] = (),
        drop: int | Iterable[int] = (),
        keep: Iterable[int] | None = None,
        add: str | Iterable[str] = (),
        drop_unused_terms: bool = False,
    ) -> RuleBase:
        """Return a changed copy; this rule base stays as it is.

        Rules go by their numbers as this rule base prints them, whatever else the same call changes. Names
        are changed first: all else, and the rules to add, speak the new ones.

        Parameters
        ----------
        rename : mapping, optional
            Old to new name of variables, outputs and terms: ``{"x1": "hue", "hue.low": "dark", "y": "sky"}``; a
            term is ``"variable.term"`` (or ``("variable", "term")``), by the new name of its variable.
        sets : mapping, optional
            Of terms the fuzzy set, ``{"hue.dark": Gaussian(0.1, 0.2)}``, or some of its parameters,
            ``{"hue.dark": {"center": 0.1}}``. All rules that use the term follow.
        new_terms : mapping, optional
            Further terms and their fuzzy sets.
        without : mapping, optional
            Of rules the variables they shall no longer ask about: ``{3: ["texture"]}``.
        conclusions : mapping, optional
            What rules conclude instead: a number, or a text such as ``"0.3 + 2*hue"``; with several outputs
            a mapping of output to that, ``{2: {"sky": 0.8}}``.
        weights : mapping, optional
            Of rules the factor of their firing strength.
        merge : sequence of sequences of int
            Rules that become one, in the place of the first named: ``[(1, 4)]``. They ask about the same variables, in
            plain conjunctions. With p the rules' weights divided by their sum, the new rule concludes the mean,
            weighted by p, and has the sum of the weights: merging rules with equal premises (and alphas) changes no
            output, but for linear conclusions under a ``combine`` that is not linear. Where they ask for different
            terms a new one, ``low_or_medium``, has the mean and standard deviation of their mixture: center
            c = sum(p c_r), width sqrt(sum(p (s_r**2 + (c_r - c)**2))).
        drop : int or sequence of int
            Rules that go.
        keep : sequence of int, optional
            Instead of ``drop``: the rules that stay, in this order.
        add : str or sequence of str
            Further rules as text, over the variables and outputs there are. (Where every rule has an alpha of
            its own, new ones have the mean.)
        drop_unused_terms : bool
            Forget terms that no rule uses any more.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0, 0.0], [1.0, 1.0], [1.1, 1.0]], [[0.3, 0.3]] * 3, [0, 1, 0.8])
        >>> print(rules)
        Rule 1: IF x1 is low AND x2 is low THEN y = 0
        Rule 2: IF x1 is high1 AND x2 is high THEN y = 1
        Rule 3: IF x1 is high2 AND x2 is high THEN y = 0.8
        >>> mine = rules.edit(rename={"x1": "hue", "hue.low": "dark", "y": "sky"}, sets={"hue.dark": {"center": 0.1}},
        ...                   without={1: "x2"}, merge=[(2, 3)], add="IF hue is dark AND x2 is high THEN sky = 0.5")
        >>> print(mine)
        Rule 1: IF hue is dark THEN sky = 0
        Rule 2: IF hue is high1_or_high2 AND x2 is high THEN sky = 0.9 WITH 2
        Rule 3: IF hue is dark AND x2 is high THEN sky = 0.5
        """
        from fuzzymil.rules import editing

        return editing.edit(
            cast("RuleBase", self),
            rename=rename or {},
            sets=sets or {},
            new_terms=new_terms or {},
            without=without or {},
            conclusions=conclusions or {},
            weights=weights or {},
            merge=merge,
            drop=drop,
            keep=keep,
            add=add,
            drop_unused_terms=drop_unused_terms,
        )

    def simplify(
        self,
        bags: Any = None,
        *,
        tolerance: float = 0.05,
        similarity: float = 0.8,
        always: float = 0.95,
        min_share: float = 0.01,
        threshold: float = 0.5,
    ) -> Simplified:
        """Merge what says the same, drop what says nothing, and tell how much the outputs change.

        In this order: rules go that never reach ``min_share``; conditions that always hold become don't-care;
        terms of a variable that say the same become one; rules that then ask the same become one, with the sum
        of their weights, which changes no output (see `edit`). Of each kind as many steps are taken, the most
        harmless first, as keep all outputs within ``tolerance``.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` takes, optional
            Bags such as the rules are for. Without them no rule is dropped as idle, and outputs are compared on
            1024 points of the variables' ranges and the rules' own centers, bags of one instance.
        tolerance : float
            Greatest change of any output on the bags, as a part of the outputs' range there; ``inf``: any.
        similarity : float
            Terms say the same if the area of the intersection is at least this part of the area of the union (over
            the variable's range) for every two of them. The one that stands for them is made as in `edit`.
        always : float
            A condition always holds if its membership is at least this on all instances (without bags, all
            over the range).
        min_share : float
            A rule that has less than this share of the (normalized) strength on every bag decides nothing.
        threshold : float
            Where a single output is cut into decisions, for counting those that change; of several outputs the
            greatest decides.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0], [1.01]], [[0.3], [0.3], [0.3]], [0, 1, 0.9])
        >>> simpler = rules.simplify([[[0.0]], [[0.4], [1.0]]])
        >>> print(simpler)
        3 rules, 3 conditions, 3 terms became 2 rules, 2 conditions, 2 terms.
        Terms of x1 that say the same: high1, high2; kept as high1.
        Asking the same, and now one: rules 2, 3.
        Outputs on 2 bags change by 2.4e-05 at most, 2.2e-05 on average; 0 decisions at 0.5 changed.
        >>> print(simpler.rules)
        Rule 1: IF x1 is low THEN y = 0
        Rule 2: IF x1 is high1 THEN y = 0.95 WITH 2
        """
        from fuzzymil.rules import editing

        return editing.simplify(
            cast("RuleBase", self),
            bags,
            tolerance=tolerance,
            similarity=similarity,
            always=always,
            min_share=min_share,
            threshold=threshold,
        )

    def diagnose(
        self,
        bags: Any,
        *,
        min_share: float = 0.01,
        dominant: float = 0.5,
        nearly_all: float = 0.95,
        similarity: float = 0.8,
        agreement: float = 0.25,
        extreme: float = 3.0,
        always: float = 0.95,
        never: float = 0.05,
        coverage: float = 1e-6,
    ) -> Diagnosis:
        """Look for rules, conditions, terms and bags that somebody should look at.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` takes
        min_share : float
            "never fires": a rule whose share of the strength (Layer 4) stays below this on every bag.
        dominant, nearly_all : float
            "always fires": a rule with a share above ``dominant`` on the part ``nearly_all`` of the bags.
        similarity, agreement : float
            Two rules ask the same if each two of their sets are this similar (see `simplify`): a "duplicate" if
            their conclusions are within ``agreement`` (of the outputs' range on the bags), else a "contradiction".
        extreme : float
            "extreme conclusion": further from all outputs and other rules' conclusions, in units of their range.
        always, never : float
            "always true" and "never true": conditions with a membership of at least ``always``, or at most
            ``never``, on all instances.
        coverage : float
            "uncovered bags": no rule fires (Layer 3) by at least this; in many dimensions strengths are small.

        Returns
        -------
        Diagnosis
            Findings, each with its kind, the rules it is about, a message and advice; "unused term" and "unused
            variable" are further kinds.

        Examples
        --------
        >>> from fuzzymil import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0], [1.01]], [[0.3], [0.3], [0.3]], [0, 1, 0.9])
        >>> print(rules.diagnose([[[0.0]], [[0.4], [1.0]]]))
        1 finding about 3 rules on 2 bags:
        duplicate  Rules 2 and 3 ask nearly the same (0.97) and conclude the same. Merge them: edit(merge=[(2, 3)]).
        """
        from fuzzymil.rules import editing

        return editing.diagnose(
            cast("RuleBase", self),
            bags,
            min_share=min_share,
            dominant=dominant,
            nearly_all=nearly_all,
            similarity=similarity,
            agreement=agreement,
            extreme=extreme,
            always=always,
            never=never,
            coverage=coverage,
        )
