"""Redraw the figures of the pages: ``python docs/building/figures.py``.

The molecules need ``FUZZYMIL_DATA``, the digits PyTorch, and the notebook Playwright with a Chromium of the system.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from fuzzymil import Constraints, MIANFISClassifier, MIMamdani, RuleBase
from fuzzymil.datasets import load_musk1, make_two_concepts, read_bags
from fuzzymil.experiments._statistics import ranking
from fuzzymil.plots import (
    DifferenceDisplay,
    EffectDisplay,
    ExplanationDisplay,
    ImportanceDisplay,
    JoinedSetDisplay,
    MembershipDisplay,
    RanksDisplay,
    ShapesDisplay,
    SpaceDisplay,
)

DOCS = Path(__file__).parents[1]
FIGURES = DOCS / "figures"


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure whose file changes only if the picture does."""
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)
    print(f"Wrote {name}.svg")


def understanding() -> None:
    """Draw the model of the page on understanding rules."""
    bags = make_two_concepts(random_state=3)
    model = MIANFISClassifier(random_state=0).fit(bags[::2])
    save(MembershipDisplay.from_rules(model).plot(), "understanding-membership")
    save(ShapesDisplay.from_rules(model, bags=bags).plot(), "understanding-shapes")
    why = model.explain(bags, bag="concept1-2")
    save(ExplanationDisplay.from_explanation(why).plot(), "understanding-explanation")
    found = model.importance(bags[1::2])
    save(ImportanceDisplay.from_importance(found).plot(), "understanding-importance")
    save(EffectDisplay.from_model(model, bags).plot(), "understanding-effect")
    photograph([model, why, found], "understanding-notebook")


def photograph(shown: list[object], name: str) -> None:
    """Write a picture of what a notebook shows, on a light and on a dark page; needs Playwright and a Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    body = "<br>".join(each._repr_html_() for each in shown)
    looks = ("background: #fff; color: #1a1a1a", "background: #111; color: #ddd")
    columns = "".join(f"<div style='flex: 1; padding: 14px; {look}'>{body}</div>" for look in looks)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 400})
        page.set_content(f"<!DOCTYPE html><body style='margin: 0; display: flex'>{columns}")
        page.screenshot(path=FIGURES / f"{name}.png", full_page=True)
        browser.close()
    print(f"Wrote {name}.png")


def visits() -> None:
    """Draw the model of the tutorial on visits."""
    bags = read_bags(DOCS.parent / "examples" / "visits.csv", bag="user", label="converted")
    model = MIANFISClassifier(random_state=0).fit(bags)
    shown = SpaceDisplay.from_model(model, bags, bag="u007", features=["seconds_per_page", "pages"])
    save(shown.plot(), "visits-space")


def ward() -> None:
    """Draw the difference of the tutorial on a ward's rules, with the rules as the page has them."""
    page = (DOCS / "tutorials" / "ward.md").read_text("utf-8")
    text = "\n".join(line[4:] for line in page[page.index('text = """') : page.index('... """')].splitlines()[1:])
    bags = read_bags(DOCS.parent / "examples" / "ward.csv", bag="patient", label="outcome")
    limits = Constraints(conclusions=(0, 6), ordered=True, overlap=0.15, stay=0.01)
    model = MIANFISClassifier(init=text, constraints=limits, loss="cross_entropy", max_epochs=100, random_state=0)
    shown = DifferenceDisplay.from_rules(RuleBase.parse(text), model.fit(bags), bags)
    save(shown.plot(), "ward-difference")


def mamdani() -> None:
    """Draw the joined set and the trained sets of the page on Mamdani rules, with the rules as the page has them."""
    page = (DOCS / "mamdani.md").read_text("utf-8")
    text = "\n".join(line[4:] for line in page[page.index('text = """') : page.index('... """')].splitlines()[1:])
    bags = read_bags(DOCS.parent / "examples" / "ward.csv", bag="patient", label="outcome")
    expert = MIMamdani(rules=text, threshold=40).fit(bags)
    save(JoinedSetDisplay.from_rules(expert, bags, "p001").plot(), "mamdani-joined")
    limits = Constraints(ordered=True, overlap=0.15, stay=0.01)
    model = MIMamdani(rules=text, threshold=40, max_epochs=100, constraints=limits).fit(bags)
    save(MembershipDisplay.from_rules(model, model.initial_rules_).plot(), "mamdani-membership")


def molecules() -> None:
    """Draw the explanation of the tutorial on molecules."""
    bags = load_musk1()
    rest, held = train_test_split(np.arange(len(bags)), test_size=0.25, stratify=bags.labels, random_state=0)
    train, test = bags[rest], bags[held]
    short = MIANFISClassifier(n_rules=5, max_terms=3, random_state=0).fit(train)
    why = short.explain(test, bag=test.ids[test.labels == 1][0])
    save(ExplanationDisplay.from_explanation(why).plot(), "molecules-explanation")


def digits() -> None:
    """Draw the witnesses of the tutorial on digits; needs PyTorch."""
    example, drawn = DOCS.parent / "examples" / "torch_digits.py", FIGURES / "digits-witnesses.png"
    subprocess.run([sys.executable, str(example), "--output", str(drawn)], check=True)


def ranks() -> None:
    """Draw the average ranks of the methods in the table of the page that compares them."""
    rows = re.findall(
        r"^\| ([^|]+) \|((?: [\d.]+ ± [^|]+\|){5})", (DOCS / "comparison.md").read_text("utf-8"), re.MULTILINE
    )
    accuracy = {name: [float(cell) for cell in re.findall(r"([\d.]+) ±", cells)] for name, cells in rows}
    ranked = [name for name in accuracy if not name.startswith("MI-ANFIS,")]  # one variant of MI-ANFIS
    found = ranking(np.transpose([accuracy[name] for name in ranked]))
    note = "accuracy on 5 datasets; Nemenyi's test at 5%"
    by_name = dict(zip(ranked, found.ranks, strict=True))
    display = RanksDisplay(by_name, found.critical_difference, note, ["MI-ANFIS"])
    save(display.plot("All methods on the same folds"), "ranks")


if __name__ == "__main__":
    mpl.use("Agg")  # no window
    FIGURES.mkdir(exist_ok=True)
    ranks()
    understanding()
    visits()
    ward()
    mamdani()
    digits()
    molecules()
