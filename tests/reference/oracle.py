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


def _t_norm_of_two(a, b, name):
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
        result = _t_norm_of_two(result, values[position], name)
    return result


# ----------------------------------------------------------------------------------------------------
# Layers 3 and 5: pooling over the instances of a bag
# ----------------------------------------------------------------------------------------------------


def _greatest(values):
    """Return the greatest value, the limit of eq. smax for alpha to plus infinity."""
    result = values[0]
    for value in values:
        if value > result:
            result = value
    return result


def _least(values):
    """Return the least value, the limit of eq. smax for alpha to minus infinity."""
    result = values[0]
    for value in values:
        if value < result:
            result = value
    return result


def _mean(values):
    """Return the arithmetic mean, eq. smax at alpha = 0."""
    total = 0
    for value in values:
        total = total + value
    return total / len(values)


def _softmax_weights(values, alpha, exp):
    """Return e^(alpha x_i) / sum_j e^(alpha x_j), the weights inside eq. smax (finite alpha)."""
    shift = _greatest([alpha * value for value in values])
    exponentials = [exp(alpha * value - shift) for value in values]
    total = 0
    for exponential in exponentials:
        total = total + exponential
    return [exponential / total for exponential in exponentials]


def softmax_alpha(values, alpha, *, exp=math.exp):
    """Return S_alpha of the values, eq. smax, with the max and min operators at +inf and -inf."""
    if alpha == math.inf:
        return _greatest(values)
    if alpha == -math.inf:
        return _least(values)
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
        return _greatest(values)
    if alpha == -math.inf:
        return _least(values)
    if alpha == 0:
        return _mean(values)
    shift = _greatest([alpha * value for value in values])
    exponentials = [exp(alpha * value - shift) for value in values]
    return (shift + log(_mean(exponentials))) / alpha


def _power_mean(values, alpha, exp, log):
    """Return (mean x^alpha)^(1/alpha) of non-negative values, a pooling beside eq. smax."""
    if alpha == math.inf:
        return _greatest(values)
    if alpha == -math.inf:
        return _least(values)
    if alpha <= 0:
        for value in values:
            if value == 0:
                return value
    if alpha == 0:
        return exp(_mean([log(value) for value in values]))
    one = 1 + 0 * values[0]
    return _mean([value**alpha for value in values]) ** (one / alpha)


def aggregation(values, name="softmax", alpha=1, *, exp=math.exp, log=math.log):
    """Pool the truth instances of one bag, eq. layer3MI-ANFIS and the operators that may replace it."""
    if name == "softmax":
        return softmax_alpha(values, alpha, exp=exp)
    if name == "max":
        return _greatest(values)
    if name == "min":
        return _least(values)
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
        return _mean(values)
    if name == "max":
        return _greatest(values)
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
    consequent_alpha=1.0,
    t_norm="product",
    aggregation="softmax",
    combine="softmax",
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
    alpha, consequent_alpha : number
        The constants of S_alpha in Layer 3 and in Layer 5.
    t_norm, aggregation, combine : str
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
        rule_outputs.append(_combine(linear_responses(bag, coefs[k]), combine, consequent_alpha, exp=exp))

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


# ----------------------------------------------------------------------------------------------------
# Gradients of E_p = (t - O)^2 (Gaussian memberships, product, softmax in Layers 3 and 5)
# ----------------------------------------------------------------------------------------------------


def consequent_slopes_printed(bag, coefs_k, consequent_alpha, *, exp=math.exp):
    """Return df_k/db_j for every j by the double sum of eq. bpepsilonthetconsB5b.

    The column of b0, which the paper's range j = 1..D leaves out (row 3), has x = 1. The cost grows with the
    square of the bag's size and the exponentials may overflow, so the gradients below use the shorter form of
    eq. bpepsilon32 instead; a test holds the two together.
    """
    responses = linear_responses(bag, coefs_k)
    columns = [[1] + (instance if len(coefs_k) > 1 else []) for instance in bag]
    slopes = [0] * len(coefs_k)
    for m in range(len(bag)):
        ratios = [exp(consequent_alpha * (response - responses[m])) for response in responses]
        total = 0
        for ratio in ratios:
            total = total + ratio
        for j in range(len(coefs_k)):
            drift = 0
            for h in range(len(bag)):
                drift = drift + ratios[h] * consequent_alpha * (columns[h][j] - columns[m][j])
            slopes[j] = slopes[j] + (columns[m][j] * total - responses[m] * drift) / (total * total)
    return slopes


def _gradients(bag, target, centers, widths, coefs, alpha, consequent_alpha, keep, exp, layer4):
    """Multiply the factors of eq. bpepsilonthetacf; `layer4` says which dO/dw_k is used."""
    rules = len(coefs)
    features = len(bag[0])
    if keep is None:
        keep = [1] * rules
    passed = forward(bag, centers, widths, coefs, alpha, consequent_alpha, keep=keep, exp=exp)
    output = passed["output"]
    error = (target - output) * (target - output)  # eq. bpEp
    error_rate = -2 * (target - output)  # eq. bpepsilon6
    total = 0
    for strength in passed["firing"]:
        total = total + strength

    center_gradients = []
    width_gradients = []
    coef_gradients = []
    for k in range(rules):
        kept_output = keep[k] * passed["rule_outputs"][k]  # eq. bpepsilon54 with h_k
        if layer4 == "exact":
            output_slope = (kept_output - output) / total
        else:
            output_slope = kept_output * (total - passed["firing"][k]) / (total * total)  # eq. bpepsilon43

        pooling_slopes = softmax_alpha_slopes(passed["truth"][k], alpha, exp=exp)  # eq. bpepsilon32
        center_row = []
        width_row = []
        for j in range(features):
            by_center = 0
            by_width = 0
            for i in range(len(bag)):
                # eq. bpepsilon213 times the exponential of eq. bpepsilon1c: the product over d != j
                # completed by the j-th degree, which is the truth instance r_ki itself
                truth = passed["truth"][k][i]
                difference = bag[i][j] - centers[k][j]
                width = widths[k][j]
                by_center = by_center + pooling_slopes[i] * truth * difference / (width * width)
                by_width = by_width + pooling_slopes[i] * truth * difference * difference / (width * width * width)
            center_row.append(error_rate * output_slope * by_center)
            width_row.append(error_rate * output_slope * by_width)
        center_gradients.append(center_row)
        width_gradients.append(width_row)

        # eq. bpepsilonthetaallbijRD, one bag, with b0
        response_slopes = softmax_alpha_slopes(linear_responses(bag, coefs[k]), consequent_alpha, exp=exp)
        coef_row = []
        for j in range(len(coefs[k])):
            by_coef = 0
            for i in range(len(bag)):
                by_coef = by_coef + response_slopes[i] * (1 if j == 0 else bag[i][j - 1])
            coef_row.append(error_rate * keep[k] * passed["normalized"][k] * by_coef)
        coef_gradients.append(coef_row)

    return {
        "error": error,
        "centers": center_gradients,
        "widths": width_gradients,
        "coefs": coef_gradients,
    }


def gradients_exact(bag, target, centers, widths, coefs, alpha=1.0, consequent_alpha=1.0, keep=None, *, exp=math.exp):
    """Return E_p and its true derivatives: eqs. bpepsilonothernodes and bpepsilonthetacf, corrected.

    Rows 1 and 4 restore the cross terms of Layer 4, dO/dw_k = (h_k f_k - O) / sum w; row 3 restores the
    factor -2 (t - O) and the coefficient b0. The keys are ``error``, ``centers``, ``widths`` and ``coefs``.
    """
    return _gradients(bag, target, centers, widths, coefs, alpha, consequent_alpha, keep, exp, layer4="exact")


def gradients_paper(bag, target, centers, widths, coefs, alpha=1.0, consequent_alpha=1.0, keep=None, *, exp=math.exp):
    """Return E_p and the printed update directions, eqs. bpepsilonthetacval1RD and bpepsilonthetacvalRD.

    These are eq. bpepsilonthetacval (both equations of that label) with h_k: the premise part uses
    h_k f_k (sum w - w_k) / (sum w)^2. The consequent part is eq. bpepsilonthetaallbij corrected by row 3.
    """
    return _gradients(bag, target, centers, widths, coefs, alpha, consequent_alpha, keep, exp, layer4="paper")


# ----------------------------------------------------------------------------------------------------
# Algorithm 1
# ----------------------------------------------------------------------------------------------------


def _gradient_function(update):
    """Return the gradients that eqs. updateformulackj to updateformulabij are to use."""
    if update == "exact":
        return gradients_exact
    if update == "paper":
        return gradients_paper
    raise ValueError(f"unknown update {update!r}")


def _step(params, gradients, eta):
    """Take one step of eqs. updateformulackj, updateformulasigmakj and updateformulabij at once."""
    moved = {}
    for name in ("centers", "widths", "coefs"):
        rows = []
        for k in range(len(params[name])):
            row = []
            for j in range(len(params[name][k])):
                value = params[name][k][j] - eta * gradients[name][k][j]
                row.append(abs(value) if name == "widths" else value)  # row 16
            rows.append(row)
        moved[name] = rows
    return moved


def epoch_online(
    bags,
    targets,
    params,
    eta,
    order,
    update="exact",
    alpha=1.0,
    consequent_alpha=1.0,
    keep=None,
    *,
    exp=math.exp,
):
    """Run one on-line epoch of Algorithm 1 (label alg1), bag by bag, all parameters moving together.

    Parameters
    ----------
    bags, targets : list
        The training bags and their desired outputs.
    params : dict
        ``centers``, ``widths`` and ``coefs``; left unchanged.
    eta : number
        The learning rate.
    order : list of int
        The bags' indices in the order of presentation.
    update : str
        "exact" or "paper".
    alpha, consequent_alpha : number
        The constants of Layers 3 and 5.
    keep : list of list of int, optional
        ``keep[p]`` is the list h_k for bag p (by the bag's index, not by its place in the order).
    exp : callable
        The exponential for the numbers' type.

    Returns
    -------
    dict
        The new parameters.
    """
    gradient_function = _gradient_function(update)
    for p in order:
        gradients = gradient_function(
            bags[p],
            targets[p],
            params["centers"],
            params["widths"],
            params["coefs"],
            alpha,
            consequent_alpha,
            None if keep is None else keep[p],
            exp=exp,
        )
        params = _step(params, gradients, eta)
    return {name: [list(row) for row in params[name]] for name in ("centers", "widths", "coefs")}


def epoch_batch(
    bags, targets, params, eta, update="exact", alpha=1.0, consequent_alpha=1.0, keep=None, *, exp=math.exp
):
    """Take one off-line step of Algorithm 1 on the mean of the E_p (row 8; eq. bpE prints the sum).

    The arguments are those of `epoch_online`, less the order.
    """
    gradient_function = _gradient_function(update)
    means = {name: [[0] * len(row) for row in params[name]] for name in ("centers", "widths", "coefs")}
    for p in range(len(bags)):
        gradients = gradient_function(
            bags[p],
            targets[p],
            params["centers"],
            params["widths"],
            params["coefs"],
            alpha,
            consequent_alpha,
            None if keep is None else keep[p],
            exp=exp,
        )
        for name, rows in means.items():
            for k in range(len(rows)):
                for j in range(len(rows[k])):
                    rows[k][j] = rows[k][j] + gradients[name][k][j] / len(bags)
    return _step(params, means, eta)


# ----------------------------------------------------------------------------------------------------
# Fuzzy c-means, by which the paper initializes the centers
# ----------------------------------------------------------------------------------------------------


def _squared_distance(point, center):
    """Return the squared Euclidean distance that fuzzy c-means uses (no equation in the paper)."""
    total = 0
    for j in range(len(point)):
        difference = point[j] - center[j]
        total = total + difference * difference
    return total


def fcm_memberships(points, centers, m):
    """Return ``u[n][k]`` = 1 / sum_l (d_nk / d_nl)^(2/(m-1)), the first step of fuzzy c-means.

    The textbook's formula; the paper names the method and prints no equation. The distance to the nearest
    center stands above and below the fraction, which keeps the powers at most 1. A point on a center
    belongs to it alone (row 13), in even shares where several centers coincide.
    """
    memberships = []
    for point in points:
        distances = [_squared_distance(point, center) for center in centers]
        nearest = _least(distances)
        shares = []
        for distance in distances:
            if nearest == 0:
                shares.append(1 + 0 * distance if distance == 0 else 0 * distance)
            else:
                one = 1 + 0 * distance
                shares.append((nearest / distance) ** (one / (m - 1)))
        total = 0
        for share in shares:
            total = total + share
        memberships.append([share / total for share in shares])
    return memberships


def fcm_update(points, memberships, m):
    """Return the centers sum_n u_nk^m x_n / sum_n u_nk^m, the second step of fuzzy c-means.

    The textbook's formula; the paper names the method and prints no equation.
    """
    centers = []
    for k in range(len(memberships[0])):
        weights = [row[k] ** m for row in memberships]
        total = 0
        for weight in weights:
            total = total + weight
        center = []
        for j in range(len(points[0])):
            moment = 0
            for n in range(len(points)):
                moment = moment + weights[n] * points[n][j]
            center.append(moment / total)
        centers.append(center)
    return centers


# ----------------------------------------------------------------------------------------------------
# Beyond the paper: premises about a bag, and rules that are added up
# ----------------------------------------------------------------------------------------------------
#
# A premise about one instance is ("is", feature, degree, hedges), where degree is a function of the value, or
# ("and", ...), ("or", ...), ("not", premise). A premise about a bag is ("some", premise), ("all", premise),
# ("most", premise), ("on average", premise), ("at least", count, premise), or these joined in the same way.
# A value that is not known is None: its condition holds, or fails under an odd number of NOTs.


def s_norm_of_two(a, b, name):
    """Return the S-norm that belongs to a T-norm of eq. layer2MI-ANFIS by De Morgan's law."""
    return 1 - _t_norm_of_two(1 - a, 1 - b, name)


def hedged_degree(degree, hedges):
    """Apply "not" and "very", the one next to the term (the last) first."""
    for hedge in reversed(hedges):
        degree = 1 - degree if hedge == "not" else degree * degree
    return degree


def quantified(truths, quantifier, count=None):
    """Return to which degree a bag satisfies a quantified premise, given the truths of its instances."""
    if quantifier == "some":
        return _greatest(truths)
    if quantifier == "all":
        return _least(truths)
    if quantifier == "on average":
        return _mean(truths)
    if quantifier == "most":
        share = 10 * _mean(truths)
        if share <= 3:
            return 0 * share
        return (share - 3) / 5 if share < 8 else 1 + 0 * share
    if quantifier == "at least":
        left = list(truths)
        for _ in range(count - 1):
            if left:
                left.remove(_greatest(left))
        return _greatest(left) if left else 0 * truths[0]
    raise ValueError(f"unknown quantifier {quantifier!r}")


def instance_truth(premise, instance, t_norm_name="product", favorable=True):
    """Return the truth of a premise about one instance."""
    kind = premise[0]
    if kind == "is":
        _, feature, degree, hedges = premise
        if instance[feature] is None:
            return 1 if favorable else 0
        return hedged_degree(degree(instance[feature]), hedges)
    if kind == "not":
        return 1 - instance_truth(premise[1], instance, t_norm_name, not favorable)
    join = _t_norm_of_two if kind == "and" else s_norm_of_two
    result = None
    for part in premise[1:]:
        truth = instance_truth(part, instance, t_norm_name, favorable)
        result = truth if result is None else join(result, truth, t_norm_name)
    return 1 if result is None else result


def bag_truth(premise, bag, t_norm_name="product", favorable=True):
    """Return the firing strength of a rule whose premise is about the bag."""
    kind = premise[0]
    if kind == "not":
        return 1 - bag_truth(premise[1], bag, t_norm_name, not favorable)
    if kind in ("and", "or"):
        join = _t_norm_of_two if kind == "and" else s_norm_of_two
        result = bag_truth(premise[1], bag, t_norm_name, favorable)
        for part in premise[2:]:
            result = join(result, bag_truth(part, bag, t_norm_name, favorable), t_norm_name)
        return result
    truths = []
    for instance in bag:
        truths.append(instance_truth(premise[-1], instance, t_norm_name, favorable))
    return quantified(truths, kind, premise[1] if kind == "at least" else None)


def additive_output(premises, conclusions, weights, default, bag, t_norm_name="product"):
    """Return the default plus, for every rule, its weight times its firing strength times its conclusion."""
    total = default
    for premise, conclusion, weight in zip(premises, conclusions, weights, strict=True):
        total = total + weight * bag_truth(premise, bag, t_norm_name) * conclusion
    return total


# ----------------------------------------------------------------------------------------------------
# Mamdani rules: conclusions are sets, given as functions of the output's value
# ----------------------------------------------------------------------------------------------------


def _accumulated(a, b, name):
    if name == "max":
        return a if a > b else b
    if name == "sum":
        return a + b
    if name == "algebraic":
        return a + b - a * b
    if name == "bounded":
        return a + b if a + b < 1 else 1
    return (a + b - 2 * a * b) / (1 - a * b) if a * b < 1 else 1  # hamacher


def mamdani_output(firing, concluded, low, high, n_cells, implication, accumulation, defuzzify):
    """Return the output of rules with these firing strengths that conclude these sets, cell by cell; None if empty."""
    values, joined = [], []
    for cell in range(n_cells):
        value = low + (high - low) * (2 * cell + 1) / (2 * n_cells)
        total = 0.0
        for strength, membership in zip(firing, concluded, strict=True):
            mu = membership(value)
            total = _accumulated(total, _t_norm_of_two(strength, mu, implication), accumulation)
        values.append(value)
        joined.append(total)
    area = sum(joined)
    if area == 0:
        return None
    if defuzzify == "centroid":
        return sum(v * m for v, m in zip(values, joined, strict=True)) / area
    left, width = 0.0, (high - low) / n_cells
    for value, m in zip(values, joined, strict=True):  # bisector
        if left + m >= area / 2:
            return value - width / 2 + width * (area / 2 - left) / m
        left += m
    raise AssertionError
