"""Readable rules: the accuracy of short rules, the value of an expert's rules, and the instances they find.

The paper has no such study: it promises readable rules, but learns rules with up to 166 conditions.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil import RuleClassifier, Training
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.statistics import corrected_t_test
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS, CONCEPTS, load_musk1, make_two_concepts
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier, fit_together
from fuzzymil.plots import MembershipDisplay, save_figure
from fuzzymil.rules import Rule, RuleBase
from fuzzymil.rules.premise import parts_of, plain_conditions
from paper.experiment import Experiment, Options, Results, Unit, seeds_of
from paper.figures import Line, PathDisplay, PathPanel, ScoresDisplay, add_marks
from paper.page import Block, Figure, Section, Table, Text, difference, joined, p_value, plural, quoted, verdict
from paper.published import PRINTED
from paper.recipe import Recipe, evaluate, network_of, normalized_rules, scores_of, size_of
from paper.statistics import paired_difference
from paper.synthetic import RADIUS

# Short rules, an expert's rules and instance scores in tables, figures and sentences.


WAYS_SAID = {
    "chosen": "chosen from candidates",
    "searched": "searched before training",
    "shortened": "trained long, then shortened",
}
DEFAULT = "chosen"  # without a limit, this is RuleClassifier, which the others are compared with
MUSK = PRINTED["musk1"].title
_NO_BREAK = "\u00a0"


def _titles(results: Results) -> dict[str, str]:
    """Return the titles of the datasets used."""
    padded = f"Two concepts and {results['settings']['n_noise']} noise features"
    return {name: {"musk1": MUSK, "padded": padded}[name] for name in results["paths"]}


# ---------------------------------------------------------------------- figures


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    commoner = results["settings"]["commoner_class"]
    panels = {title: _panel(results["paths"][name], commoner[name]) for name, title in _titles(results).items()}
    note = "bands: one standard deviation over repeats or datasets"
    display = PathDisplay(panels, "maximum number of conditions per rule", "accuracy in percent", note)
    save_figure(display.plot("The cost of short rules"), folder / "path.png")
    expert = results["expert"]
    scores = {name: (100 * m["mean"], 100 * m["deviation"]) for name, m in expert["methods"].items()}
    few = ScoresDisplay({"ten training bags": scores}, "accuracy in percent")
    save_figure(few.plot("The value of an expert's rules"), folder / "expert.png")
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(trained.feature_names)}
    sets = MembershipDisplay.from_rules(trained, written)
    figure = sets.plot("The expert's fuzzy sets, before and after training on ten bags")
    save_figure(add_marks(figure, sets.features, marks), folder / "sets.png")


def _panel(path: Results, commoner: float) -> PathPanel:
    limits = [entry["max_conditions"] for entry in next(iter(path.values()))]
    lines = []
    for way, entries in path.items():
        means = 100 * np.array([entry["mean"] for entry in entries])
        around = [entry["deviation"] for entry in entries]
        known = None not in around
        band = means[:, None] + 100 * np.outer(around, [-1, 1]) if known else None
        lines.append(Line(WAYS_SAID[way], means, band))
    lines.append(Line("majority class", np.full(len(limits), 100 * commoner)))
    return PathPanel(limits, [*map(str, limits[:-1]), f"all {limits[-1]}"], lines)


# ---------------------------------------------------------------------- short rules


def section(results: Results) -> Section:
    """Return the section of the page."""
    return Section(
        "rules", "Readable rules", [*_path_blocks(results), *_expert_blocks(results), *_instance_blocks(results)]
    )


def _path_blocks(results: Results) -> list[Block]:
    settings, titles = results["settings"], _titles(results)
    n_sets = len(settings["seeds"]["padded"])
    musk = (
        f"{MUSK}: {settings['n_folds']}-fold stratified cross-validation, {plural(settings['n_repeats'], 'repeat')}, "
        "on the folds of the benchmark experiment. "
        if "musk1" in titles
        else f"{MUSK} is left out of a quick run. "
    )
    return [
        Text(
            "A rule with a condition on each of 166 features explains nothing. There are three ways to get short "
            "rules, each with max_conditions: RuleClassifier chooses additive rules from a dictionary of candidates; "
            "MI-ANFIS with init=“search” searches for short normalized rules and then trains them; with another "
            "initialization (here init=“kmeans”) it trains long normalized rules and removes the least useful "
            f"conditions step by step. {musk}Two concepts: {n_sets} datasets of 150 training bags and 500 test bags, "
            f"the plane padded with {settings['n_noise']} noise features (uniform over the range of the others). All "
            "other parameters have their defaults; rules chosen without a limit are RuleClassifier itself."
        ),
        Figure("path", "Accuracy on test bags by maximum number of conditions per rule (logarithmic)."),
        *[_path_table(results, name) for name in titles],
        *[Text(_path_finding(results, name, way), finding=True) for name in titles for way in results["paths"][name]],
        *[Text(_features_finding(way, path, n_sets), finding=True) for way, path in results["paths"]["padded"].items()],
        *[_shown_table(each) for each in results["shown"]],
    ]


def _path_table(results: Results, name: str) -> Table:
    padded = name == "padded"
    rows = []
    for way, entries in results["paths"][name].items():
        for entry in entries:
            rows.append(
                [
                    f"{way}, {'all' if entry is entries[-1] else entry['max_conditions']}".replace(" ", _NO_BREAK),
                    _percent(entry),
                    f"{entry['n_rules']:.1f}",
                    f"{entry['n_conditions']:.1f}",
                    *_tested(entry["against_default"], digits=1, scale=100),
                    *([f"{entry['both_told']}", f"{entry['exactly']}"] if padded else []),
                    *([f"{entry['noise_features']:.1f}", f"{entry['instance_auc']:.3f}"] if padded else []),
                ]
            )
    extra = ["both found", "only the two", "noise", "instance AUC"] if padded else []
    n_sets = len(results["settings"]["seeds"]["padded"])
    note = (
        "Rules and conditions: mean numbers per rule base. Difference from RuleClassifier in percentage points, with "
    )
    if padded:
        note += (
            f"Wilcoxon's signed-rank test over {n_sets} datasets. Both found: of {n_sets} datasets, those in which "
            "each concept has a positive rule that asks one instance about the two features of the plane alone and has "
            "its center inside the concept; a rule is positive if it concludes 0.5 or more or, as an additive rule, "
            "adds to the output. Only the two: those in which all positive rules together use exactly these two "
            "features. Noise: the mean number of noise features they use."
        )
    else:
        note += "Nadeau and Bengio's corrected resampled t-test over all folds and repeats."
    stopped = sum(entry["stopped"] for entries in results["paths"][name].values() for entry in entries)
    note += f" Trainings that diverged and were stopped: {stopped}." if stopped else ""
    return Table(
        _titles(results)[name],
        ["rules, conditions per rule", "accuracy in %", "rules", "conditions", "difference (95%)", "p", *extra],
        rows,
        f"{note} Intervals and p-values are not corrected for multiple comparisons. A difference is called clear if "
        "its interval excludes 0.",
    )


def _path_finding(results: Results, name: str, way: str) -> str:
    """Name the limits with clearly lower, similar and clearly higher accuracy."""
    groups: dict[int, list[str]] = {-1: [], 0: [], 1: []}
    path = results["paths"][name]
    for entry in path[way]:
        if (test := entry["against_default"]) is not None:
            groups[verdict(test)].append(f"{_limit(entry, path[way])} ({entry['mean']:.1%})")
    default = path[DEFAULT][-1]
    names = {-1: "clearly lower", 0: "not clearly different", 1: "clearly higher"}
    words = "; ".join(f"{names[sign]} with {joined(limits)}" for sign, limits in groups.items() if limits)
    return (
        f"{_titles(results)[name]}, rules {WAYS_SAID[way]}: compared with RuleClassifier, which reaches "
        f"{default['mean']:.1%} with {default['n_conditions']:.0f} conditions (majority class: "
        f"{results['settings']['commoner_class'][name]:.1%}), accuracy by maximum number of conditions per rule is "
        f"{words}."
    )


def _features_finding(way: str, path: list[Results], n_sets: int) -> str:
    return (
        f"Padded data, {n_sets} datasets, rules {WAYS_SAID[way]}: both concepts are found by their two features alone "
        f"in {_counted('both_told', path)}. All positive rules together use exactly these two in "
        f"{_counted('exactly', path)}."
    )


def _counted(name: str, path: list[Results]) -> str:
    """Return each count with the limits that have it, the highest count first."""
    limits: dict[int, list[str]] = {}
    for entry in path:
        limits.setdefault(entry[name], []).append(_limit(entry, path))
    return "; ".join(f"{count} (with at most {joined(limits[count])})" for count in sorted(limits, reverse=True))


def _shown_table(shown: Results) -> Table:
    rules = RuleBase.from_dict(shown["rules"])
    lines = [line.partition(": ")[::2] for line in rules.to_text(digits=3).split("\n")]
    return Table(
        f"Rules for the first padded dataset, {WAYS_SAID[shown['way']]}, at most {shown['max_conditions']} conditions",
        ["", "rule"],
        [[label, text.removeprefix("IF ")] for label, text in lines],
        f"Sets: {rules.describe_terms(digits=3).replace(chr(10), '; ')}. The concepts are at "
        + " and ".join(f"({a:g}, {b:g})" for a, b in CONCEPTS)
        + " in x1 and x2.",
        prose=True,
    )


def _premise(rules: RuleBase, r: int) -> str:
    conditions = [
        f"{name} ≈ {rules.centers[r, d]:.2f} ± {rules.widths[r, d]:.2f}".replace(" ", _NO_BREAK)
        for d, name in enumerate(rules.feature_names)
        if not np.isnan(rules.centers[r, d])
    ]
    return " AND ".join(conditions) or "anything"


def _conclusion(rules: RuleBase, r: int) -> str:
    weight = rules.rules[r].weight
    return f"{rules.output_names[0]} = {rules.coefs[r, 0, 0]:.2f}" + (f" WITH {weight:g}" if weight != 1 else "")


# ---------------------------------------------------------------------- an expert's rules


def _expert_blocks(results: Results) -> list[Block]:
    expert = results["expert"]
    n_sets = len(results["settings"]["seeds"]["ten bags"])
    first = expert["first"]
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    rows = [
        [name, _percent(method), *_tested(expert["first_minus"].get(name), digits=1, scale=100)]
        for name, method in expert["methods"].items()
    ]
    return [
        Text(
            f"What is an expert worth if there are only ten bags? {n_sets} datasets with five positive and five "
            "negative training bags, and 500 test bags, half of them positive. The expert writes two rules near the "
            "concepts, each set off by 0.15 and more than twice as wide as it should be, and a rule for everything "
            f"else. Random starts have the same number of rules ({written.n_rules}), the same alpha "
            f"({written.alpha:g}) and the same training. Rule Dropout is off, as it is by default for given rules, "
            f"except in the row that shows its effect (keep probability {results['settings']['keep_prob']:g})."
        ),
        Table(
            f"Accuracy on test bags after training on ten bags, {n_sets} datasets",
            ["start", "accuracy in %", f"{first}, minus this (95%)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over datasets; differences are paired.",
        ),
        Text(_expert_finding(expert), finding=True),
        Figure("expert", "Mean accuracy and standard deviation over datasets."),
        Table(
            "The expert's rules, as written and after training on ten bags (first dataset)",
            ["rule", "as written: IF", "THEN", "trained: IF", "THEN"],
            [
                [str(r + 1), *(words(rules, r) for rules in (written, trained) for words in (_premise, _conclusion))]
                for r in range(written.n_rules)
            ],
        ),
        Figure("sets", "The same rules as fuzzy sets; dashed: as written. Lines mark the centers of the concepts."),
    ]


def _expert_finding(expert: Results) -> str:
    first = expert["methods"][expert["first"]]
    names = {-1: "worse than", 0: "not clearly different from", 1: "better than"}
    words = [
        f"{names[verdict(test)]} “{name}” "
        f"({expert['methods'][name]['mean']:.1%}; {100 * test['mean']:+.1f} points, {p_value(test['p'], name='p')})"
        for name, test in expert["first_minus"].items()
    ]
    return (
        f"With ten training bags, “{expert['first']}” reaches a mean accuracy of {first['mean']:.1%} over "
        f"{len(first['values'])} datasets: {'; '.join(words)}."
    )


# ---------------------------------------------------------------------- instances


def _instance_blocks(results: Results) -> list[Block]:
    instances = results["instances"]
    n_sets = len(results["settings"]["seeds"]["plain"])
    first = instances["first"]
    rows = [
        [name, f"{method['mean']:.3f} ± {method['deviation']:.3f}", *_tested(_minus(instances, name), digits=3)]
        for name, method in instances["methods"].items()
    ]
    means = {name: f"{method['mean']:.3f}" for name, method in instances["methods"].items()}
    best = [name for name, mean in means.items() if mean == max(means.values())]
    return [
        Text(
            "It is known here which points of a bag lie in a concept, but the training did not use it. How well do the "
            "scores of single instances (instance_scores) find these points? The two-concept data without noise "
            f"features, {n_sets} datasets, instances of 500 test bags."
        ),
        Table(
            "Area under the ROC curve of instances",
            ["method", "AUC", f"minus {first} (95%)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over datasets; differences are paired.",
        ),
        Text(
            f"“{first}” separates instances with an AUC of {means[first]}, Naive-ANFIS with {means['Naive-ANFIS']}. "
            f"The highest AUC, {max(means.values())}, is that of {quoted(best)}.",
            finding=True,
        ),
    ]


def _minus(methods: Results, name: str) -> Results | None:
    """Return the difference of a method from the first one."""
    test = methods["first_minus"].get(name)
    return None if test is None else {**test, "mean": -test["mean"], "low": -test["high"], "high": -test["low"]}


# ---------------------------------------------------------------------- cells


def _percent(entry: Results) -> str:
    deviation = entry["deviation"]
    return f"{100 * entry['mean']:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def _tested(test: Results | None, digits: int, scale: float = 1.0) -> list[str]:
    """Return the cells of a difference and its p-value, empty for the method that the others are compared with."""
    return ["", ""] if test is None else [difference(test, digits, scale), p_value(test["p"])]


def _limit(entry: Results, path: list[Results]) -> str:
    return f"all {entry['max_conditions']}" if entry is path[-1] else str(entry["max_conditions"])


LIMITS: tuple[int | None, ...] = (1, 2, 3, 5, 10, 20, None)  # maximum number of conditions per rule; None: all
QUICK_LIMITS: tuple[int | None, ...] = (2, None)
FOLDS = 10
WAYS = {"chosen": None, "searched": "search", "shortened": "kmeans"}  # how rules become short: a network's ``init``
N_NOISE, RELEVANT = 50, [0, 1]
N_SETS = {"padded": (10, 2), "ten bags": (20, 2), "plain": (10, 2)}  # number of datasets in a full and in a quick run
# Training and test bags: (per concept, negative). Of the eleven training bags for "ten bags", one is left out.
N_BAGS = {"padded": ((50, 50), (167, 166)), "ten bags": ((3, 5), (125, 250)), "plain": ((50, 50), (167, 166))}
SHOWN = (("chosen", 2), ("searched", 2))  # the rules printed in the report

EXPERT = """
VARIABLE x1 FROM 0 TO 2: low = Gaussian(0.65, 0.25), high = Gaussian(1.35, 0.25)
VARIABLE x2 FROM 0 TO 2: low = Gaussian(0.35, 0.25), high = Gaussian(1.65, 0.25)
USING alpha = 5
IF x1 is low AND x2 is low THEN y = 1
IF x1 is high AND x2 is high THEN y = 1
IF anything THEN y = 0 WITH 0.3
"""
_COSTS = {"chosen": 0.3, "searched": 1.0, "shortened": 0.6}  # seconds per fold, to plan the order of the work
KEEP = 0.7  # keep probability in the one row that shows the effect of Rule Dropout on so few rules
TRAINED, WRITTEN, DROPPED = "expert's rules, trained", "expert's rules, as written", "expert's rules, Rule Dropout"


def features_of_positive_rules(rules: RuleBase) -> list[int]:
    """Return the features used by rules that speak for the positive class.

    These are rules that conclude at least 0.5 or, if conclusions are added up, add something to the output.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ...     VARIABLE hue: blue = Gaussian(0.6, 0.1)    VARIABLE size: small = Gaussian(0, 1)
    ...     IF hue is blue THEN sky = 1                IF size is small THEN sky = 0''')
    >>> features_of_positive_rules(rules)
    [0]
    """
    place = {name: d for d, name in enumerate(rules.feature_names)}
    return sorted({place[condition.variable] for rule in _positive(rules) for condition in rule.conditions})


def _positive(rules: RuleBase) -> list[Rule]:
    if rules.normalize:
        return [rule for rule in rules.rules if rule.coefs[0][0] >= 0.5]
    return [rule for rule in rules.rules if rule.coefs[0][0] > 0]


def concepts_told(rules: RuleBase) -> list[bool]:
    """Return for each concept whether a positive rule finds it: by its two features, in one instance, and no others.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ...     VARIABLE x1: low = Gaussian(0.5, 0.1), high = Gaussian(1.5, 0.1)
    ...     VARIABLE x2: low = Gaussian(0.6, 0.1), high = Gaussian(1.4, 0.1)
    ...     VARIABLE x3: high = Gaussian(1.8, 0.1)
    ...     IF x1 is low AND x2 is low THEN y = 1
    ...     IF x1 is high AND x2 is high AND x3 is high THEN y = 1''')
    >>> concepts_told(rules)
    [True, False]
    """
    centers = [center for rule in _positive(rules) if (center := _center(rules, rule)) is not None]
    return [any(bool(np.linalg.norm(center - concept) <= RADIUS) for center in centers) for concept in CONCEPTS]


def _center(rules: RuleBase, rule: Rule) -> Array | None:
    """Return where in the plane a rule looks for an instance, (2,), or None if it asks for something else."""
    part, *others = parts_of(0, rule.premise)
    asked = None if others or part.quantifier not in (None, "some") else plain_conditions(part.premise)
    plane = [rules.variables[d] for d in RELEVANT]
    if asked is None or set(asked) != {variable.name for variable in plane}:
        return None
    sets = [variable.terms[asked[variable.name]] for variable in plane]
    return np.array([float(chosen.peak(*chosen.parameters)) for chosen in sets])


# ---------------------------------------------------------------------- data


def _two_concepts(kind: str, seed: int) -> tuple[Bags, Bags]:
    """Return the training bags and 500 test bags."""
    *seeds, noise, more_noise = seeds_of(4, seed, kind)
    train, test = (
        make_two_concepts(*n, sigma=RADIUS, random_state=own) for n, own in zip(N_BAGS[kind], seeds, strict=True)
    )
    if kind == "ten bags":
        train = train[np.delete(np.arange(len(train)), 5)]  # keeps three bags of concept 1 and two of concept 2
    return (_padded(train, noise), _padded(test, more_noise)) if kind == "padded" else (train, test)


def _padded(bags: Bags, seed: int) -> Bags:
    """Add noise features, uniform over the range of the plane."""
    noise = np.random.RandomState(seed).uniform(0, 2, size=(bags.n_instances, N_NOISE))
    return bags.map_instances(lambda x: np.column_stack([x, noise]))


# ---------------------------------------------------------------------- models


def _path(options: Options, n_features: int) -> dict[tuple[str, int], Recipe]:
    """Return the recipes by way and maximum number of conditions."""
    return {
        # A search has no default limit.
        (way, limit or n_features): Recipe(
            RuleClassifier(max_conditions=limit)
            if init is None
            else MIANFISClassifier(max_conditions=limit or (n_features if init == "search" else None), init=init)
        )
        for way, init in WAYS.items()
        for limit in (QUICK_LIMITS if options.quick else LIMITS)
    }


def _musk_path(options: Options) -> dict[tuple[str, int], Recipe]:
    """Return the recipes for MUSK 1, which a quick run leaves out."""
    return {} if options.quick else _path(options, BENCHMARKS["musk1"].n_features)


def _starts() -> dict[str, Recipe]:
    rules = RuleBase.parse(EXPERT)
    # By default, random starts with few bags use Rule Dropout, which would drop one of only three rules at a time.
    start: dict[str, Any] = {"n_rules": rules.n_rules, "alpha": rules.alpha}
    plain = Training(rule_keep_prob=None)
    return {
        TRAINED: Recipe(MIANFISClassifier(init=rules, training=plain)),
        WRITTEN: Recipe(MIANFISClassifier(init=rules, training=Training(rule_keep_prob=None, max_epochs=0))),
        DROPPED: Recipe(MIANFISClassifier(init=rules, training=Training(rule_keep_prob=KEEP))),
        "random start": Recipe(MIANFISClassifier(**start, init="random", training=plain)),
        "random start, best of 8": Recipe(
            MIANFISClassifier(**start, init="random", training=Training(rule_keep_prob=None, n_init=8))
        ),
    }


def _instance_methods() -> dict[str, Recipe]:
    return {
        "RuleClassifier": Recipe(RuleClassifier()),
        "RuleClassifier, at most 2 conditions": Recipe(RuleClassifier(max_conditions=2)),
        "MI-ANFIS": Recipe(normalized_rules()),
        "MI-ANFIS, alpha 5": Recipe(normalized_rules(alpha=5.0)),
        "MI-ANFIS, at most 2 conditions, alpha 5": Recipe(normalized_rules(init="search", max_conditions=2, alpha=5.0)),
        "Naive-ANFIS": Recipe(ANFISClassifier(), naive=True),
    }


def _studies(options: Options) -> dict[str, dict[Any, Recipe]]:
    """Return the recipes for each kind of two-concept data."""
    padded: dict[Any, Recipe] = dict(_path(options, len(RELEVANT) + N_NOISE))
    return {"padded": padded, "ten bags": dict(_starts()), "plain": dict(_instance_methods())}


# ---------------------------------------------------------------------- work


def _n_repeats(options: Options) -> int:
    return options.repeats or 5


def _seeds(options: Options, kind: str) -> list[int]:
    full, quick = N_SETS[kind]
    return seeds_of(quick if options.quick else full, options.seed, "rules", kind)


def _check(options: Options) -> None:
    if not options.quick:
        load_musk1(options.data)


def _measured(model: Any, test: Bags) -> Results:
    inside, network = np.asarray(test.instance_labels) > 0, network_of(model)
    return {
        "accuracy": float(np.mean((scores_of(model, test) > 0) == test.labels)),
        "instance_auc": float(roc_auc_score(inside, network.instance_scores(test))),
        "features": features_of_positive_rules(network.rules_),
        "told": concepts_told(network.rules_),
        **size_of(model),
    }


def _learn(kind: str, recipe: Recipe, seeds: list[int]) -> Results:
    sets = [_two_concepts(kind, seed) for seed in seeds]
    models = fit_together([recipe.model(random_state=seed) for seed in seeds], [train for train, _ in sets])
    networks = [network_of(model) for model in models]
    # Chosen rules have no curve of training.
    lengths = [len(network.history_["rmse"]) for network in networks if hasattr(network, "history_")]
    return {
        "measured": [_measured(model, test) for model, (_, test) in zip(models, sets, strict=True)],
        "stopped": sum(length < max(lengths) for length in lengths),  # diverged
        "rules": networks[0].rules_.to_dict(),
        # Chosen rules have no start, either.
        **({"initial": networks[0].initial_rules_.to_dict()} if lengths else {}),
    }


def _units(options: Options) -> list[Unit]:
    return [*_musk_units(options), *_two_concept_units(options)]


def _musk_units(options: Options) -> list[Unit]:
    if options.quick:
        return []
    units = []
    bags = load_musk1(options.data)
    for (way, limit), recipe in _musk_path(options).items():
        for repeat in range(_n_repeats(options)):
            # The folds of the benchmark experiment, whose default is the end of this path.
            seeds = seeds_of(FOLDS + 1, options.seed + repeat, "musk1")

            def work(recipe: Recipe = recipe, seeds: list[int] = seeds) -> Results:
                return evaluate(recipe, bags, np.asarray(bags.labels), FOLDS, seeds)

            settings = {
                "experiment": "rules",
                "data": BENCHMARKS["musk1"].content_checksum,
                "recipe": recipe.settings(),
                "n_folds": FOLDS,
                "seeds": seeds,
            }
            label = f"MUSK 1, {way}, at most {limit}, repeat {repeat + 1}"
            units.append(Unit(label, settings, FOLDS * _COSTS[way], work))
    return units


def _two_concept_units(options: Options) -> list[Unit]:
    units = []
    for kind, recipes in _studies(options).items():
        seeds = _seeds(options, kind)
        for name, recipe in recipes.items():

            def work(kind: str = kind, recipe: Recipe = recipe, seeds: list[int] = seeds) -> Results:
                return _learn(kind, recipe, seeds)

            settings = {
                "experiment": "rules",
                "data": {"kind": kind, "radius": RADIUS, "noise": N_NOISE, "bags": N_BAGS[kind]},
                "recipe": recipe.settings(),
                "seeds": seeds,
            }
            label = f"{kind}, {name if isinstance(name, str) else f'{name[0]}, at most {name[1]}'}"
            units.append(Unit(label, settings, len(seeds) * (1.5 if kind == "padded" else 0.3), work))
    return units


# ---------------------------------------------------------------------- numbers


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    n_repeats = _n_repeats(options)
    musk: Results = {}
    for way, limit in _musk_path(options):
        musk.setdefault(way, []).append(_cross_validated(limit, [next(rest) for _ in range(n_repeats)]))
    own = {kind: {name: next(rest) for name in recipes} for kind, recipes in _studies(options).items()}
    padded: Results = {}
    for (way, limit), part in own["padded"].items():
        padded.setdefault(way, []).append(_on_padded(limit, part["measured"], part["stopped"]))
    paths = {name: path for name, path in {"musk1": musk, "padded": padded}.items() if path}
    for name, path in paths.items():
        _compare(path, folds=name == "musk1")
    shown = [(way, limit) for way, limit in SHOWN if (way, limit) in own["padded"]]
    return {
        "settings": {
            "n_folds": FOLDS,
            "n_repeats": n_repeats,
            "n_noise": N_NOISE,
            "commoner_class": _commoner_class(),
            "radius": RADIUS,
            "seeds": {kind: _seeds(options, kind) for kind in own},
            "expert": EXPERT,
            "keep_prob": KEEP,
        },
        "paths": paths,
        "shown": [{"way": key[0], "max_conditions": key[1], "rules": own["padded"][key]["rules"]} for key in shown],
        "expert": {
            **_methods(own["ten bags"], "accuracy", TRAINED),
            "written": own["ten bags"][TRAINED]["initial"],
            "trained": own["ten bags"][TRAINED]["rules"],
        },
        "instances": _methods(own["plain"], "instance_auc", next(iter(own["plain"]))),
    }


def _cross_validated(limit: int, runs: list[Results]) -> Results:
    accuracy = np.array([run["accuracy"] for run in runs])
    sizes = [size for run in runs for size in run["sizes"]]
    return {
        "max_conditions": limit,
        "values": accuracy.tolist(),
        **_mean_and_deviation(accuracy.mean(axis=1)),
        **_mean_sizes(sizes),
        "stopped": sum(run["stopped"] for run in runs),
    }


def _on_padded(limit: int, measured: list[Results], stopped: int) -> Results:
    noise = [len(set(one["features"]) - set(RELEVANT)) for one in measured]
    return {
        "max_conditions": limit,
        "values": [one["accuracy"] for one in measured],
        **_mean_and_deviation(np.array([one["accuracy"] for one in measured])),
        **_mean_sizes(measured),
        "instance_auc": float(np.mean([one["instance_auc"] for one in measured])),
        "exactly": sum(one["features"] == RELEVANT for one in measured),
        "noise_features": float(np.mean(noise)),
        "both_told": sum(all(one["told"]) for one in measured),
        "stopped": stopped,
    }


def _compare(path: Results, *, folds: bool) -> None:
    """Add to each entry its difference from the default, with the test that suits folds or separate datasets."""
    reference = np.array(path[DEFAULT][-1]["values"])
    for way, entries in path.items():
        for entry in entries:
            values = np.array(entry["values"])
            if way == DEFAULT and entry is entries[-1]:
                entry["against_default"] = None
            else:
                test = (
                    corrected_t_test(values - reference, 1 / (FOLDS - 1))
                    if folds
                    else paired_difference(values, reference)
                )
                entry["against_default"] = dataclasses.asdict(test)


def _methods(parts: dict[str, Results], measure: str, first: str) -> Results:
    """Summarize methods on the same datasets and compare each with ``first``."""
    values = {name: [one[measure] for one in part["measured"]] for name, part in parts.items()}
    return {
        "methods": {name: {"values": own, **_mean_and_deviation(np.array(own))} for name, own in values.items()},
        "first": first,
        "first_minus": {
            name: dataclasses.asdict(paired_difference(values[first], own))
            for name, own in values.items()
            if name != first
        },
    }


def _commoner_class() -> Results:
    """Return the accuracy of always predicting the majority class."""
    facts = BENCHMARKS["musk1"]
    per_concept, n_negative = N_BAGS["padded"][1]
    shares = {
        "musk1": facts.n_positive / facts.n_bags,
        "padded": 2 * per_concept / (2 * per_concept + n_negative),
    }
    return {name: max(share, 1 - share) for name, share in shares.items()}


def _mean_and_deviation(values: Array) -> Results:
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std(ddof=1)) if len(values) > 1 else None,
    }


def _mean_sizes(sizes: list[Results]) -> Results:
    return {name: float(np.mean([size[name] for size in sizes])) for name in ("n_rules", "n_conditions")}


RULES = Experiment("rules", _units, _collect, draw, section, _check)
