"""Rules beyond the paper, in plain loops: premises about a bag, rules that are added up, Mamdani rules.

Conventions are those of `oracle`.
"""

from oracle import greatest, least, mean, t_norm_of_two

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
    return 1 - t_norm_of_two(1 - a, 1 - b, name)


def hedged_degree(degree, hedges):
    """Apply "not" and "very", the one next to the term (the last) first."""
    for hedge in reversed(hedges):
        degree = 1 - degree if hedge == "not" else degree * degree
    return degree


def quantified(truths, quantifier, count=None):
    """Return to which degree a bag satisfies a quantified premise, given the truths of its instances."""
    if quantifier == "some":
        return greatest(truths)
    if quantifier == "all":
        return least(truths)
    if quantifier == "on average":
        return mean(truths)
    if quantifier == "most":
        share = 10 * mean(truths)
        if share <= 3:
            return 0 * share
        return (share - 3) / 5 if share < 8 else 1 + 0 * share
    if quantifier == "at least":
        left = list(truths)
        for _ in range(count - 1):
            if left:
                left.remove(greatest(left))
        return greatest(left) if left else 0 * truths[0]
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
    join = t_norm_of_two if kind == "and" else s_norm_of_two
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
        join = t_norm_of_two if kind == "and" else s_norm_of_two
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
            total = _accumulated(total, t_norm_of_two(strength, mu, implication), accumulation)
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
