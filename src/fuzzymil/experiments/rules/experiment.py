"""Readable rules: the accuracy of short rules, the value of an expert's rules, and the instances they find.

The paper has no such study: it promises readable rules, but learns rules with up to 166 conditions.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.statistics import corrected_t_test
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS, CONCEPTS, load_musk1, make_two_concepts
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier, fit_together
from fuzzymil.experiments._experiment import Experiment, Options, Results, Unit, seeds_of
from fuzzymil.experiments._recipe import Recipe, evaluate, network_of, normalized_rules, scores_of, size_of
from fuzzymil.experiments._statistics import paired_difference
from fuzzymil.experiments.rules.report import DEFAULT, draw, section
from fuzzymil.experiments.synthetic import RADIUS
from fuzzymil.rules import Rule, RuleBase
from fuzzymil.rules.premise import parts_of, plain_conditions

__all__ = ["EXPERT", "RULES", "concepts_told", "features_of_positive_rules"]

LIMITS: tuple[int | None, ...] = (1, 2, 3, 5, 10, 20, None)  # maximum number of conditions per rule; None: all
QUICK_LIMITS: tuple[int | None, ...] = (2, None)
FOLDS = 10
WAYS = {"chosen": "auto", "searched": "search", "shortened": "kmeans"}  # how rules become short: the parameter `init`
N_NOISE, RELEVANT = 50, [0, 1]
N_SETS = {"padded": (10, 3), "ten bags": (20, 10), "plain": (10, 3)}  # number of datasets in a full and in a quick run
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
            MIANFISClassifier(max_conditions=limit or (n_features if init == "search" else None), init=init)
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
    same: dict[str, Any] = {"n_rules": rules.n_rules, "alpha": rules.alpha, "rule_keep_prob": None}
    return {
        TRAINED: Recipe(MIANFISClassifier(**same, init=rules)),
        WRITTEN: Recipe(MIANFISClassifier(**same, init=rules, max_epochs=0)),
        DROPPED: Recipe(MIANFISClassifier(**{**same, "rule_keep_prob": KEEP}, init=rules)),
        "random start": Recipe(MIANFISClassifier(**same, init="random")),
        "random start, best of 8": Recipe(MIANFISClassifier(**same, init="random", n_init=8)),
    }


def _instance_methods() -> dict[str, Recipe]:
    return {
        "MI-ANFIS, default": Recipe(MIANFISClassifier()),
        "MI-ANFIS, at most 2 conditions": Recipe(MIANFISClassifier(max_conditions=2)),
        "normalized rules": Recipe(normalized_rules()),
        "normalized rules, alpha 5": Recipe(normalized_rules(alpha=5.0)),
        "normalized rules, at most 2 conditions, alpha 5": Recipe(
            normalized_rules(init="search", max_conditions=2, alpha=5.0)
        ),
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
    lengths = [len(network.history_["rmse"]) for network in networks if "rmse" in network.history_]
    return {
        "measured": [_measured(model, test) for model, (_, test) in zip(models, sets, strict=True)],
        "stopped": sum(length < max(lengths) for length in lengths),  # diverged
        "rules": networks[0].rules_.to_dict(),
        "initial": networks[0].initial_rules_.to_dict(),
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
