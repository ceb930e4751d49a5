"""From a model and bags to a report: everything is computed here, and written elsewhere."""

from __future__ import annotations

import dataclasses
import datetime
import errno
import os
from typing import Any, Self

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators import Network
from fuzzymil.explain import Explanation
from fuzzymil.report._bags_section import chosen_bags
from fuzzymil.report._markup import counted
from fuzzymil.report._page import render
from fuzzymil.report._performance import Performance, measured, refitted
from fuzzymil.report._predictions import Answers, Progress, answers_of
from fuzzymil.report._rules_section import RuleCard, rule_cards
from fuzzymil.rules.editing import Diagnosis

__all__ = ["Report", "write_report"]

_NOT_ANEW = (
    "There is no cross-validation: it needs rules that were learned and not changed by hand afterwards, and at least "
    "two bags of each class (of a regressor, four bags)."
)


@dataclasses.dataclass(frozen=True)
class Report:
    """What a report tells; make it with `of`, and write it with `to_html`.

    Attributes
    ----------
    title : str
    made_on : datetime.date
    answers : Answers
        The model, the bags, and what the one says about the other.
    cards : list of RuleCard
        The rules of all members.
    performance : Performance or None
        The numbers that count; None without labels.
    itself : Performance or None
        Of the model itself, where ``performance`` is of models learned anew.
    reason : str
        Why nothing was cross-validated, where nothing was.
    diagnoses : tuple of Diagnosis
        Of each member's rules.
    explanations : dict
        Of bags, by their place.

    Examples
    --------
    >>> from fuzzymil import MISugeno
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
    cards: list[RuleCard]
    performance: Performance | None
    itself: Performance | None
    reason: str
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
        max_bags: int = 200,
        random_state: Any = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Compute everything; see `write_report`."""
        _check(n_folds, max_bags)
        told = progress or (lambda what, done, total: None)
        answers = answers_of(model, bags, y)
        told("performance", 0, 1)
        performance, itself, reason = _performance(answers, cross_validate, n_folds, held_out, random_state)
        told("performance", 1, 1)
        diagnoses = tuple(base.diagnose(answers.read) for base in answers.members)
        places = chosen_bags(answers.certainty, max_bags)
        explanations: dict[int, Explanation] = {}
        told("explanations", 0, len(places))
        for place, explanation in zip(places.tolist(), answers.explained(places), strict=True):
            explanations[place] = explanation
            told("explanations", len(explanations), len(places))
        cards = rule_cards(answers)
        name = title or f"{counted(len(cards), 'rule')} on {counted(answers.bags.n_bags, 'bag')}"
        today = datetime.date.today()
        return cls(name, today, answers, cards, performance, itself, reason, diagnoses, explanations)

    def to_html(self) -> str:
        """Return the page."""
        return render(self)


def write_report(
    model: Any,
    bags: Any,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    title: str | None = None,
    cross_validate: bool = True,
    n_folds: int = 10,
    held_out: bool = False,
    max_bags: int = 200,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> None:
    """Write a report on a model and bags: one HTML page that needs nothing else.

    It holds a summary of the data, the rules in words with their sets, the performance with its uncertainty (where
    the bags have labels), the most and the least certain bags explained, the health of the rules, and settings and
    versions. Everything can be read without JavaScript, which adds sorting and finding.

    Parameters
    ----------
    model : fitted MIANFISClassifier, MIANFISRegressor, ANFISClassifier, ANFISRegressor or MISugeno
    bags : Bags, or anything `as_bags` takes
    path : str or path
        Of the page. It is written whole or not at all.
    y : array of shape (n_bags,), optional
        Default: the labels the bags carry, if any.
    title : str, optional
    cross_validate : bool
        Whether to learn rules anew, with the model's settings, on all folds but one, and to measure them on that one.
        Not done where it makes no sense: for rules that a person wrote, and without labels.
    n_folds : int
        Folds, stratified by class; fewer where a class has fewer bags.
    held_out : bool
        Whether the model was not trained on these bags: then it is measured on them as it is.
    max_bags : int
        Explain so many bags at most, the least and the most certain.
    random_state : int, RandomState or None
        Of the folds and of their models.
    progress : callable, optional
        Called as ``progress(what, done, total)`` on the way.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)[::5]
    >>> model = MIANFISClassifier(n_rules=4, max_epochs=10, random_state=0).fit(bags)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(model, bags, path, cross_validate=False)
    >>> path.stat().st_size < 1e6
    True
    """
    _check_place(path)
    report = Report.of(
        model,
        bags,
        y,
        title=title,
        cross_validate=cross_validate,
        n_folds=n_folds,
        held_out=held_out,
        max_bags=max_bags,
        random_state=random_state,
        progress=progress,
    )
    storage.write_atomically(path, report.to_html())


def _check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to before the work, and not after it."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", os.fspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)


def _check(n_folds: int, max_bags: int) -> None:
    for name, value, least in (("n_folds", n_folds, 2), ("max_bags", max_bags, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name} must be a whole number, at least {least}, got {value!r}.")


def _performance(
    answers: Answers, cross_validate: bool, n_folds: int, held_out: bool, random_state: Any
) -> tuple[Performance | None, Performance | None, str]:
    """Return the numbers that count, those of the model itself beside them, and why nothing was cross-validated."""
    if answers.truth is None:
        return None, None, ""
    learned = isinstance(answers.model, Network)
    itself = measured(answers, n_folds, random_state, seen=learned and not held_out)
    if not learned or held_out:
        return itself, None, ""
    if not cross_validate:
        return itself, None, "A cross-validation was not asked for."
    anew = refitted(answers, n_folds, random_state)
    return (itself, None, _NOT_ANEW) if anew is None else (anew, itself, "")
