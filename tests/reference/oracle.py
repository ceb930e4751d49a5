"""Slow reference transcription of the MI-ANFIS paper, made of plain loops over plain lists.

Nothing here is meant to be fast or to survive extreme inputs: each function spells out one formula of
the paper so that a fast implementation can be compared with it. Where the printed formula is wrong the
correction comes from the notes that accompany the paper ("row n" below is row n of their table).

The code is generic over the number type. Functions that need an exponential or a logarithm accept it as
the keywords `exp` and `log`, and no float constant enters a computation. Hand in numbers of another type
(`mpmath.mpf` with ``exp=mpmath.exp``, or `decimal.Decimal` throughout) for cases that underflow a double.

Conventions: a bag is a list of instances, an instance a list of D numbers; ``centers[k][j]`` and
``widths[k][j]`` belong to rule k and feature j; ``coefs[k]`` is ``[b0]`` (zero order) or
``[b0, b1, ..., bD]`` (first order); there is a single output. If every rule's strength underflows to
zero, the normalization of Layer 4 raises a division error of the number type in use.
"""

import math

# ----------------------------------------------------------------------------------------------------
# Layer 1: membership functions
# ----------------------------------------------------------------------------------------------------


def gaussian(x, center, width, *, exp=math.exp):
    """Return the Gaussian membership degree, eq. gmf (the width is a standard deviation)."""
    difference = x - center
    return exp(-(difference * difference) / (2 * width * width))


def bell(x, center, width, slope):
    """Return the generalized bell degree, an alternative to eq. gmf not printed in the paper."""
    return 1 / (1 + abs((x - center) / width) ** (2 * slope))


def sigmoid(x, center, slope, *, exp=math.exp):
    """Return the sigmoidal degree, an alternative to eq. gmf not printed in the paper."""
    argument = slope * (x - center)
    if argument < 0:  # the same fraction times e^argument above and below: no overflow
        growth = exp(argument)
        return growth / (1 + growth)
    return 1 / (1 + exp(-argument))


def triangular(x, left, peak, right):
    """Return the triangular degree, an alternative to eq. gmf not printed in the paper."""
    return trapezoidal(x, left, peak, peak, right)


def trapezoidal(x, left, left_top, right_top, right):
    """Return the trapezoidal degree, an alternative to eq. gmf; the top wins over a vertical flank."""
    if left_top <= x <= right_top:
        return 1 + 0 * x
    if x <= left or x >= right:
        return 0 * x
    if x < left_top:
        return (x - left) / (left_top - left)
    return (right - x) / (right - right_top)


# ----------------------------------------------------------------------------------------------------
# Layer 2: T-norms
# ----------------------------------------------------------------------------------------------------


def t_norm_of_two(a, b, name):
    """Return the two-argument T-norm that a node of eq. layer2MI-ANFIS may use."""
    if name == "product":
        return a * b
    if name == "min":
        return a if a <= b else b
    if name == "lukasiewicz":
        excess = a + b - 1
        return excess if excess > 0 else 0 * excess
    if name == "hamacher":
        if a == 0 and b == 0:
            return a * b
        return a * b / (a + b - a * b)
    if name == "einstein":
        return a * b / (1 + (1 - a) * (1 - b))
    if name == "dombi":
        if a == 0 or b == 0:
            return a * b
        return 1 / (1 + (((1 - a) / a) ** 2 + ((1 - b) / b) ** 2) ** 0.5)
    if name == "drastic":
        return b if a == 1 else a if b == 1 else 0 * a
    if name == "nilpotent":
        return (a if a <= b else b) if a + b > 1 else 0 * a
    raise ValueError(f"unknown T-norm {name!r}")


def t_norm(values, name="product"):
    """Fold a T-norm over the values, eq. layer2MI-ANFIS ("any T-norm can replace the product")."""
    result = values[0]
    for position in range(1, len(values)):
        result = t_norm_of_two(result, values[position], name)
    return result


# ----------------------------------------------------------------------------------------------------
# Layers 3 and 5: pooling over the instances of a bag
# ----------------------------------------------------------------------------------------------------


def greatest(values):
    """Return the greatest value, the limit of eq. smax for alpha to plus infinity."""
    result = values[0]
    for value in values:
        if value > result:
            result = value
    return result


def least(values):
    """Return the least value, the limit of eq. smax for alpha to minus infinity."""
    result = values[0]
    for value in values:
        if value < result:
            result = value
    return result


def mean(values):
    """Return the arithmetic mean, eq. smax at alpha = 0."""
    total = 0
    for value in values:
        total = total + value
    return total / len(values)


def _softmax_weights(values, alpha, exp):
    """Return e^(alpha x_i) / sum_j e^(alpha x_j), the weights inside eq. smax (finite alpha)."""
    shift = greatest([alpha * value for value in values])
    exponentials = [exp(alpha * value - shift) for value in values]
    total = 0
    for exponential in exponentials:
        total = total + exponential
    return [exponential / total for exponential in exponentials]


def softmax_alpha(values, alpha, *, exp=math.exp):
    """Return S_alpha of the values, eq. smax, with the max and min operators at +inf and -inf."""
    if alpha == math.inf:
        return greatest(values)
    if alpha == -math.inf:
        return least(values)
    weights = _softmax_weights(values, alpha, exp)
    result = 0
    for value, weight in zip(values, weights, strict=True):
        result = result + value * weight
    return result


def softmax_alpha_slopes(values, alpha, *, exp=math.exp):
    """Return dS_alpha/dx_i for every i, eq. bpepsilon32 (at +-inf: even shares among the tied extremes)."""
    pooled = softmax_alpha(values, alpha, exp=exp)
    if alpha == math.inf or alpha == -math.inf:
        ties = 0
        for value in values:
            if value == pooled:
                ties += 1
        return [(1 + 0 * value) / ties if value == pooled else 0 * value for value in values]
    weights = _softmax_weights(values, alpha, exp)
    slopes = []
    for value, weight in zip(values, weights, strict=True):
        slopes.append(weight * (1 + alpha * (value - pooled)))
    return slopes


def _log_mean_exp(values, alpha, exp, log):
    """Return (1/alpha) log mean e^(alpha x), a smooth maximum beside eq. smax.

    The absolute error is about the number type's epsilon over alpha: for values below it (1e-30 in double)
    the mean turns into the max. Work with more digits than the values' exponents have in that case.
    """
    if alpha == math.inf:
        return greatest(values)
    if alpha == -math.inf:
        return least(values)
    if alpha == 0:
        return mean(values)
    shift = greatest([alpha * value for value in values])
    exponentials = [exp(alpha * value - shift) for value in values]
    return (shift + log(mean(exponentials))) / alpha


def _power_mean(values, alpha, exp, log):
    """Return (mean x^alpha)^(1/alpha) of non-negative values, a pooling beside eq. smax."""
    if alpha == math.inf:
        return greatest(values)
    if alpha == -math.inf:
        return least(values)
    if alpha <= 0:
        for value in values:
            if value == 0:
                return value
    if alpha == 0:
        return exp(mean([log(value) for value in values]))
    one = 1 + 0 * values[0]
    return mean([value**alpha for value in values]) ** (one / alpha)


def aggregation(values, name="softmax", alpha=1, *, exp=math.exp, log=math.log):
    """Pool the truth instances of one bag, eq. layer3MI-ANFIS and the operators that may replace it."""
    if name == "softmax":
        return softmax_alpha(values, alpha, exp=exp)
    if name == "max":
        return greatest(values)
    if name == "min":
        return least(values)
    if name == "algebraic":
        result = values[0]
        for position in range(1, len(values)):
            result = result + values[position] - result * values[position]  # 1 - (1 - a)(1 - b)
        return result
    if name == "bounded":
        total = 0
        for value in values:
            total = total + value
        return total if total < 1 else 1 + 0 * total
    if name == "lse":
        return _log_mean_exp(values, alpha, exp, log)
    if name == "power":
        return _power_mean(values, alpha, exp, log)
    raise ValueError(f"unknown T-conorm {name!r}")


def combine(values, name="softmax", alpha=1, *, exp=math.exp):
    """Combine the instances' linear responses, the function C of eq. layer5MI-ANFIS."""
    if name == "softmax":
        return softmax_alpha(values, alpha, exp=exp)
    if name == "mean":
        return mean(values)
    if name == "max":
        return greatest(values)
    raise ValueError(f"unknown combining function {name!r}")


# `forward` has arguments of the same names as these three functions.
_fold = t_norm
_pool = aggregation
_combine = combine


# ----------------------------------------------------------------------------------------------------
# The network
# ----------------------------------------------------------------------------------------------------


def linear_responses(bag, coefs_k):
    """Return b0 + b . x_i for every instance, the arguments of C in eq. mirule (b0 alone: zero order)."""
    responses = []
    for instance in bag:
        response = coefs_k[0]
        if len(coefs_k) > 1:
            for j in range(len(instance)):
                response = response + coefs_k[j + 1] * instance[j]
        responses.append(response)
    return responses


def forward(
    bag,
    centers,
    widths,
    coefs,
    alpha=1.0,
    conclusion_alpha=1.0,
    t_norm="product",
    aggregation="softmax",
    conclusion_aggregation="softmax",
    normalize=True,
    keep=None,
    membership=None,
    *,
    exp=math.exp,
    log=math.log,
):
    """Pass one bag through Layers 1 to 6, eqs. gmf to layer6MI-ANFIS.

    Parameters
    ----------
    bag, centers, widths, coefs : list of list
        The instances and the parameters, laid out as the module's docstring says.
    alpha, conclusion_alpha : number
        The constants of S_alpha in Layer 3 and in Layer 5.
    t_norm, aggregation, conclusion_aggregation : str
        The operators of Layers 2, 3 and 5.
    normalize : bool
        False leaves Layer 4 out: the strengths themselves weigh the rules (row 9).
    keep : list of int, optional
        The h_k of Rule Dropout, eq. layer5MI-ANFIS1Drop2. All ones if not given.
    membership : callable, optional
        ``membership(x, k, j)`` in place of the Gaussian; the centers and widths are then not read.
    exp, log : callable
        The functions to use for the numbers' type.

    Returns
    -------
    dict
        ``layer1[k][i][j]``, ``truth[k][i]``, ``firing[k]``, ``normalized[k]``, ``rule_outputs[k]``
        (f_k alone), ``layer5[k]`` (h_k wbar_k f_k) and ``output``.
    """
    rules = len(coefs)
    if keep is None:
        keep = [1] * rules

    layer1 = []  # eq. gmf
    for k in range(rules):
        degrees_of_rule = []
        for instance in bag:
            degrees = []
            for j in range(len(instance)):
                if membership is None:
                    degrees.append(gaussian(instance[j], centers[k][j], widths[k][j], exp=exp))
                else:
                    degrees.append(membership(instance[j], k, j))
            degrees_of_rule.append(degrees)
        layer1.append(degrees_of_rule)

    truth = []  # eq. layer2MI-ANFIS
    for k in range(rules):
        truth.append([_fold(degrees, t_norm) for degrees in layer1[k]])

    firing = []  # eq. layer3MI-ANFIS
    for k in range(rules):
        firing.append(_pool(truth[k], aggregation, alpha, exp=exp, log=log))

    normalized = []  # eq. layer4MI-ANFIS
    total = 0
    for strength in firing:
        total = total + strength
    for strength in firing:
        normalized.append(strength / total if normalize else strength)

    rule_outputs = []  # the second factor of eq. layer5MI-ANFIS1
    for k in range(rules):
        rule_outputs.append(
            _combine(linear_responses(bag, coefs[k]), conclusion_aggregation, conclusion_alpha, exp=exp)
        )

    layer5 = []  # eq. layer5MI-ANFIS1Drop2
    for k in range(rules):
        layer5.append(keep[k] * normalized[k] * rule_outputs[k])

    output = 0  # eq. layer6MI-ANFIS
    for contribution in layer5:
        output = output + contribution

    return {
        "layer1": layer1,
        "truth": truth,
        "firing": firing,
        "normalized": normalized,
        "rule_outputs": rule_outputs,
        "layer5": layer5,
        "output": output,
    }
