"""The section on single bags: the most and the least certain explained, and all of them to look through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.explain import Explanation
from fuzzymil.explain.text import evenly
from fuzzymil.report import _markup
from fuzzymil.report._explanations import degree_told, explained
from fuzzymil.report._predictions import Answers
from fuzzymil.report._sketches import Sketcher, bar
from fuzzymil.report.html import Markup, element

__all__ = ["bags_section", "chosen_bags"]

N_FEATURED = 3  # of the most certain bags, and as many of the least


def chosen_bags(certainty: Array, most: int) -> Array:
    """Return the places of the bags to explain: all, or of more than ``most`` the least and the most certain.

    Examples
    --------
    >>> chosen_bags(np.array([0.3, 0.1, 0.5, 0.2]), 2).tolist()
    [1, 2]
    """
    order = np.argsort(certainty, kind="stable")
    if len(order) <= most:
        return np.arange(len(order))
    half = most // 2
    return np.sort(np.concatenate([order[: most - half], order[len(order) - half :]]))


def bags_section(answers: Answers, explanations: Mapping[int, Explanation], sketchers: list[Sketcher]) -> Markup:
    """Show bags with their explanations.

    Parameters
    ----------
    answers : Answers
    explanations : mapping
        From the place of a bag.
    sketchers : list of Sketcher
        One a member.
    """
    places = np.array(list(explanations), int)
    order = places[np.argsort(answers.certainty[places], kind="stable")]
    n_least = min(N_FEATURED, len(order))
    least, greatest = order[:n_least], order[n_least:][::-1][:N_FEATURED]
    rows = _Rows(answers, sketchers)
    featured = [("The least certain", least), ("The most certain", greatest)]
    shown = [
        [
            element("h3", title),
            [element("article", rows.heading(b), rows.body(b, explanations[b])) for b in chosen.tolist()],
        ]
        for title, chosen in featured
        if len(chosen)
    ]
    return _markup.section(
        "bags", "Bags", element("p", _introduction(answers)), shown, _browser(answers, explanations, rows)
    )


def _introduction(answers: Answers) -> str:
    if answers.classes is None:
        how = (
            "Certain means here: how strongly the bag fires the rule that knows it best (the coverage). Near 0, no "
            "rule knows the bag, and the answer is a guess."
        )
    elif answers.output.shape[1] == 1:
        how = "Certain means here: how far the decision value is from 0, where the one class ends and the other begins."
    else:
        how = "Certain means here: how far the output of the predicted class is above that of the next."
    return (
        f"{how} The witness of a rule is the instance that made it fire; instances of a bag are numbered from 0. In "
        "the drawings the line is the set that the rule asks for, and the upright mark is the witness."
    )


def _browser(answers: Answers, explanations: Mapping[int, Explanation], rows: _Rows) -> list[Markup]:
    n_bags = answers.bags.n_bags
    title = "All bags" if len(explanations) == n_bags else f"{len(explanations)} of {n_bags:,} bags"
    note = None
    if len(explanations) < n_bags:
        note = element("p", "The least and the most certain ones; the others are left out to keep this page small.")
    items = [rows.item(b, explanation) for b, explanation in explanations.items()]
    only: dict[str, str] = {}
    sort_by = {"place": "order", "name": "name", "certainty": "certainty", "size": "instances", "coverage": "coverage"}
    if answers.classes is not None:
        only |= {f"as-{k}": f"predicted {_markup.told(label)}" for k, label in enumerate(answers.classes)}
        if answers.truth is not None:
            only = {"wrong": "wrongly predicted", "correct": "correctly predicted"} | only
    else:
        sort_by["prediction"] = "prediction"
        if answers.truth is not None:
            sort_by["error"] = "error"
    found = _markup.collection(
        "bag-list", "bags", element("div", items, data_list=True), len(items), sort_by=sort_by, only=only
    )
    return [element("h3", title), *([note] if note else []), element("p", "Open a bag to see why."), found]


class _Rows:
    """Writes the bags, one by one."""

    def __init__(self, answers: Answers, sketchers: list[Sketcher]) -> None:
        self.answers, self.sketchers = answers, sketchers
        self.certainty, self.log_coverage, self.wrong = answers.certainty, answers.log_coverage, answers.wrong
        self.one_border = answers.classes is not None and answers.output.shape[1] == 1
        outputs = answers.output - answers.reading.threshold
        # Of several classes the output of the predicted one, else the decision value or the (first) number.
        self.score = outputs.max(axis=1) if answers.classes is not None else outputs[:, 0]
        # The truth beside it, and how far off it is: of numbers only.
        truth = answers.truth if answers.classes is None else None
        self.true = None if truth is None else truth.reshape(len(truth), -1)[:, 0]
        self.error = None if self.true is None else np.abs(self.score - self.true)
        widest = float(np.abs(self.score).max()) or 1.0
        self.ends = (-widest, widest) if self.one_border else (float(self.score.min()), float(self.score.max()))
        self.told = [_markup.typeset(text.strip()) for text in evenly(self.score.tolist(), signed=self.one_border)]

    def heading(self, b: int) -> Markup:
        return element("h4", self._name(b), " ", self._said(b))

    def body(self, b: int, explanation: Explanation) -> list[Markup]:
        known = {"Instances": f"{explanation.n_instances:,}", **self._truth(b)}
        if explanation.probability is not None and explanation.classes is not None:
            likely = zip(explanation.classes, explanation.probability, strict=True)
            known["Probabilities"] = ", ".join(f"{_markup.told(label)}: {_markup.number(p)}" for label, p in likely)
        known["Greatest firing strength"] = degree_told(explanation.log_coverage)
        return [_markup.facts(known, inline=True), *explained(explanation, self.sketchers)]

    def item(self, b: int, explanation: Explanation) -> Markup:
        return element(
            "details",
            element(
                "summary",
                element("b", self._name(b)),
                self._said(b),
                element("span", self._bar(b), " ", self.told[b], class_="score"),
                element("span", f"coverage {degree_told(float(self.log_coverage[b]))}", class_="soft"),
            ),
            self.body(b, explanation),
            class_="card bag",
            data_item=True,
            data_place=b,
            data_name=self._name(b),
            data_size=int(self.answers.bags.sizes[b]),
            data_certainty=_sortable(self.certainty[b]),
            data_coverage=_sortable(self.log_coverage[b]),
            data_prediction=_sortable(self.score[b]),
            data_error=None if self.error is None else _sortable(self.error[b]),
            data_kinds=" ".join(self._kinds(b)) or None,
        )

    def _kinds(self, b: int) -> list[str]:
        """Name the kinds of bags that the list can be narrowed to."""
        answers = self.answers
        if answers.classes is None:
            return []
        known = [] if answers.truth is None else ["wrong" if self.wrong[b] else "correct"]
        return [f"as-{answers.classes.index(_plain(answers.predictions[b]))}", *known]

    def _name(self, b: int) -> str:
        return _markup.told(_plain(self.answers.bags.ids[b]))

    def _truth(self, b: int) -> dict[str, str]:
        if self.answers.truth is None:
            return {}
        true = _plain(self.answers.truth[b])
        return {"Label": ", ".join(map(_value, true)) if isinstance(true, list) else _value(true)}

    def _said(self, b: int) -> Markup:
        said = _plain(self.answers.predictions[b])
        words = ", ".join(map(_value, said)) if isinstance(said, list) else _value(said)
        label = next(iter(self._truth(b).values()), None)
        true = "" if label is None else f", label {label}"
        wrong = [" ", element("span", "wrong", class_="tag wrong")] if self.wrong[b] else None
        return element("span", f"predicted {words}{true}", wrong)

    def _bar(self, b: int) -> Markup:
        mark = None if self.true is None else float(self.true[b])
        return bar(float(self.score[b]), *self.ends, signed=self.one_border, mark=mark)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _value(value: Any) -> str:
    return _markup.number(value) if isinstance(value, float) and not value.is_integer() else _markup.told(value)


def _sortable(value: float) -> str:
    return f"{float(value):.8g}" if np.isfinite(value) else "-1e999"
