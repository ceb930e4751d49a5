"""Rules as a Python module that needs only the standard library."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzymil.inference.quantifiers import MOST_FROM, MOST_TO
from fuzzymil.rules.files._system import Output
from fuzzymil.rules.files.code import Language, Program, number

_EXPRESSIONS = {
    # sets
    "mu_gaussian(x, c, s)": "math.exp(-0.5 * ((x - c) / s) ** 2)",
    "mu_bell(x, c, s, b)": "1 / (1 + abs((x - c) / s) ** (2 * b)) if abs((x - c) / s) < 1 else "
    "(lambda r: r / (1 + r))(abs((x - c) / s) ** (-2 * b))",
    "mu_sigmoid(x, c, k)": "1 / (1 + math.exp(-k * (x - c))) if k * (x - c) > -700 else 0.0",
    "mu_triangular(x, a, b, c)": "mu_trapezoidal(x, a, b, b, c)",
    "mu_trapezoidal(x, a, b, c, d)": "0.0 if x < a or x > d else 1.0 if b <= x <= c else "
    "(x - a) / (b - a) if x < b else (d - x) / (d - c)",
    "mu_rectangle(x, a, b)": "1.0 if a <= x <= b else 0.0",
    "mu_singleton(x, a)": "1.0 if x == a else 0.0",
    "mu_binary(x, a, k)": "1.0 if (x >= a if k > 0 else x <= a) else 0.0",
    "risen(t)": "0.0 if t <= 0 else 1.0 if t >= 1 else 2 * t * t if t <= 0.5 else 1 - 2 * (1 - t) ** 2",
    "mu_s_shape(x, a, b)": "risen((x - a) / (b - a)) if a < b else 1.0 if x >= b else 0.0",
    "mu_z_shape(x, a, b)": "risen((b - x) / (b - a)) if a < b else 1.0 if x <= a else 0.0",
    "mu_pi_shape(x, a, b, c, d)": "mu_s_shape(x, a, b) * mu_z_shape(x, c, d)",
    "mu_two_sided_gaussian(x, a, r, b, s)": "math.exp(-0.5 * (min(x - a, 0.0) / r) ** 2 - 0.5 * "
    "(max(x - b, 0.0) / s) ** 2)",
    "mu_sigmoid_difference(x, a, r, f, b)": "abs(mu_sigmoid(x, a, r) - mu_sigmoid(x, b, f))",
    "mu_sigmoid_product(x, a, r, f, b)": "mu_sigmoid(x, a, r) * mu_sigmoid(x, b, f)",
    "mu_ramp(x, a, b)": "min(max((x - a) / (b - a), 0.0), 1.0)",
    "mu_concave(x, a, b)": "1 / (1 + max((b - x) / (b - a), 0.0))",
    "mu_arc(x, a, b)": "(lambda t: math.sqrt(t * (2 - t)))(mu_ramp(x, a, b))",
    "mu_cosine(x, c, s)": "0.5 * (1 + math.cos(2 * math.pi * (x - c) / s)) if abs(x - c) < s / 2 else 0.0",
    "mu_spike(x, c, s)": "math.exp(-10 * abs(x - c) / s)",
    "mu_semi_ellipse(x, a, b)": "2 * math.sqrt((x - a) * (b - x)) / (b - a) if a < x < b else 0.0",
    # values with a degree
    "inverse_ramp(w, a, b)": "a + (b - a) * w",
    "inverse_concave(w, a, b)": "b - (b - a) * (1 / w - 1)",
    "inverse_arc(w, a, b)": "b - (b - a) * math.sqrt(max(1 - w * w, 0.0))",
    "way(w)": "math.sqrt(w / 2) if w <= 0.5 else 1 - math.sqrt(max(1 - w, 0.0) / 2)",
    "inverse_s_shape(w, a, b)": "a + (b - a) * way(w)",
    "inverse_z_shape(w, a, b)": "b - (b - a) * way(w)",
    "inverse_sigmoid(w, c, k)": "c + math.log(w / (1 - w)) / k if w < 1 else math.copysign(math.inf, k)",
    # hedges
    "hedge_not(a)": "1 - a",
    "hedge_very(a)": "a * a",
    "hedge_somewhat(a)": "math.sqrt(a)",
    "hedge_extremely(a)": "2 * a * a if a <= 0.5 else 1 - 2 * (1 - a) ** 2",
    "hedge_seldom(a)": "math.sqrt(a / 2) if a <= 0.5 else 1 - math.sqrt((1 - a) / 2)",
    # norms
    "t_min(a, b)": "min(a, b)",
    "t_product(a, b)": "a * b",
    "t_lukasiewicz(a, b)": "max(a + b - 1, 0.0)",
    "t_hamacher(a, b)": "a * b / (a + b - a * b) if a and b else 0.0",
    "t_einstein(a, b)": "a * b / (2 - (a + b - a * b))",
    "t_drastic(a, b)": "min(a, b) if max(a, b) == 1 else 0.0",
    "t_nilpotent(a, b)": "min(a, b) if a + b > 1 else 0.0",
    "t_dombi(a, b)": "1 / (1 + math.hypot((1 - a) / a, (1 - b) / b)) if a and b else 0.0",
    "s_max(a, b)": "max(a, b)",
    "s_algebraic(a, b)": "a + b - a * b",
    "s_bounded(a, b)": "min(a + b, 1.0)",
    "s_hamacher(a, b)": "(a + b - 2 * a * b) / (1 - a * b) if a * b != 1 else 1.0",
    "s_einstein(a, b)": "(a + b) / (1 + a * b)",
    "s_drastic(a, b)": "max(a, b) if min(a, b) == 0 else 1.0",
    "s_nilpotent(a, b)": "max(a, b) if a + b < 1 else 1.0",
    "s_dombi(a, b)": "1 - t_dombi(1 - a, 1 - b)",
    # instances of a bag
    "greatest(values, alpha)": "max(values)",
    "least(values, alpha)": "min(values)",
    "mean(values, alpha)": "sum(values) / len(values)",
    "any_of(values, alpha)": "1 - math.prod(1 - value for value in values)",
    "sum_of(values, alpha)": "min(sum(values), 1.0)",
    "most(values, alpha)": f"min(max((mean(values, alpha) - {MOST_FROM}) / ({MOST_TO} - {MOST_FROM}), 0.0), 1.0)",
    "at_least(values, count)": "sorted(values)[-int(count)] if len(values) >= count else 0.0",
}
# Where a formula is undefined, its value is NaN, and what is too great is infinite.
_FORMULAS = {
    "unit(a)": "0.0 if a < 0 else 1.0 if a > 1 else a",
    "f_add(a, b)": "a + b",
    "f_subtract(a, b)": "a - b",
    "f_multiply(a, b)": "a * b",
    "f_divide(a, b)": "a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a) * "
    "math.copysign(1.0, b)",
    "f_negative(a)": "-a",
    "f_abs(a)": "abs(a)",
    "f_minimum(a, b)": "a if a != a or a < b else b",
    "f_maximum(a, b)": "a if a != a or a > b else b",
    "f_power(a, b)": "guarded(math.pow, a, b, least=-math.inf if a < 0 and b % 2 == 1 else math.inf) "
    "if a or b >= 0 else math.copysign(math.inf, a if b % 2 == 1 else 1.0)",
    "f_fmod(a, b)": "guarded(math.fmod, a, b)",
    "f_arctan2(a, b)": "math.atan2(a, b)",
    "f_log(a)": "guarded(math.log, a) if a else -math.inf",
    "f_log10(a)": "guarded(math.log10, a) if a else -math.inf",
    "f_log1p(a)": "guarded(math.log1p, a) if a != -1 else -math.inf",
    "f_sinh(a)": "guarded(math.sinh, a, least=math.copysign(math.inf, a))",
    "f_arctanh(a)": "guarded(math.atanh, a) if abs(a) != 1 else math.copysign(math.inf, a)",
    **{f"f_{name}(a)": f"guarded(math.{name}, a)" for name in ("exp", "sqrt", "sin", "cos", "tan", "cosh", "tanh")},
    **{f"f_arc{name}(a)": f"guarded(math.a{name}, a)" for name in ("sin", "cos", "tan", "sinh", "cosh")},
    **{
        f"f_{name}(a)": f"float({function}(a)) if math.isfinite(a) else a"
        for name, function in {"floor": "math.floor", "ceil": "math.ceil", "round": "round"}.items()
    },
    **{
        f"f_{name}(a, b)": f"1.0 if {condition} else 0.0"
        for name, condition in {
            "greater": "a > b",
            "greater_equal": "a >= b",
            "equal": "a == b",
            "not_equal": "a != b",
            "less_equal": "a <= b",
            "less": "a < b",
            "logical_and": "a != 0 and b != 0",
            "logical_or": "a != 0 or b != 0",
        }.items()
    },
    "f_logical_not(a)": "1.0 if a == 0 else 0.0",
}
_BLOCKS = {
    "guarded": """def guarded(function, *values, least=math.inf):
    try:
        return function(*values)
    except ValueError:
        return math.nan
    except OverflowError:
        return least""",
    "soft": """def soft(values, alpha):
    top = max(alpha * value for value in values)
    weights = [math.exp(alpha * value - top) for value in values]
    return sum(weight * value for weight, value in zip(weights, values)) / sum(weights)""",
    "average": """def average(parts, default, adds):
    total, weight = 0.0, 0.0
    for s, value in parts:
        if s > 0:
            total += s * value
            weight += s
    return default if weight == 0 else total if adds else total / weight""",
    "centroid": """def centroid(y, mu, points):
    return sum(v * m for v, m in zip(y, mu)) / sum(mu)""",
    "bisector": """def bisector(y, mu, points):
    total, left = sum(mu), 0.0
    for k, m in enumerate(mu):
        if points and left + m >= total / 2:
            return y[k]
        if not points and left + m > total / 2:
            return y[k] + (y[1] - y[0]) * ((total / 2 - left) / m - 0.5)
        if not points and left + m == total / 2:
            after = next(j for j in range(k + 1, len(mu)) if mu[j] > 0)
            return (y[k] + y[after]) / 2
        left += m
    return y[-1]""",
    "mom": """def mom(y, mu, points):
    top = max(mu)
    found = [v for v, m in zip(y, mu) if m == top]
    return sum(found) / len(found)""",
    "som": """def som(y, mu, points):
    return y[mu.index(max(mu))]""",
    "lom": """def lom(y, mu, points):
    return y[len(mu) - 1 - mu[::-1].index(max(mu))]""",
}


def _text(program: Program, comments: Sequence[str]) -> str:
    """Return the whole module."""
    outputs = program.system.outputs
    names = ", ".join(variable.name for variable in program.system.inputs)
    body = [
        *_function("_truths(x)", program, program.truths()),
        *(_function("_responses(x)", program, program.responses()) if program.linear else ()),
        "def _fired(truths):",
        *(f"    p{m} = {function}(truths[{m}], {argument})" for m, (function, argument) in enumerate(program.joins())),
        "    return [",
        *(f"        {strength}," for strength in program.firing()),
        "    ]",
        "",
        "",
        "def _concluded(w, c, instances):",
        "    out = []",
        *(f"    {line}" for output in outputs for line in _output(program, output)),
        "    return out",
        "",
        "",
        "def infer(x):",
        f'    """Return the outputs ({_shown(o.name for o in outputs)}) for one instance ({_shown([names])})."""',
        "    return infer_bag([x])",
        "",
        "",
        "def infer_bag(instances):",
        '    """Return the outputs for a bag: a list of instances."""',
        "    w = _fired(list(zip(*map(_truths, instances))))",
        *(["    responses = list(zip(*map(_responses, instances)))"] if program.linear else []),
        "    c = [",
        *(
            f"        {function}(responses[{k}], {argument}),"
            for k, (function, argument) in enumerate(program.combination())
        ),
        "    ]",
        "    return _concluded(w, c, instances)",
    ]
    text = "\n".join(body)
    head = [*(f"# {comment}" for comment in comments), "import math"]
    return "\n\n\n".join(["\n".join(head), *program.functions(text), text]) + "\n"


def _shown(names: object) -> str:
    text = ", ".join(map(str, names))  # type: ignore[call-overload]
    return "".join(character if character.isprintable() and character not in '"\\' else " " for character in text)


def _function(head: str, program: Program, values: Sequence[str]) -> list[str]:
    lines = [f"    v{d} = {value}" for d, value in enumerate(program.inputs())]
    return [f"def {head}:", *lines, "    return [", *(f"        {value}," for value in values), "    ]", "", ""]


def _output(program: Program, output: Output) -> list[str]:
    default = program.default(output)
    if output.weighted:
        parts = program.weighted(output)
        adds = "True" if output.defuzzify == "sum" else "False"
        lines = [
            f"{name} = sum({value} for u in instances) / len(instances)" for name, value in program.computed(output)
        ]
        lines.append("parts = []")
        for strength, value in parts:
            lines += [f"s = {strength}", f"parts.append((s, {value} if s > 0 else 0.0))"]
        lines.append(f"value = average(parts, {default}, {adds})")
        if output.clip or any(value.startswith(("inverse_sigmoid", "q")) for _, value in parts):
            ends = (
                "-math.inf" if output.low is None else number(output.low),
                "math.inf" if output.high is None else number(output.high),
            )
            condition = "True" if output.clip else "math.isinf(value)"
            lines.append(f"value = min(max(value, {ends[0]}), {ends[1]}) if {condition} else value")
        if program.computed(output):  # may be undefined, and then concludes nothing
            lines.append(f"value = {default} if math.isnan(value) else value")
        return [*lines, "out.append(value)"]
    n = output.resolution or 1000
    low, high = output.low or 0.0, output.high or 0.0
    step = f"k / {n - 1}" if output.sampling == "points" else f"(k + 0.5) / {n}"
    points = "True" if output.sampling == "points" else "False"
    return [
        f"ys = [{number(low)} + {number(high - low)} * ({step}) for k in range({n})]",
        f"mu = [{program.joined_set(output)} for y in ys]",
        f"out.append({output.defuzzify}(ys, mu, {points}) if max(mu) > 0 else {default})",
    ]


PYTHON = Language(
    functions={
        **{
            head.partition("(")[0]: f"def {head}:\n    return {body}"
            for head, body in {**_EXPRESSIONS, **_FORMULAS}.items()
        },
        **_BLOCKS,
    },
    choice=lambda condition, then, otherwise: f"({then} if {condition} else {otherwise})",
    text=_text,
)
