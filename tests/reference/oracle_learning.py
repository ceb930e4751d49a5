"""Learning as the paper has it, in plain loops: gradients, Algorithm 1, and the fuzzy c-means it starts from.

Conventions are those of `oracle`.
"""

import math

from oracle import forward, least, linear_responses, softmax_alpha_slopes

# ----------------------------------------------------------------------------------------------------
# Gradients of E_p = (t - O)^2 (Gaussian memberships, product, softmax in Layers 3 and 5)
# ----------------------------------------------------------------------------------------------------


def consequent_slopes_printed(bag, coefs_k, conclusion_alpha, *, exp=math.exp):
    """Return df_k/db_j for every j by the double sum of eq. bpepsilonthetconsB5b.

    The column of b0, which the paper's range j = 1..D leaves out (row 3), has x = 1. The cost grows with the
    square of the bag's size and the exponentials may overflow, so the gradients below use the shorter form of
    eq. bpepsilon32 instead; a test holds the two together.
    """
    responses = linear_responses(bag, coefs_k)
    columns = [[1] + (instance if len(coefs_k) > 1 else []) for instance in bag]
    slopes = [0] * len(coefs_k)
    for m in range(len(bag)):
        ratios = [exp(conclusion_alpha * (response - responses[m])) for response in responses]
        total = 0
        for ratio in ratios:
            total = total + ratio
        for j in range(len(coefs_k)):
            drift = 0
            for h in range(len(bag)):
                drift = drift + ratios[h] * conclusion_alpha * (columns[h][j] - columns[m][j])
            slopes[j] = slopes[j] + (columns[m][j] * total - responses[m] * drift) / (total * total)
    return slopes


def _gradients(bag, target, centers, widths, coefs, alpha, conclusion_alpha, keep, exp, layer4):
    """Multiply the factors of eq. bpepsilonthetacf; `layer4` says which dO/dw_k is used."""
    rules = len(coefs)
    features = len(bag[0])
    if keep is None:
        keep = [1] * rules
    passed = forward(bag, centers, widths, coefs, alpha, conclusion_alpha, keep=keep, exp=exp)
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
        response_slopes = softmax_alpha_slopes(linear_responses(bag, coefs[k]), conclusion_alpha, exp=exp)
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


def gradients_exact(bag, target, centers, widths, coefs, alpha=1.0, conclusion_alpha=1.0, keep=None, *, exp=math.exp):
    """Return E_p and its true derivatives: eqs. bpepsilonothernodes and bpepsilonthetacf, corrected.

    Rows 1 and 4 restore the cross terms of Layer 4, dO/dw_k = (h_k f_k - O) / sum w; row 3 restores the
    factor -2 (t - O) and the coefficient b0. The keys are ``error``, ``centers``, ``widths`` and ``coefs``.
    """
    return _gradients(bag, target, centers, widths, coefs, alpha, conclusion_alpha, keep, exp, layer4="exact")


def gradients_paper(bag, target, centers, widths, coefs, alpha=1.0, conclusion_alpha=1.0, keep=None, *, exp=math.exp):
    """Return E_p and the printed update directions, eqs. bpepsilonthetacval1RD and bpepsilonthetacvalRD.

    These are eq. bpepsilonthetacval (both equations of that label) with h_k: the premise part uses
    h_k f_k (sum w - w_k) / (sum w)^2. The consequent part is eq. bpepsilonthetaallbij corrected by row 3.
    """
    return _gradients(bag, target, centers, widths, coefs, alpha, conclusion_alpha, keep, exp, layer4="paper")


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
    conclusion_alpha=1.0,
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
    alpha, conclusion_alpha : number
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
            conclusion_alpha,
            None if keep is None else keep[p],
            exp=exp,
        )
        params = _step(params, gradients, eta)
    return {name: [list(row) for row in params[name]] for name in ("centers", "widths", "coefs")}


def epoch_batch(
    bags, targets, params, eta, update="exact", alpha=1.0, conclusion_alpha=1.0, keep=None, *, exp=math.exp
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
            conclusion_alpha,
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
        nearest = least(distances)
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
