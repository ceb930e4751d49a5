"""The section on performance: numbers with their uncertainty, and plainly what they were measured on."""

from __future__ import annotations

from fuzzymil.report import _figures, _markup
from fuzzymil.report._performance import Basis, Performance
from fuzzymil.report.html import Markup, element, image

__all__ = ["headline", "performance_section"]

_HEADS = {Basis.REFITTED: "cross-validated", Basis.UNSEEN: "this model", Basis.SEEN: "this model, on these bags"}


def headline(found: Performance) -> tuple[str, str, str]:
    """Return the measure to quote, its value, and what it was measured on, in few words."""
    name, values = next(iter(found.measures.items()))
    where = {
        Basis.REFITTED: f"cross-validated, n = {len(found.folds)} folds",
        Basis.UNSEEN: f"on {_markup.counted(found.n_bags, 'bag')}",
        Basis.SEEN: "on bags it may have seen",
    }
    return name, _markup.spread(values), where[found.basis]


def performance_section(quoted: Performance | None, itself: Performance | None, reason: str) -> Markup:
    """Tell how good the answers are.

    Parameters
    ----------
    quoted : Performance, optional
        What counts; None without labels.
    itself : Performance, optional
        Of the model itself on the same bags, where that is something else.
    reason : str
        Why there is no cross-validation, where there is none.
    """
    if quoted is None:
        nothing = "The bags carry no labels: nothing can be said about how good the answers are."
        return _markup.section("performance", "Performance", element("p", nothing))
    shown = [quoted] if itself is None else [quoted, itself]
    names = list(quoted.measures)
    rows = [[name, *(_markup.spread(each.measures[name]) for each in shown)] for name in names]
    heads = ["", *(_HEADS[each.basis] for each in shown)]
    title = "Mean ± standard deviation over folds" if len(quoted.folds) > 1 else "On all bags"
    return _markup.section(
        "performance",
        "Performance",
        element("p", _explained(quoted), class_="finding warning" if quoted.basis is Basis.SEEN else "finding"),
        element("p", reason) if reason else None,
        _markup.table(title, heads, rows),
        element("p", _optimistic(itself), class_="note") if itself is not None else None,
        element("div", _pictures(quoted), class_="side"),
    )


def _explained(found: Performance) -> str:
    folds, bags = len(found.folds), _markup.counted(found.n_bags, "bag")
    if found.basis is Basis.REFITTED:
        stratified = "stratified by class, " if found.classes is not None else ""
        return (
            f"Cross-validated on {bags} in n = {folds} folds ({stratified}shuffled): for each fold rules were learned "
            "anew with this model's settings from the other folds, and measured on bags that they had not seen. "
            f"± is the standard deviation over the {folds} folds."
        )
    varies = f" ± is the standard deviation over n = {folds} parts of these bags." if folds > 1 else ""
    if found.basis is Basis.UNSEEN:
        return f"Measured on {bags} with the rules as they are; they were not learned from these bags.{varies}"
    return (
        f"Measured on {bags} with the model as it is. If it was trained on these bags, these are training numbers, "
        f"and better than what is to be expected of new bags.{varies}"
    )


def _optimistic(itself: Performance) -> str:
    if itself.basis is Basis.UNSEEN:
        return "The last column is this model itself, on bags that it was not trained on."
    return (
        "The last column is this model itself on these same bags. If it was trained on them, those are training "
        "numbers: do not quote them."
    )


def _pictures(found: Performance) -> list[Markup]:
    where = {
        Basis.REFITTED: "on the folds left out",
        Basis.UNSEEN: "on these bags",
        Basis.SEEN: "on these bags, which the model may have been trained on",
    }[found.basis]
    if found.classes is None:
        return [
            _markup.figure(
                image(_figures.agreement(found, k), f"Predicted over true {name}"),
                f"Predicted over true {name} {where}; on the dotted line they agree.",
            )
            for k, name in enumerate(found.outputs)
        ]
    pictures = [_confusion(found, where)]
    if any(name.startswith("Area") for name in found.measures):
        of = f"class {_markup.told(found.classes[1])}" if len(found.classes) == 2 else "each class against the rest"
        band = "; the band is one standard deviation over the folds" if len(found.folds) > 1 else ""
        caption = f"ROC of {of} {where}{band}."
        pictures.append(_markup.figure(image(_figures.roc(found), caption), caption))
    return pictures


def _confusion(found: Performance, where: str) -> Markup:
    assert found.classes is not None
    counts = found.confusion
    rows = [
        [
            _markup.told(label),
            *(
                element("span", f"{n:,}", class_="right" if k == own else "wrong" if n else None)
                for k, n in enumerate(counts[own].tolist())
            ),
            _markup.percent(counts[own, own] / counts[own].sum()) if counts[own].any() else _markup.NOTHING,
        ]
        for own, label in enumerate(found.classes)
    ]
    heads = ["class", *(f"taken for {_markup.told(label)}" for label in found.classes), "found"]
    return _markup.table(f"Bags of each class, {where}", heads, rows)
