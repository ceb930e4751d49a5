"""Facts about single bags for ``templates/bags.html``: their predictions, and why the model made them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_mark
from fuzzymil._utils.drawings import Bar, bar
from fuzzymil.explain import Explanation
from fuzzymil.explain.coverage import UNUSUAL
from fuzzymil.explain.text import evenly
from fuzzymil.report._answers import Answers
from fuzzymil.report._explanations import explanation_facts
from fuzzymil.report._format import label, typeset

_FEATURED = 3  # of the most certain bags, and as many of the least certain


@dataclasses.dataclass(frozen=True, kw_only=True)
class BagCard:
    """A bag, its prediction and the reasons.

    Attributes
    ----------
    place : int
        Position among the bags.
    name : str
        Id.
    n_instances : int
    predicted : object
        A class, or one or several numbers.
    true : object
        The label; None if it is unknown.
    wrong : bool
        Whether the predicted class is not the label.
    score : str
        Of two classes, the decision value; of several, the certainty; otherwise, the predicted number.
    bar : Bar
        Of the score.
    keys : dict of str to float
        Numbers to sort by.
    kinds : list of str
        Keys by which the list can be filtered.
    mark : str
        Of the color of the predicted class, see `fuzzymil._utils.colors.class_mark`; empty for numbers.
    probabilities : list of (class, float)
    outputs : list of (class, str)
        The output of each of several classes.
    coverage : float or None
        How usual the bag is, if that is known.
    unusual : str
        What is unusual about it; empty if it is not.
    why : dict
        See `fuzzymil.report._explanations.explanation_facts`.
    """

    place: int
    name: str
    n_instances: int
    predicted: Any
    true: Any
    wrong: bool
    score: str
    bar: Bar
    keys: dict[str, float]
    kinds: list[str]
    mark: str
    probabilities: list[tuple[Any, float]]
    outputs: list[tuple[Any, str]]
    coverage: float | None
    unusual: str
    why: dict[str, Any]


def chosen_bags(certainty: Array, most: int) -> Array:
    """Return the positions of the bags to explain: all, or the least and the most certain if there are many.

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


def bags_facts(answers: Answers, explanations: Mapping[int, Explanation]) -> dict[str, Any]:
    """Return what the section shows.

    Parameters
    ----------
    answers : Answers
    explanations : mapping of int to Explanation
        By position of the bag.
    """
    cards = _cards(answers, explanations)
    order = sorted(cards, key=lambda card: answers.certainty[card.place])
    n_least = min(_FEATURED, len(order))
    sort_by = {"place": "order", "name": "name", "certainty": "certainty", "size": "instances"}
    sort_by |= {} if answers.coverage is None else {"coverage": "coverage"}
    filters: dict[str, str] = {}
    if answers.classes is None:
        sort_by |= {"prediction": "prediction"} | ({} if answers.truth is None else {"error": "error"})
    else:
        filters |= {} if answers.truth is None else {"wrong": "misclassified", "correct": "correctly classified"}
        filters |= {f"as-{k}": f"predicted {label(name)}" for k, name in enumerate(answers.classes)}
    return {
        "cards": cards,
        "n_bags": answers.bags.n_bags,
        "featured": {"Least certain": order[:n_least], "Most certain": order[n_least:][::-1][:_FEATURED]},
        "certainty": _certainty(answers),
        "scale": answers.reading.scale,
        "about": answers.classes[-1] if answers.classes else None,
        "labeled": answers.truth is not None,
        "has_coverage": answers.coverage is not None,
        "sort_by": sort_by,
        "filters": filters,
    }


def _is_binary(answers: Answers) -> bool:
    return answers.classes is not None and answers.output.shape[1] == 1


def _certainty(answers: Answers) -> str:
    """Return what certainty is, as the template knows it."""
    if answers.classes is None:
        return "firing" if answers.coverage is None else "coverage"
    return "threshold" if _is_binary(answers) else "margin"


def _cards(answers: Answers, explanations: Mapping[int, Explanation]) -> list[BagCard]:
    bags, truth, signed = answers.bags, answers.truth, _is_binary(answers)
    certainty, coverage, wrong = answers.certainty, answers.coverage, answers.wrong
    several = answers.classes is not None and not signed
    # Of several classes, a bag on which no rule fires is not certain at all.
    scores = np.maximum(certainty, 0.0) if several else answers.output[:, 0] - answers.reading.threshold
    # The true number can be drawn beside a predicted one.
    true = truth.reshape(len(truth), -1)[:, 0] if truth is not None and answers.classes is None else None
    widest = float(np.abs(scores).max()) or 1.0
    ends = (-widest, widest) if signed else (0.0, widest) if several else (float(scores.min()), float(scores.max()))
    texts = [typeset(text.strip()) for text in evenly(scores.tolist(), signed=signed)]
    cards = []
    for b, explanation in explanations.items():
        kinds, mark = [], ""
        if answers.classes is not None:
            place = answers.classes.index(np.asarray(answers.predictions[b]).tolist())
            kinds, mark = [f"as-{place}"], class_mark(place, len(answers.classes))
            kinds += [] if truth is None else ["wrong" if wrong[b] else "correct"]
        keys = {"certainty": certainty[b], "prediction": scores[b]}
        keys |= {} if coverage is None else {"coverage": coverage[b]}
        keys |= {} if true is None else {"error": abs(scores[b] - true[b])}
        cards.append(
            BagCard(
                place=b,
                name=str(bags.ids[b]),
                n_instances=int(bags.sizes[b]),
                predicted=answers.predictions[b],
                true=None if truth is None else truth[b],
                wrong=bool(wrong[b]),
                score=texts[b],
                bar=bar(float(scores[b]), *ends, signed=signed, mark=None if true is None else float(true[b])),
                keys=keys,
                kinds=kinds,
                mark=mark,
                probabilities=list(zip(answers.classes or (), explanation.probability or (), strict=False)),
                outputs=_outputs(answers, b) if several else [],
                coverage=explanation.coverage,
                unusual=_unusual(explanation),
                why=explanation_facts(explanation, answers.sketchers),
            )
        )
    return cards


def _outputs(answers: Answers, place: int) -> list[tuple[Any, str]]:
    values = evenly(answers.output[place].tolist(), signed=True)
    return [(name, typeset(text.strip())) for name, text in zip(answers.classes or (), values, strict=True)]


def _unusual(explanation: Explanation) -> str:
    unlike = explanation.coverage is not None and explanation.coverage < UNUSUAL
    return typeset(str(explanation.unusual)) if unlike and explanation.unusual is not None else ""
