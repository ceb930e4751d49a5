"""The report on a model and bags: computed here, shown by the templates, written to a file."""

from __future__ import annotations

import dataclasses
import datetime
import os
from typing import Any, Self

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import as_array
from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.estimators import Fold, MIMamdani
from fuzzymil.estimators.base import Learner
from fuzzymil.explain import Explanation
from fuzzymil.plots import FrontierDisplay
from fuzzymil.report import html
from fuzzymil.report._answers import Answers, Progress, answers_of
from fuzzymil.report._performance import Groups, Performance, cross_validate_model, figure_svg, measure_model
from fuzzymil.report._sections import (
    Matters,
    RuleUse,
    bags_facts,
    data_facts,
    health_facts,
    rule_uses,
    rules_facts,
    select_bags,
    settings_facts,
    what_matters,
)
from fuzzymil.rules.editing import Diagnosis


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """The contents of a report. Create one with `of`; `to_html` returns the page.

    The ``performance`` has the numbers to quote, ``own_performance`` the model's own on the same bags if the former is
    cross-validated; the ``reason`` why it is not is ``"edited"`` (or too few bags), ``"not requested"``, or empty.

    Examples
    --------
    >>> from fuzzymil.estimators import MISugeno
    >>> model = MISugeno(rules="VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1")
    >>> report = Report.of(model.fit([[[0.6]]]), [[[0.6], [0.1]], [[0.2]]])
    >>> report.title
    '1 rule on 2 bags'
    >>> report.to_html().startswith("<!DOCTYPE html>")
    True
    """

    title: str
    made_on: datetime.date
    answers: Answers
    cards: list[RuleUse]
    performance: Performance | None
    own_performance: Performance | None
    reason: str
    matters: Matters
    diagnoses: tuple[Diagnosis, ...]
    explanations: dict[int, Explanation]

    @classmethod
    def of(
        cls,
        model: Any,
        bags: Any,
        y: Any = None,
        *,
        title: str | None = None,
        cross_validate: bool = True,
        n_folds: int = 10,
        held_out: bool = False,
        max_bags: int = 50,
        random_state: Any = 0,
        progress: Progress | None = None,
        pos_label: Any = None,
        groups: Any = None,
    ) -> Self:
        """Compute a report.

        Parameters
        ----------
        model : fitted estimator with rules: chosen ones, a network, MISugeno or MIMamdani
        bags : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Default: the labels of the bags, if any.
        title : str, optional
        cross_validate : bool
            Whether to cross-validate a model with the same parameters. Skipped for expert rules and without labels.
        n_folds : int
            Number of folds, stratified by class; fewer if a class has fewer bags.
        held_out : bool
            Set this if the model was not trained on these bags: it is then measured on them directly.
        max_bags : int
            Maximum number of bags to explain: the least and the most certain.
        random_state : int, RandomState or None
            Random seed of the folds, and of their models if the model has none of its own.
        progress : callable, optional
            Called as ``progress(step, done, total)`` to report progress.
        pos_label : label, optional
            Of two classes, the one that the curves are about. Default: the model's positive class.
        groups : array of shape (n_bags,), or str, optional
            Bags of one group stay in one fold of the cross-validation: the visits of one person. A name means a column
            that was kept beside the features (``Bags.from_frame(..., keep=["person"])``).
        """
        _check(n_folds, max_bags)
        step = progress or (lambda name, done, total: None)
        answers = answers_of(model, bags, y)
        about, kept = _positive(answers, pos_label), _groups(answers, groups)
        step("performance", 0, 1)
        quoted, own, reason, folds = _performance(answers, cross_validate, n_folds, held_out, random_state, kept)
        performance, own = (each and dataclasses.replace(each, positive=about) for each in (quoted, own))
        step("performance", 1, 1)
        step("importance", 0, 1)
        matters = what_matters(answers, folds, about)
        step("importance", 1, 1)
        places = select_bags(answers.certainty, max_bags)
        explanations: dict[int, Explanation] = {}
        step("explanations", 0, len(places))
        for place, explanation in zip(places.tolist(), answers.explained(places), strict=True):
            explanations[place] = explanation
            step("explanations", len(explanations), len(places))
        cards = rule_uses(answers, matters.rules)
        return cls(
            title=title or f"{html.counted(len(cards), 'rule')} on {html.counted(answers.bags.n_bags, 'bag')}",
            made_on=datetime.date.today(),
            answers=answers,
            cards=cards,
            performance=performance,
            own_performance=own,
            reason=reason,
            matters=matters,
            diagnoses=tuple(rules.diagnose(answers.read) for rules in answers.model.members_),
            explanations=explanations,
        )

    @property
    def frontier(self) -> Any:
        """What held-out bags said of rule bases of other sizes, if the rules were chosen among these."""
        return getattr(self.answers.model, "frontier_", None)

    def sizes(self) -> bytes:
        """Draw the frontier."""
        return figure_svg(FrontierDisplay(self.frontier).plot)

    def to_html(self) -> str:
        """Return the page: a single HTML file that loads nothing else."""
        return html.render(
            "report.html",
            report=self,
            frontier=self.frontier,
            n_estimators=len(self.answers.members),
            data=data_facts(self.answers),
            rules=rules_facts(self.answers, self.cards),
            matters=self.matters,
            health=health_facts(self.diagnoses, additive=not self.answers.rules.normalize),
            bags=bags_facts(self.answers, self.explanations),
            settings=settings_facts(self.answers),
        )


def write_report(model: Any, bags: Any, path: str | os.PathLike[str], **settings: Any) -> None:
    """Write a report on a model and bags as one self-contained HTML file.

    It describes the data, lists the rules in words and drawings, measures the performance (if the bags have
    labels), tells which features and rules matter and how predictions change with them, explains the predictions
    for the most and the least certain bags, diagnoses the rules, and records parameters and versions. JavaScript is
    only needed for sorting and searching.

    Parameters
    ----------
    model : fitted estimator with rules: chosen ones, a network, MISugeno or MIMamdani
    bags : Bags, or anything `as_bags` accepts
    path : str or path
        File to write. An existing file is replaced only on success.
    **settings
        ``y``, ``title``, ``cross_validate``, ``n_folds``, ``held_out``, ``max_bags``, ``random_state``, ``progress``,
        ``pos_label`` and ``groups``, as in `Report.of`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)[::5]
    >>> model = RuleClassifier(random_state=0).fit(bags)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(model, bags, path, cross_validate=False)
    >>> path.stat().st_size < 1e6
    True
    """
    storage.check_writable(path)
    storage.write_atomically(path, Report.of(model, bags, **settings).to_html())


def _check(n_folds: int, max_bags: int) -> None:
    for name, value, least in (("n_folds", n_folds, 2), ("max_bags", max_bags, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name} must be an integer of at least {least}, got {value!r}.")


def _learned(model: Any) -> bool:
    """Return whether a fit learned rules or moved their sets, so that its bags are no test."""
    if isinstance(model, MIMamdani):
        return model.rules is None or model.max_epochs > 0
    return isinstance(model, Learner)


def _positive(answers: Answers, given: Any) -> Any:
    """Return the class that curves are about; None for the positive one, or for several classes."""
    classes = answers.classes
    if classes is None or len(classes) != 2:
        if given is not None:
            raise ParameterError(f"pos_label={given!r:.60} is for models of two classes, not for this one: omit it.")
        return None
    if given is None:
        return None
    known_name("class", str(given), [str(name) for name in classes])
    return next(name for name in classes if str(name) == str(given))


def _recognizes(answers: Answers) -> bool:
    """Return whether the model was trained on some of the bags, as far as it remembers them."""
    coverage = getattr(answers.model, "coverage_", None)
    return coverage is not None and bool(coverage.n_recognized(answers.read))


def _groups(answers: Answers, given: Any) -> Groups | None:
    """Return what the bags belong to, given as a column beside the features, or as one value per bag."""
    if given is None:
        return None
    if isinstance(given, str):
        return Groups(answers.bags.per_bag(given), given)
    found = as_array(given)
    if found.shape != (answers.bags.n_bags,):
        raise InputError(f"groups must have one value per bag ({answers.bags.n_bags}), got shape {found.shape}.")
    return Groups(found)


def _performance(
    answers: Answers, cross_validate: bool, n_folds: int, held_out: bool, random_state: Any, groups: Groups | None
) -> tuple[Performance | None, Performance | None, str, list[Fold]]:
    """Return the numbers to quote, the model's own, why there is no cross-validation, and the models of its folds."""
    if answers.truth is None:
        return None, None, "", []
    trained = _learned(answers.model)
    seen = trained and (not held_out or _recognizes(answers))
    own = measure_model(answers, n_folds, random_state, seen=seen, groups=groups)
    if not trained or held_out:
        return own, None, "", []
    if not cross_validate:
        return own, None, "not requested", []
    found = cross_validate_model(answers, n_folds, random_state, groups)
    return (own, None, "edited", []) if found is None else (found[0], own, "", found[1])
