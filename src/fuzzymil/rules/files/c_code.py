"""Rules as a C99 file that needs only ``math.h``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fuzzymil.inference.quantifiers import MOST_FROM, MOST_TO
from fuzzymil.rules.files._system import Output
from fuzzymil.rules.files.code import Language, Program, number

_EXPRESSIONS = {
    # sets
    "mu_gaussian(x, c, s)": "exp(-0.5 * ((x - c) / s) * ((x - c) / s))",
    "mu_bell(x, c, s, b)": "1 / (1 + pow(fabs((x - c) / s), 2 * b))",
    "mu_sigmoid(x, c, k)": "1 / (1 + exp(-k * (x - c)))",
    "mu_triangular(x, a, b, c)": "mu_trapezoidal(x, a, b, b, c)",
    "mu_trapezoidal(x, a, b, c, d)": "x < a || x > d ? 0.0 : b <= x && x <= c ? 1.0 : "
    "x < b ? (x - a) / (b - a) : (d - x) / (d - c)",
    "mu_rectangle(x, a, b)": "a <= x && x <= b ? 1.0 : 0.0",
    "mu_singleton(x, a)": "x == a ? 1.0 : 0.0",
    "mu_binary(x, a, k)": "(k > 0 ? x >= a : x <= a) ? 1.0 : 0.0",
    "risen(t)": "t <= 0 ? 0.0 : t >= 1 ? 1.0 : t <= 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t)",
    "mu_s_shape(x, a, b)": "a < b ? risen((x - a) / (b - a)) : x >= b ? 1.0 : 0.0",
    "mu_z_shape(x, a, b)": "a < b ? risen((b - x) / (b - a)) : x <= a ? 1.0 : 0.0",
    "mu_pi_shape(x, a, b, c, d)": "mu_s_shape(x, a, b) * mu_z_shape(x, c, d)",
    "mu_two_sided_gaussian(x, a, r, b, s)": "(x < a ? mu_gaussian(x, a, r) : 1.0) * "
    "(x > b ? mu_gaussian(x, b, s) : 1.0)",
    "mu_sigmoid_difference(x, a, r, f, b)": "fabs(mu_sigmoid(x, a, r) - mu_sigmoid(x, b, f))",
    "mu_sigmoid_product(x, a, r, f, b)": "mu_sigmoid(x, a, r) * mu_sigmoid(x, b, f)",
    "mu_ramp(x, a, b)": "fmin(fmax((x - a) / (b - a), 0.0), 1.0)",
    "mu_concave(x, a, b)": "1 / (1 + fmax((b - x) / (b - a), 0.0))",
    "mu_arc(x, a, b)": "sqrt(mu_ramp(x, a, b) * (2 - mu_ramp(x, a, b)))",
    "mu_cosine(x, c, s)": "fabs(x - c) < s / 2 ? 0.5 * (1 + cos(6.283185307179586 * (x - c) / s)) : 0.0",
    "mu_spike(x, c, s)": "exp(-10 * fabs(x - c) / s)",
    "mu_semi_ellipse(x, a, b)": "a < x && x < b ? 2 * sqrt((x - a) * (b - x)) / (b - a) : 0.0",
    # values with a degree
    "inverse_ramp(w, a, b)": "a + (b - a) * w",
    "inverse_concave(w, a, b)": "b - (b - a) * (1 / w - 1)",
    "inverse_arc(w, a, b)": "b - (b - a) * sqrt(fmax(1 - w * w, 0.0))",
    "way(w)": "w <= 0.5 ? sqrt(w / 2) : 1 - sqrt(fmax(1 - w, 0.0) / 2)",
    "inverse_s_shape(w, a, b)": "a + (b - a) * way(w)",
    "inverse_z_shape(w, a, b)": "b - (b - a) * way(w)",
    "inverse_sigmoid(w, c, k)": "w < 1 ? c + log(w / (1 - w)) / k : copysign(HUGE_VAL, k)",
    # hedges
    "hedge_not(a)": "1 - a",
    "hedge_very(a)": "a * a",
    "hedge_somewhat(a)": "sqrt(a)",
    "hedge_extremely(a)": "a <= 0.5 ? 2 * a * a : 1 - 2 * (1 - a) * (1 - a)",
    "hedge_seldom(a)": "a <= 0.5 ? sqrt(a / 2) : 1 - sqrt((1 - a) / 2)",
    # norms
    "t_min(a, b)": "fmin(a, b)",
    "t_product(a, b)": "a * b",
    "t_lukasiewicz(a, b)": "fmax(a + b - 1, 0.0)",
    "t_hamacher(a, b)": "a > 0 && b > 0 ? a * b / (a + b - a * b) : 0.0",
    "t_einstein(a, b)": "a * b / (2 - (a + b - a * b))",
    "t_drastic(a, b)": "fmax(a, b) == 1 ? fmin(a, b) : 0.0",
    "t_nilpotent(a, b)": "a + b > 1 ? fmin(a, b) : 0.0",
    "t_dombi(a, b)": "a > 0 && b > 0 ? 1 / (1 + hypot((1 - a) / a, (1 - b) / b)) : 0.0",
    "s_max(a, b)": "fmax(a, b)",
    "s_algebraic(a, b)": "a + b - a * b",
    "s_bounded(a, b)": "fmin(a + b, 1.0)",
    "s_hamacher(a, b)": "a * b != 1 ? (a + b - 2 * a * b) / (1 - a * b) : 1.0",
    "s_einstein(a, b)": "(a + b) / (1 + a * b)",
    "s_drastic(a, b)": "fmin(a, b) == 0 ? fmax(a, b) : 1.0",
    "s_nilpotent(a, b)": "a + b < 1 ? fmax(a, b) : 1.0",
    "s_dombi(a, b)": "1 - t_dombi(1 - a, 1 - b)",
}
_ONE_TO_ONE = ("exp", "log", "log10", "log1p", "sqrt", "floor", "ceil", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_FORMULAS = {
    "unit(a)": "a < 0 ? 0.0 : a > 1 ? 1.0 : a",
    "f_add(a, b)": "a + b",
    "f_subtract(a, b)": "a - b",
    "f_multiply(a, b)": "a * b",
    "f_divide(a, b)": "a / b",
    "f_negative(a)": "-a",
    "f_power(a, b)": "pow(a, b)",
    "f_fmod(a, b)": "fmod(a, b)",
    "f_arctan2(a, b)": "atan2(a, b)",
    "f_abs(a)": "fabs(a)",
    "f_round(a)": "rint(a)",
    "f_minimum(a, b)": "a != a || a < b ? a : b",
    "f_maximum(a, b)": "a != a || a > b ? a : b",
    "f_greater(a, b)": "a > b",
    "f_greater_equal(a, b)": "a >= b",
    "f_equal(a, b)": "a == b",
    "f_not_equal(a, b)": "a != b",
    "f_less_equal(a, b)": "a <= b",
    "f_less(a, b)": "a < b",
    "f_logical_and(a, b)": "a != 0 && b != 0",
    "f_logical_or(a, b)": "a != 0 || b != 0",
    "f_logical_not(a)": "a == 0",
    **{f"f_{name}(a)": f"{name}(a)" for name in _ONE_TO_ONE},
    **{f"f_arc{name}(a)": f"a{name}(a)" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
# Over the instances of a bag: of the numbers v[0], v[step], v[2 * step], ...
_BLOCKS = {
    "greatest": """static double greatest(const double *v, size_t n, size_t step, double alpha) {
    double found = v[0];
    (void)alpha;
    for (size_t i = 1; i < n; i++) found = fmax(found, v[i * step]);
    return found;
}""",
    "least": """static double least(const double *v, size_t n, size_t step, double alpha) {
    double found = v[0];
    (void)alpha;
    for (size_t i = 1; i < n; i++) found = fmin(found, v[i * step]);
    return found;
}""",
    "soft": """static double soft(const double *v, size_t n, size_t step, double alpha) {
    double top = -HUGE_VAL, total = 0.0, weights = 0.0;
    for (size_t i = 0; i < n; i++) top = fmax(top, alpha * v[i * step]);
    for (size_t i = 0; i < n; i++) {
        double weight = exp(alpha * v[i * step] - top);
        total += weight * v[i * step];
        weights += weight;
    }
    return total / weights;
}""",
    "mean": """static double mean(const double *v, size_t n, size_t step, double alpha) {
    double total = 0.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) total += v[i * step];
    return total / (double)n;
}""",
    "any_of": """static double any_of(const double *v, size_t n, size_t step, double alpha) {
    double none = 1.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) none *= 1 - v[i * step];
    return 1 - none;
}""",
    "sum_of": """static double sum_of(const double *v, size_t n, size_t step, double alpha) {
    double total = 0.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) total += v[i * step];
    return fmin(total, 1.0);
}""",
    "most": f"""static double most(const double *v, size_t n, size_t step, double alpha) {{
    return fmin(fmax((mean(v, n, step, alpha) - {MOST_FROM}) / ({MOST_TO} - {MOST_FROM}), 0.0), 1.0);
}}""",
    "at_least": """static double at_least(const double *v, size_t n, size_t step, double count) {
    double below = HUGE_VAL;
    if ((double)n < count) return 0.0;
    for (;;) {
        double top = -HUGE_VAL;
        for (size_t i = 0; i < n; i++) if (v[i * step] < below) top = fmax(top, v[i * step]);
        for (size_t i = 0; i < n; i++) if (v[i * step] == top) count -= 1;
        if (count <= 0) return top;
        if (top == -HUGE_VAL) return NAN;
        below = top;
    }
}""",
    "centroid": """static double centroid(const double *y, const double *mu, int n, int points) {
    double total = 0.0, moment = 0.0;
    (void)points;
    for (int k = 0; k < n; k++) { total += mu[k]; moment += y[k] * mu[k]; }
    return moment / total;
}""",
    "bisector": """static double bisector(const double *y, const double *mu, int n, int points) {
    double total = 0.0, left = 0.0;
    for (int k = 0; k < n; k++) total += mu[k];
    for (int k = 0; k < n; left += mu[k], k++) {
        if (points && left + mu[k] >= total / 2) return y[k];
        if (!points && left + mu[k] > total / 2) return y[k] + (y[1] - y[0]) * ((total / 2 - left) / mu[k] - 0.5);
        if (!points && left + mu[k] == total / 2) {
            int after = k + 1;
            while (mu[after] == 0) after++;
            return (y[k] + y[after]) / 2;
        }
    }
    return y[n - 1];
}""",
    "mom": """static double mom(const double *y, const double *mu, int n, int points) {
    double top = 0.0, total = 0.0, count = 0.0;
    (void)points;
    for (int k = 0; k < n; k++) top = fmax(top, mu[k]);
    for (int k = 0; k < n; k++) if (mu[k] == top) { total += y[k]; count += 1; }
    return total / count;
}""",
    "som": """static double som(const double *y, const double *mu, int n, int points) {
    int found = 0;
    (void)points;
    for (int k = 1; k < n; k++) if (mu[k] > mu[found]) found = k;
    return y[found];
}""",
    "lom": """static double lom(const double *y, const double *mu, int n, int points) {
    int found = 0;
    (void)points;
    for (int k = 1; k < n; k++) if (mu[k] >= mu[found]) found = k;
    return y[found];
}""",
}


def _definition(head: str, body: str) -> str:
    name, _, parameters = head.rstrip(")").partition("(")
    typed = ", ".join(f"double {parameter}" for parameter in parameters.split(", "))
    return f"static double {name}({typed}) {{ return {body}; }}"


def _text(program: Program, comments: Sequence[str]) -> str:
    """Return the whole file."""
    system = program.system
    n_inputs, n_rules = len(system.inputs), len(system.rules)
    n_parts, n_linear = len(program.parts), len(program.linear)
    body = [
        *_function("truths(const double *x, double *t)", "t", program, program.truths()),
        *(_function("responses(const double *x, double *c)", "c", program, program.responses()) if n_linear else ()),
        "static void fired(const double *t, size_t n, double *w) {",
        *(
            f"    const double p{m} = {function}(t + {m}, n, {n_parts}, {argument});"
            for m, (function, argument) in enumerate(program.joins())
        ),
        *(f"    w[{r}] = {strength};" for r, strength in enumerate(program.firing())),
        "}",
        "",
        "static void concluded(const double *w, const double *c, const double *x, size_t n, double *out) {",
        "    (void)c, (void)x, (void)n;",
        *(f"    {line}" for k, output in enumerate(system.outputs) for line in _output(program, output, k)),
        "}",
        "",
        f"/* One instance: x has {n_inputs} inputs, out gets {len(system.outputs)} outputs. */",
        "void infer(const double *x, double *out) {",
        f"    double t[{n_parts}], w[{n_rules}], c[{n_linear or 1}];",
        "    truths(x, t);",
        *(["    responses(x, c);"] if n_linear else ["    c[0] = 0.0;"]),
        "    fired(t, 1, w);",
        "    concluded(w, c, x, 1, out);",
        "}",
        "",
        "/* A bag: n instances, one after the other. */",
        "/* Returns 0, or 1 if there is no instance or no memory. */",
        "int infer_bag(const double *x, size_t n, double *out) {",
        f"    double w[{n_rules}], c[{n_linear or 1}];",
        f"    double *all = n ? malloc(n * {n_parts + n_linear} * sizeof(double)) : NULL;",
        "    if (!all) return 1;",
        "    for (size_t i = 0; i < n; i++) {",
        f"        truths(x + i * {n_inputs}, all + i * {n_parts});",
        *([f"        responses(x + i * {n_inputs}, all + n * {n_parts} + i * {n_linear});"] if n_linear else []),
        "    }",
        "    fired(all, n, w);",
        *(
            f"    c[{k}] = {function}(all + n * {n_parts} + {k}, n, {n_linear}, {argument});"
            for k, (function, argument) in enumerate(program.combination())
        ),
        *([] if n_linear else ["    c[0] = 0.0;"]),
        "    free(all);",
        "    concluded(w, c, x, n, out);",
        "    return 0;",
        "}",
    ]
    text = "\n".join(body)
    names = ", ".join(variable.name for variable in system.inputs)
    said = ", ".join(output.name for output in system.outputs)
    notes = [f"/* {_safe(comment)} */" for comment in (*comments, f"Inputs: {names}. Outputs: {said}.")]
    head = [*notes, "#include <math.h>", "#include <stddef.h>", "#include <stdlib.h>"]
    return "\n\n".join(["\n".join(head), *program.functions(text), text]) + "\n"


def _safe(text: str) -> str:
    """Return text that cannot end a comment."""
    return "".join(c if c.isprintable() else " " for c in re.sub(r"[*/]", "-", text).replace("\\", " "))


def _function(head: str, into: str, program: Program, values: Sequence[str]) -> list[str]:
    used = "\n".join(values)
    inputs = [
        f"    const double v{d} = {value};" for d, value in enumerate(program.inputs()) if re.search(rf"\bv{d}\b", used)
    ]
    return [
        f"static void {head} {{",
        *(inputs or ["    (void)x;"]),
        *(f"    {into}[{n}] = {value};" for n, value in enumerate(values)),
        "}",
        "",
    ]


def _output(program: Program, output: Output, k: int) -> list[str]:
    default = program.default(output)
    if output.weighted:
        parts = program.weighted(output)
        lines = ["{", "    double s, total = 0.0, weight = 0.0;"]
        for name, value in program.computed(output):
            lines += [
                f"    double {name} = 0.0;",
                "    for (size_t i = 0; i < n; i++) {",
                f"        const double *u = x + i * {len(program.system.inputs)};",
                "        (void)u;",
                f"        {name} += {value};",
                "    }",
                f"    {name} /= (double)n;",
            ]
        for strength, value in parts:
            lines += [f"    s = {strength};", f"    if (s > 0) {{ total += s * ({value}); weight += s; }}"]
        adds = output.defuzzify == "sum"
        lines.append(f"    out[{k}] = weight == 0 ? {default} : {'total' if adds else 'total / weight'};")
        if output.clip or any(value.startswith(("inverse_sigmoid", "q")) for _, value in parts):
            ends = (
                "-HUGE_VAL" if output.low is None else number(output.low),
                "HUGE_VAL" if output.high is None else number(output.high),
            )
            condition = "" if output.clip else f"if (isinf(out[{k}])) "
            lines.append(f"    {condition}out[{k}] = fmin(fmax(out[{k}], {ends[0]}), {ends[1]});")
        if program.computed(output):  # may be undefined, and then concludes nothing
            lines.append(f"    if (out[{k}] != out[{k}]) out[{k}] = {default};")
        return [*lines, "}"]
    n = output.resolution or 1000
    low, high = output.low or 0.0, output.high or 0.0
    step = f"k / {n - 1}.0" if output.sampling == "points" else f"(k + 0.5) / {n}.0"
    points = int(output.sampling == "points")
    return [
        "{",
        f"    double ys[{n}], mu[{n}], top = 0.0;",
        f"    for (int k = 0; k < {n}; k++) {{",
        f"        const double y = {number(low)} + {number(high - low)} * ({step});",
        "        ys[k] = y;",
        f"        mu[k] = {program.joined_set(output)};",
        "        top = fmax(top, mu[k]);",
        "    }",
        f"    out[{k}] = top > 0 ? {output.defuzzify}(ys, mu, {n}, {points}) : {default};",
        "}",
    ]


C = Language(
    functions={
        **{head.partition("(")[0]: _definition(head, body) for head, body in {**_EXPRESSIONS, **_FORMULAS}.items()},
        **_BLOCKS,
    },
    choice=lambda condition, then, otherwise: f"({condition} ? {then} : {otherwise})",
    text=_text,
)
