"""Random fuzzy systems, with everything that a file format can hold."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from fuzzymil import RuleBase
from fuzzymil.inference.membership import FAMILIES, Discrete, Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.conclusion import Defuzzification
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files import fcl, fis, fll, fml
from fuzzymil.rules.premise import And, Expression, Is, Not, Or

_ORDERED = {"triangular", "trapezoidal", "rectangle", "s_shape", "z_shape", "pi_shape", "semi_ellipse"}
_APART = {"ramp", "concave", "arc", "semi_ellipse"}
_FORMULAS = ["1 - abs(x)", "exp(-x^2)", "max(0, sin(x))", "lt(x, 0.5)", "1/(1 + exp(-20*(x - 0.75)))", "x^2 * 0.25"]
_MONOTONE = ("ramp", "sigmoid", "s_shape", "z_shape", "concave", "arc")
_NAMES = ("a", "dV", "dV*", "élevé", "in 1", "if", "très haut (max)", "b", "Größe", "2nd")
_ACTIVATIONS = (
    *("general", "first 2 0.1", "last 1 0", "highest 2", "lowest 1", "proportional"),
    *(f"threshold {sign} 0.25" for sign in (">=", ">", "<=", "<", "==", "!=")),
)


@dataclasses.dataclass(frozen=True)
class Format:
    """What a format can hold; the defaults are everything that there is."""

    families: tuple[str, ...] = tuple(FAMILIES)
    t_norms: tuple[str, ...] = tuple(T_NORMS)
    s_norms: tuple[str, ...] = tuple(S_NORMS)
    accumulations: tuple[str, ...] = (*S_NORMS, "sum")
    monotone: tuple[str, ...] = _MONOTONE  # sets that stand for a number
    hedges: tuple[str, ...] = fll.HEDGES
    most_hedges: int = 2
    nested: bool = True  # AND within OR, NOT before parentheses, several conditions on one variable
    always: bool = True  # rules without conditions
    concluding_hedges: bool = True
    numbers: tuple[str, ...] = ("average", "sum")
    joins_numbers: bool = True  # by other S-norms than the sum
    computed: bool = True  # formulas of inputs
    mixed: bool = True  # outputs that are sets beside ones that are numbers
    per_output: bool = True  # other operators for every output
    limited: bool = True
    activations: tuple[str, ...] = _ACTIVATIONS
    clip: bool = True
    hold: bool = True
    default: bool = True  # of outputs that are sets
    only_numbers: bool = True  # outputs that are sets, but whose terms are all single numbers
    resolutions: tuple[tuple[str, int], ...] = (("cells", 50), ("points", 41), ("cells", 1000))


def _ours(words: dict[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words.values()))


_FLL_FAMILIES = tuple(entry.family.name for entry in sets.FLL.values())
_FML_FAMILIES = ("triangular", "trapezoidal", "rectangle", "gaussian", "s_shape", "z_shape", "ramp", "discrete")
FORMATS = {
    "rules": Format(),
    "json": Format(),
    "fll": Format(
        families=(*_FLL_FAMILIES, "singleton"),
        t_norms=_ours(fll.WORDS.t_norms),
        s_norms=_ours(fll.WORDS.s_norms),
        accumulations=_ours(fll.WORDS.accumulations),
        resolutions=(("cells", 50), ("cells", 1000)),
    ),
    "fis": Format(
        families=(*dict.fromkeys(entry.family.name for entry in sets.FIS.values()), "singleton"),
        t_norms=_ours(fis.WORDS.t_norms),
        s_norms=_ours(fis.WORDS.s_norms),
        accumulations=_ours(fis.WORDS.accumulations),
        most_hedges=1,
        nested=False,
        concluding_hedges=False,
        joins_numbers=False,
        mixed=False,
        per_output=False,
        limited=False,
        activations=("general",),
        resolutions=(("points", 101),),
    ),
    "fcl": Format(
        families=(*_FLL_FAMILIES, "singleton"),
        t_norms=_ours(fcl.WORDS.t_norms),
        s_norms=_ours(fcl.WORDS.s_norms),
        accumulations=_ours(fcl.WORDS.accumulations),
        concluding_hedges=False,
        per_output=False,
        limited=False,
        activations=("general",),
        only_numbers=False,
        resolutions=(("cells", 1000),),
    ),
    "fml": Format(
        families=(*_FML_FAMILIES, "singleton"),
        t_norms=_ours(fml.WORDS.t_norms),
        s_norms=_ours(fml.WORDS.s_norms),
        accumulations=_ours(fml.WORDS.accumulations),
        monotone=("ramp", "s_shape", "z_shape"),
        hedges=tuple(fml.MODIFIERS.values()),
        most_hedges=1,
        nested=False,
        always=False,
        numbers=("average",),
        joins_numbers=False,
        computed=False,
        mixed=False,
        per_output=False,
        limited=False,
        activations=("general",),
        clip=False,
        hold=False,
        only_numbers=False,
        resolutions=(("cells", 1000),),
    ),
}


class Generator:
    """Draws systems that a format can hold."""

    def __init__(self, format: str, seed: int) -> None:
        self.can, self.rng = FORMATS[format], np.random.default_rng(seed)

    def one(self, choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def maybe(self, chance: float = 0.5) -> bool:
        return bool(self.rng.uniform() < chance)

    def number(self) -> float:
        return float(np.round(self.rng.uniform(-9, 9), self.rng.integers(0, 17)))

    def size(self) -> float:
        return float(abs(self.number()) + 0.1)

    def fuzzy_set(self, families: tuple[str, ...]) -> MembershipFunction:
        name = self.one(families)
        if name == "formula":
            return Formula(self.one(_FORMULAS), self.number(), self.size())
        if name == "discrete":
            values = sorted(self.number() for _ in range(self.rng.integers(1, 6)))
            return Discrete(*(n for value in values for n in (value, float(self.rng.uniform()))))
        kinds = FAMILIES[name]._kinds()
        places = [self.number() for kind in kinds if kind == "location"]
        if len(set(places)) < len(places) and name in _APART:
            places[1] += 1.0
        places = sorted(places) if name in _ORDERED else places
        if name in _ORDERED - {"semi_ellipse"} and len(places) > 2 and self.maybe(0.2):
            places[1] = places[0]  # a vertical edge
        numbers = {
            "width": self.size,
            "shape": self.size,
            "steepness": self.size,
            "side": lambda: self.one([-1.0, 1.0]),
        }
        rest = iter(places)
        return FAMILIES[name](*(next(rest) if kind == "location" else numbers[kind]() for kind in kinds))

    def hedges(self) -> tuple[str, ...]:
        return tuple(self.one(self.can.hedges) for _ in range(self.rng.integers(0, self.can.most_hedges + 1)))

    def premise(self, inputs: tuple[Variable, ...], depth: int = 2) -> Expression:
        if self.can.always and depth == 2 and self.maybe(0.05):
            return And(())
        asked = [Is(v.name, self.one(list(v.terms)), self.hedges()) for v in inputs if self.maybe(0.7)]
        asked = asked or [Is(inputs[0].name, self.one(list(inputs[0].terms)), self.hedges())]
        joined = self.one((And, Or))
        if not self.can.nested or depth == 0:
            return joined(tuple(asked)) if len(asked) > 1 else asked[0]
        parts = [part if self.maybe(0.6) else self.premise(inputs, depth - 1) for part in asked]
        found = joined(tuple(parts)) if len(parts) > 1 else parts[0]
        return Not(found) if self.maybe(0.2) else found

    def inputs(self) -> tuple[Variable, ...]:
        names = self.rng.permutation(len(_NAMES))[: self.rng.integers(1, 4)]
        return tuple(
            Variable(
                _NAMES[name],
                {f"t{n}": self.fuzzy_set(self.can.families) for n in range(self.rng.integers(1, 4))},
                *((-9.0, 9.0) if self.maybe(0.8) else (-5.0, 4.5)),
            )
            for name in names
        )

    def operators(self) -> dict[str, Any]:
        t_norm = self.one(self.can.t_norms)
        dual = self.can.nested or self.maybe()  # NOT before parentheses needs dual norms in other formats
        s_norm = DUAL[t_norm] if dual else self.one(self.can.s_norms)
        limited = self.can.limited and self.maybe(0.3)
        return {"t_norm": t_norm, "s_norm": s_norm, "limited": limited, "aggregation": "max"}

    def system(self) -> RuleBase:
        inputs = self.inputs()
        premises = [self.premise(inputs) for _ in range(self.rng.integers(1, 6))]
        weights = [1.0 if self.maybe(0.7) else float(np.round(self.rng.uniform(), 3)) for _ in premises]
        return self.sugeno(inputs, premises, weights) if self.maybe(0.4) else self.mamdani(inputs, premises, weights)

    def sugeno(self, inputs: tuple[Variable, ...], premises: list[Expression], weights: list[float]) -> RuleBase:
        n_outputs, n_coefs = self.rng.integers(1, 3), self.one([1, 1 + len(inputs)])
        rules = [
            Rule(premise, [[self.number() for _ in range(n_coefs)] for _ in range(n_outputs)], weight)
            for premise, weight in zip(premises, weights, strict=True)
        ]
        normalize = "sum" not in self.can.numbers or self.maybe(0.7)
        default = tuple(self.number() for _ in range(n_outputs))
        outputs = tuple(f"y{k}" for k in range(n_outputs))
        return RuleBase(inputs, tuple(rules), outputs, normalize=normalize, default=default, **self.operators())

    def mamdani(self, inputs: tuple[Variable, ...], premises: list[Expression], weights: list[float]) -> RuleBase:
        n_outputs = self.rng.integers(1, 4)
        numbers = [self.maybe(0.4) for _ in range(n_outputs)]
        if not self.can.mixed:
            numbers = numbers[:1] * n_outputs
        shared = self.settings(number=False), self.settings(number=True)
        outputs, settings, tsukamoto = [], [], self.maybe(0.3)
        for k, number in enumerate(numbers):
            outputs.append(self.output(f"out {k}", inputs, number=number, tsukamoto=tsukamoto))
            settings.append(self.settings(number=number) if self.can.per_output else shared[number])
        implications = {s["implication"] for s, number in zip(settings, numbers, strict=True) if not number}
        chosen = len(implications) <= 1 and self.maybe(0.3)  # a block of rules for each implication
        hedged = self.can.concluding_hedges and not chosen
        conclusions = []
        for _ in premises:
            said = {o.name: self.said(o, hedged=hedged) for o in outputs if self.maybe(0.8)}
            conclusions.append(said or {outputs[0].name: self.said(outputs[0], hedged=hedged)})
        rules = [
            Rule(premise, said, weight) for premise, said, weight in zip(premises, conclusions, weights, strict=True)
        ]
        kept = [self.can.default or number for number in numbers]
        defuzzification = Defuzzification(
            **{name: tuple(each[name] for each in settings) for name in settings[0]},
            activation=self.one(self.can.activations) if chosen else "general",
        )
        return RuleBase(
            inputs,
            tuple(rules),
            tuple(outputs),
            default=tuple(self.number() if keep else 0.0 for keep in kept),
            defuzzification=defuzzification,
            **self.operators(),
        )

    def settings(self, *, number: bool) -> dict[str, Any]:
        sampling, resolution = self.one(self.can.resolutions)
        joins = self.can.accumulations if self.can.joins_numbers and self.maybe(0.3) else ("sum",)
        return {
            "implication": "min" if number else self.one(self.can.t_norms),
            "accumulation": self.one(joins if number else self.can.accumulations),
            "defuzzify": self.one(self.can.numbers if number else ("centroid", "bisector", "mom", "som", "lom")),
            "resolution": resolution,
            "sampling": sampling,
            "clip": number and self.can.clip and self.maybe(0.3),
            "hold": self.can.hold and self.maybe(0.2),
        }

    def output(self, name: str, inputs: tuple[Variable, ...], *, number: bool, tsukamoto: bool) -> Variable:
        count = range(self.rng.integers(1, 4))
        if not number:
            chosen = {f"s{n}": self.fuzzy_set(self.can.families) for n in count}
            if not self.can.only_numbers and all(isinstance(term, Singleton) for term in chosen.values()):
                chosen["s0"] = self.fuzzy_set(("gaussian",))
            return Variable(name, chosen, -9.0, 9.0)
        if tsukamoto:
            return Variable(name, {f"s{n}": self.fuzzy_set(self.can.monotone) for n in count}, -9.0, 9.0)
        plain = [v.name for v in inputs if v.name.isidentifier() and v.name not in ("if",)]
        terms: dict[str, MembershipFunction] = {}
        for n in count:
            computed = self.can.computed and plain and self.maybe(0.3)
            terms[f"s{n}"] = Formula(f"sin({plain[0]}) - 2.5") if computed else Singleton(self.number())
        return Variable(name, terms, -9.0, 9.0)

    def said(self, output: Variable, *, hedged: bool) -> str | Is:
        term = self.one(list(output.terms))
        return Is(output.name, term, (self.one(self.can.hedges),)) if hedged and self.maybe(0.2) else term
