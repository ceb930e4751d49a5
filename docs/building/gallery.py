"""Redraw the pictures of the gallery: ``PYTHONPATH=. python docs/building/gallery.py [NAME ...]``.

Each is drawn from what the examples of its page define, so it cannot show other data or another model.
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from figures import page, save, save_pixels
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgb
from matplotlib.patches import FancyBboxPatch, Rectangle

from fuzzymil.plots import SpaceDisplay, SurfaceDisplay
from fuzzymil.plots.style import HIGH, LOW, WITNESS

KINDS = ("stroma", "glands", "fat", "inflammation", "tumor")
TISSUES = ListedColormap(["#f3dfe3", "#c9a3c7", "#f6eec0", "#8d9fd0", "#7a1f4b"])
STAIN = np.array([0.80, 0.66, 0.78])  # pink, and what each component adds to it: violet, yellow, blue
STAINS = np.array([[-0.35, -0.45, -0.15], [0.15, 0.30, -0.25], [-0.35, -0.05, 0.20]])
QUIET = "#d5d5d5"
HEAT = LinearSegmentedColormap.from_list("heat", ["#f1f1f1", "#fbd9a5", HIGH])


def mosaic(made: dict[str, Any], name: str, values: np.ndarray) -> np.ndarray:
    """Lay out the values of the patches (n,) or (n, colors) of one slide by their positions; NaN where no tissue is."""
    rows = made["patches"][made["patches"]["slide"] == name]
    laid = np.full((9, 9, *values.shape[1:]), np.nan)
    laid[rows["y"], rows["x"]] = values
    return laid


def chances(made: dict[str, Any], name: str) -> np.ndarray:
    """Return the probability of each patch of a test slide, as if it were a slide of its own."""
    rows = made["patches"]["slide"].to_numpy()[made["train"].n_instances :] == name
    return 1 / (1 + np.exp(-made["score"][rows]))


def witness(made: dict[str, Any], name: str) -> tuple[int, int]:
    """Return column and row of the patch that decided."""
    found = made["rules"].explain(made["seen"], bag=name).rules[0].witness
    row = made["patches"][made["patches"]["slide"] == name].iloc[found]
    return int(row["x"]), int(row["y"])


def frame_witness(axis: Any, place: tuple[int, int]) -> None:
    """Frame a patch."""
    x, y = place
    axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=WITNESS, linewidth=2.5))


def slides() -> None:
    """Draw what the patches of two slides are, and how probable the rule finds a tumor in each."""
    made = page("tutorials/slides.md")
    figure, axes = plt.subplots(1, 4, figsize=(9.4, 2.9), layout="constrained")
    for (truth, heat), name in zip(axes.reshape(2, 2), ("S61", "S60"), strict=True):
        kinds = made["patches"].loc[made["patches"]["slide"] == name, "kind"].to_numpy(float)
        drawn = truth.imshow(mosaic(made, name, kinds), cmap=TISSUES, vmin=-0.5, vmax=4.5)
        shown = heat.imshow(mosaic(made, name, chances(made, name)), cmap=HEAT, vmin=0, vmax=1)
        says = made["model"].predict_proba(made["bags"][[int(name[1:])]])[0, 1]
        truth.set_title(f"{name}: what the patches are", fontsize=10)
        heat.set_title(f"the rule: tumor {says:.0%}", fontsize=10)
        if says > 0.5:
            frame_witness(heat, witness(made, name))
    for axis in axes:
        axis.set_axis_off()
    bar = figure.colorbar(drawn, ax=axes[:3], location="bottom", shrink=0.6, aspect=40, ticks=range(5), pad=0.02)
    bar.set_ticklabels(KINDS)
    figure.colorbar(shown, ax=axes[3], location="bottom", shrink=0.9, aspect=18, pad=0.02, label="tumor, by patch")
    save(figure, "slides-witnesses")


def maintenance() -> None:
    """Draw the alarms of one machine, with the days that satisfy the rule and where its set begins."""
    made = page("tutorials/maintenance.md")
    chosen = made["test"].ids[made["fails"] & made["three"]][0]
    days = made["table"][made["table"]["machine"] == chosen]
    limit = made["model"].rules_.variables[0].terms["high"].center
    (rule,) = made["model"].explain(made["test"], bag=chosen).rules
    decisive = [found.instance for found in rule.parts[0].witnesses]
    colors = [HIGH if place in decisive else QUIET for place in range(30)]
    figure, axis = plt.subplots(figsize=(7.5, 2.6), layout="constrained")
    axis.bar(np.arange(1, 31), days["alarms"], color=colors, edgecolor="0.5", linewidth=0.4)
    axis.axhline(limit, color="0.4", linewidth=1, linestyle=":")
    axis.text(30.7, limit + 0.2, f"high: above {limit:.0f}", ha="right", va="bottom", fontsize=9, color="0.3")
    axis.set(xlabel="day of the month", ylabel="alarms", xlim=(0.3, 30.7), xticks=[1, 5, 10, 15, 20, 25, 30])
    axis.set_title(f"Machine {chosen}: IF AT LEAST 3 alarms is high THEN it fails", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
    save(figure, "maintenance-days")


def conformers() -> None:
    """Draw the conformers in the plane of the two distances, with the region of the rule."""
    made = page("tutorials/conformers.md")
    shown = SpaceDisplay.from_model(made["model"], made["test"], bag=91, features=["donor_acceptor", "donor_ring"])
    save(shown.plot(), "conformers-space")


def controllers() -> None:
    """Draw the speed of the fan over both readings."""
    save_pixels(SurfaceDisplay.from_rules(page("tutorials/controllers.md")["fan"]).plot(), "controllers-surface")


def hero() -> None:
    """Draw the picture that opens the README and the site: labeled slides, the rule, and the patch that decided."""
    made = page("tutorials/slides.md")
    figure = plt.figure(figsize=(11, 3.5))
    grid = figure.add_gridspec(1, 3, width_ratios=(1.15, 1.35, 0.95), left=0.01, right=0.99, top=0.8, bottom=0.03)
    components = made["model"][:-1].transform(made["bags"])
    low, high = np.percentile(components.instances[:, :3], (2, 98), axis=0)
    places = np.clip((components.instances[:, :3] - low) / (high - low), 0, 1) - 0.5
    tints = np.clip(STAIN + places @ STAINS, 0, 1)

    def tinted(axis: Any, number: int) -> None:
        rows = slice(*components.offsets[number : number + 2])
        axis.imshow(mosaic(made, f"S{number:02}", tints[rows]))
        axis.set_axis_off()

    small = grid[0].subgridspec(2, 3, wspace=0.06, hspace=0.34)
    for place, number in enumerate((1, 2, 5, 4, 9, 8)):
        axis = figure.add_subplot(small[divmod(place, 3)])
        tinted(axis, number)
        label = str(made["bags"].labels[number])
        axis.set_title(label, fontsize=10.5, color=HIGH if label == "tumor" else LOW, pad=3)

    card = figure.add_subplot(grid[1])
    card.set(xlim=(0, 1), ylim=(0, 1))
    card.set_axis_off()
    card.add_patch(FancyBboxPatch((0.09, 0.2), 0.82, 0.56, "round,pad=0.03", facecolor="#fafafc", edgecolor="0.75"))
    first, rule = made["named"].to_text(digits=1).strip().splitlines()
    premise, conclusion = rule.partition(": ")[2].split(" THEN ")
    for y, line in ((0.66, first), (0.47, premise), (0.33, f"  THEN {conclusion}")):
        card.text(0.13, y, line, family="monospace", fontsize=12.5, va="center", weight="bold" if y < 0.6 else None)

    axis = figure.add_subplot(grid[2])
    tinted(axis, 61)
    heat = mosaic(made, "S61", chances(made, "S61"))
    covering = np.concatenate([np.broadcast_to(to_rgb(HIGH), (*heat.shape, 3)), np.nan_to_num(heat)[..., None]], axis=2)
    axis.imshow(covering)
    frame_witness(axis, witness(made, "S61"))
    says = made["model"].predict_proba(made["bags"][[61]])[0, 1]
    for x, text in ((0.17, "One label for each slide …"), (0.52, "… becomes a rule you can read …")):
        figure.text(x, 0.93, text, ha="center", fontsize=13)
    figure.text(0.855, 0.93, f"… that shows where: tumor {says:.0%}", ha="center", fontsize=13)
    save(figure, "hero")


EACH = (slides, maintenance, conformers, controllers, hero)
DRAW = {draw.__name__: draw for draw in EACH}

if __name__ == "__main__":
    mpl.use("Agg")  # no window
    for name in sys.argv[1:] or DRAW:
        DRAW[name]()
