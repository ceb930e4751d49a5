"""Every membership family: values, gradients, conversion to free parameters and to other axes, errors."""

import functools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from slow_sets import EDGED, EXAMPLES, SLOW

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import (
    FAMILIES,
    Bell,
    Binary,
    Discrete,
    Formula,
    Gaussian,
    Location,
    MembershipFunction,
    PiShape,
    Ramp,
    SemiEllipse,
    Shape,
    Sigmoid,
    SShape,
    Steepness,
    Trapezoidal,
    Triangular,
    Width,
    family,
    learnable_families,
)

CASES = [(name, parameters) for name, examples in EXAMPLES.items() for parameters in examples]


def test_every_family_has_an_example():
    assert EXAMPLES.keys() | {name for name, _ in EDGED} | {"formula", "missing"} == FAMILIES.keys()
    assert SLOW.keys() | {"formula", "missing"} == FAMILIES.keys()


@functools.cache
def log_mu_and_gradient(name):
    kind = FAMILIES[name]

    @jax.jit
    def run(x, parameters):
        value = kind.log_mu(x, *parameters)
        slopes = jax.vmap(jax.grad(lambda x, p: kind.log_mu(x, *p), argnums=(0, 1)), in_axes=(0, None))(x, parameters)
        return value, slopes

    return run


def evaluate(name, x, parameters):
    """Log-membership (n,) of n numbers and its derivatives (n, 1 + parameters) by x and the parameters."""
    with jax.enable_x64():
        padded = np.resize(np.asarray(x, float), 64)  # one shape, one compiled program
        value, (by_x, by_parameters) = log_mu_and_gradient(name)(
            jnp.asarray(padded), tuple(jnp.float64(value) for value in parameters)
        )
        slopes = np.stack([by_x, *by_parameters], axis=1)
        return np.asarray(value)[: len(x)], slopes[: len(x)]


def places(name, parameters):
    """Numbers in and around a set, away from the corners of triangles."""
    kind = FAMILIES[name]
    middle, spread = kind.peak(*parameters), kind.spread(*parameters) or 1.0
    return middle + spread * np.linspace(-3.03, 2.97, 41)


@pytest.mark.parametrize(("name", "parameters"), CASES + EDGED)
def test_degree_is_the_oracles_and_lies_between_0_and_1(name, parameters):
    x = places(name, parameters)
    degree = FAMILIES[name](*parameters)(x)
    expected = [SLOW[name](value, *parameters) for value in x.tolist()]
    np.testing.assert_allclose(degree, expected, rtol=1e-11, atol=1e-15)
    assert ((degree >= 0) & (degree <= 1)).all()
    if name != "singleton" and len(set(parameters)) > 1:
        assert np.ptp(degree) > 0.4


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_gradient_equals_central_differences(name, parameters):
    x = places(name, parameters)
    value, slopes = evaluate(name, x, parameters)
    inside = np.isfinite(value)
    for place in range(1 + len(parameters)):
        role = (*FAMILIES[name]._numeric_kinds(parameters),)[place - 1] if place else "location"
        step = 1e-6 * FAMILIES[name].spread(*parameters)
        if role not in ("location", "width"):
            step = 1e-6 * max(abs(parameters[place - 1]), 0.1)
        ends = []
        for sign in (1, -1):
            moved = np.array(parameters)
            if place:
                moved[place - 1] += sign * step
            ends.append(evaluate(name, x + (sign * step if not place else 0.0), moved)[0])
        with np.errstate(invalid="ignore"):
            differences = (ends[0] - ends[1]) / (2 * step)
        scale = np.abs(differences[inside]).max()
        np.testing.assert_allclose(slopes[inside, place], differences[inside], atol=1e-7 * scale, rtol=1e-5)
        assert (slopes[~inside, place] == 0).all()  # truly zero: flat, and no NaN


@pytest.mark.parametrize("name", ["gaussian", "bell", "sigmoid"])
def test_memberships_below_the_smallest_number_keep_their_logarithm(name):
    parameters = EXAMPLES[name][0]
    center = parameters[0]
    distance = {"gaussian": 0.1 * math.sqrt(2e6), "bell": 1e160, "sigmoid": 1e5}[name]
    x = [center - distance, center - 1.5 * distance, center - 0.5 * distance]
    value, slopes = evaluate(name, x, parameters)
    with mpmath.workdps(50):
        exact = [mpmath.mpf(v) for v in parameters]
        if name == "bell":
            degrees = [SLOW[name](mpmath.mpf(v), *exact) for v in x]
        else:
            degrees = [SLOW[name](mpmath.mpf(v), *exact, exp=mpmath.exp) for v in x]
        expected = [float(mpmath.log(degree)) for degree in degrees]
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert min(expected) < -1400
    assert len(set(value)) == 3
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize(("name", "parameters"), CASES + EDGED)
def test_gradient_is_finite_at_the_peak_the_corners_and_far_away(name, parameters):
    x = [FAMILIES[name].peak(*parameters), *parameters, 1e8, -1e8]
    value, slopes = evaluate(name, x, parameters)
    assert not np.isnan(value).any()
    assert (value <= 0).all()
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize(("name", "parameters"), EDGED)
def test_vertical_edge_belongs_to_the_set(name, parameters):
    degree = FAMILIES[name](*parameters)
    for corner in sorted(set(parameters)):
        beside = [np.nextafter(corner, -np.inf), corner, np.nextafter(corner, np.inf)]
        assert degree(beside) == pytest.approx([SLOW[name](x, *parameters) for x in beside], abs=1e-14)
    if name in ("triangular", "trapezoidal", "rectangle", "singleton", "pi_shape"):
        assert degree([-np.inf, np.inf]).tolist() == [0.0, 0.0]
    assert np.isnan(degree(math.nan))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize(("name", "parameters"), EDGED)
def test_vertical_edge_stays_vertical_in_training_and_moves_with_its_set(name, parameters, dtype):
    kind = FAMILIES[name]
    x = places(name, parameters)

    def loss(free):
        mu = jnp.exp(kind.log_mu(jnp.asarray(x, dtype), *kind.from_free(*free)))
        return jnp.sum(jnp.square(mu - 0.3))

    with jax.enable_x64():
        free = kind.to_free(*(jnp.asarray(value, dtype) for value in parameters))
        slopes = jax.grad(loss)(free)
        assert np.isfinite(slopes).all()
        moved = kind.from_free(*(value - 0.01 * slope for value, slope in zip(free, slopes, strict=True)))
    moved = kind(*map(float, moved))
    if name not in ("binary", "singleton"):
        values = slice(None, None, 2 if name == "discrete" else 1)
        equal_neighbors = np.diff(parameters[values]) == 0
        np.testing.assert_array_equal(np.diff(moved.parameters[values]) == 0, equal_neighbors)
    # A box has no slope at all to learn by.
    if kind.trainable and name != "pi_shape" and not (np.diff(parameters)[[0, -1]] == 0).all():
        assert moved.parameters != parameters


@pytest.mark.parametrize("name", SLOW)
def test_nan_in_gives_nan_out(name):
    assert np.isnan(FAMILIES[name](*dict([*EDGED, *CASES])[name])([math.nan, 0.6])).tolist() == [True, False]


@pytest.mark.parametrize(("name", "parameters"), CASES + EDGED)
def test_free_parameters_translate_back_and_have_no_constraints(name, parameters):
    kind = FAMILIES[name]
    with jax.enable_x64():
        free = kind.to_free(*map(jnp.float64, parameters))
        np.testing.assert_allclose(kind.from_free(*free), parameters, rtol=1e-12, atol=1e-12)
        frozen = name == "discrete"  # whose degrees, the second half, no gradient moves
        for push in (-3.0, -0.7, 1.3, 4.0):
            pushes = [0.0 if frozen and n >= len(free) // 2 else push for n in range(len(free))]
            moved = (value + by for value, by in zip(free, pushes, strict=True))
            kind(*map(float, kind.from_free(*moved)))  # raises when it is no set


@pytest.mark.parametrize(("name", "parameters"), CASES + EDGED)
def test_moved_set_gives_the_same_degrees_on_the_moved_axis(name, parameters):
    kind, x = FAMILIES[name], places(name, parameters)
    for shift, scale in ((0.0, 3.0), (-700.0, 0.02), (5.0, 1.0)):
        moved = kind(*kind.moved(shift, scale, *parameters))
        np.testing.assert_allclose(moved(shift + scale * x), kind(*parameters)(x), atol=1e-9)


@pytest.mark.parametrize("name", learnable_families())
def test_set_around_a_number_is_typical_there_and_as_wide_as_asked(name):
    kind = FAMILIES[name]
    centers, widths = np.array([[0.0, -4.0], [2.5, 1e3]]), np.array([[1.0, 0.1], [3.0, 40.0]])
    parameters = kind.around(centers, widths)
    np.testing.assert_allclose(kind.peak(*parameters), centers, atol=1e-12)
    np.testing.assert_allclose(kind.spread(*parameters), widths, rtol=1e-12)
    for place in np.ndindex(2, 2):
        one = kind(*(values[place] for values in parameters))
        at_center, away = one([centers[place], centers[place] - 3 * widths[place] * (1 if centers[place] >= 0 else -1)])
        assert at_center > 0.85
        assert away < 0.5 * at_center


@pytest.mark.parametrize("name", SLOW)
def test_every_field_must_be_a_finite_number(name):
    kind, good = FAMILIES[name], dict([*EDGED, *CASES])[name]
    for place, field in enumerate(kind.fields()):
        for bad in (math.nan, math.inf, -math.inf, "wide", None, [1.0]):
            values = list(good)
            values[place] = bad
            with pytest.raises(ParameterError, match=rf"{kind.__name__}: {field} must be a finite number"):
                kind(*values)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Gaussian(0, 0), "Gaussian: width .*0.0"),
        (lambda: Gaussian(0, -1), "Gaussian: width .*-1.0"),
        (lambda: Bell(0, 0, 1), "Bell: width"),
        (lambda: Bell(0, 1, -2), "Bell: slope .*-2.0"),
        (lambda: Sigmoid(0, 0), "Sigmoid: slope"),
        (lambda: Triangular(2, 1, 0), "Triangular: left <= peak_at <= right"),
        (lambda: Trapezoidal(0, 2, 1, 3), "Trapezoidal: left <= left_top <= right_top <= right"),
        (lambda: SShape(1, 0), "SShape: start <= end.*ZShape"),
        (lambda: PiShape(1, 0, 2, 3), "PiShape: left <= left_top"),
        (lambda: PiShape(0, 1, 3, 2), "right_top <= right"),
        (lambda: Ramp(1, 1), "Ramp: start and end must differ.*Binary"),
        (lambda: SemiEllipse(1, 1), "SemiEllipse: left < right"),
        (lambda: Binary(1, 0), "Binary: direction .*right.*left"),
        (lambda: Discrete(1, 0.5, 2), "Discrete: .*pairs.*got 3"),
        (lambda: Discrete(), "Discrete: .*pairs.*got 0"),
        (lambda: Discrete(1, 0.5, 2, 1.5), "Discrete: the degree of point 2 .*1.5"),
        (lambda: Discrete(2, 0.5, 1, 0.5), "Discrete: .*ascending.*1.0 follows 2.0"),
        (lambda: Discrete(math.inf, 0.5), "Discrete: .*finite"),
        (lambda: Formula("1 - y")(0.5), "called x, found 'y'"),
        (lambda: Formula("1 -"), "character 4.*found the end"),
        (lambda: Formula("__import__('os')"), "unknown function '__import__'"),
        (lambda: Formula("sni(x)"), "'sni'.*Did you mean 'sin'"),
        (lambda: Formula("min(x)"), "min takes 2 argument"),
        (lambda: Formula("(" * 99 + "x" + ")" * 99), "nested more than 50"),
        (lambda: Formula(3), "must be text"),
        (lambda: Formula("x y"), "character 3.*found 'y'"),
        (lambda: Formula("x", 0, -1), "Formula: scale"),
        (lambda: family("gausian"), "gausian.*Did you mean 'gaussian'"),
    ],
)
def test_parameters_that_are_no_set_are_refused_by_name(make, named):
    with pytest.raises(ParameterError, match=named):
        make()


def test_sets_are_values():
    assert Gaussian(1, 2) == Gaussian(1.0, np.float32(2.0))
    assert hash(Gaussian(1, 2)) == hash(Gaussian(1.0, 2.0))
    assert type(Gaussian(1, 2).center) is float
    assert str(Triangular(0, 1 / 3, 2)) == "Triangular(0, 0.3333, 2)"
    assert Gaussian(0, 1)(np.zeros((2, 3))).shape == (2, 3)
    assert Gaussian(0, 1)(0.0) == 1.0


def test_defaults_follow_from_the_annotations(monkeypatch):
    monkeypatch.setitem(FAMILIES, "all_kinds", None)  # removed again after the test
    del FAMILIES["all_kinds"]

    @dataclass(frozen=True)
    class AllKinds(MembershipFunction, name="all_kinds"):
        shape: Shape
        center: Location
        width: Width
        slope: Steepness

        @staticmethod
        def log_mu(x, *parameters):
            return -jnp.abs(x)

        @staticmethod
        def around(center, width):
            return 1.0, center, width, 1.0

    assert family("all_kinds") is AllKinds
    assert AllKinds(1, 2, 3, 4)(-1.0) == pytest.approx(math.exp(-1))
    assert AllKinds.moved(10.0, 2.0, 1.0, 2.0, 3.0, 4.0) == (1.0, 14.0, 6.0, 2.0)
    free = AllKinds.to_free(1.0, 2.0, 3.0, -4.0)
    assert free == pytest.approx((0.0, 2.0, math.log(3.0), -4.0))
    assert AllKinds.from_free(*free) == pytest.approx((1.0, 2.0, 3.0, -4.0))
    assert (AllKinds.peak(1, 2, 3, 4), AllKinds.spread(1, 2, 3, 4)) == (2, 3)
    for bad, named in (((0, 2, 3, 4), "shape .*0"), ((1, 2, -3, 4), "width .*-3"), ((1, 2, 3, 0), "slope .*0")):
        with pytest.raises(ParameterError, match=f"AllKinds: {named}"):
            AllKinds(*bad)


def test_name_of_another_family_is_refused():
    with pytest.raises(ParameterError, match=r"'gaussian' .*Gaussian"):
        type("Mine", (MembershipFunction,), {}, name="gaussian")
    assert FAMILIES["gaussian"] is Gaussian


@pytest.mark.parametrize("text", ["1 - abs(x)", "exp(-x^2)", "1/(1 + exp(-20*(x - 0.75)))", "x^2 / (1 + x**2)"])
def test_a_formula_means_what_it_says_and_has_its_gradient(text):
    chosen = Formula(text, shift=0.3, scale=2.0)
    x = np.linspace(-3.03, 2.97, 41)
    words = {"abs": abs, "exp": math.exp}
    plain = [eval(text.replace("^", "**"), words | {"x": (v - 0.3) / 2.0}) for v in x]
    np.testing.assert_allclose(chosen(x), np.clip(plain, 0, 1), rtol=1e-12, atol=1e-15)
    with jax.enable_x64():
        kind = family(chosen.kind)
        slope = jax.vmap(jax.grad(kind.log_mu, argnums=(0, 1, 2)), (0, None, None))(jnp.asarray(x), 0.3, 2.0)
        step = 1e-6
        for place in range(3):
            moves = [np.eye(3)[place] * sign * step for sign in (1, -1)]
            up, down = (np.asarray(kind.log_mu(jnp.asarray(x + m[0]), 0.3 + m[1], 2.0 + m[2])) for m in moves)
            inside = np.isfinite(up) & np.isfinite(down)
            expected = (up[inside] - down[inside]) / (2 * step)
            np.testing.assert_allclose(np.asarray(slope[place])[inside], expected, rtol=1e-5, atol=1e-6)


def test_formulas_do_not_underflow():
    with jax.enable_x64():
        far = jnp.array([100.0, 1e4])
        assert np.asarray(Formula("exp(-x^2)").log_mu(far, 0.0, 1.0)) == pytest.approx([-1e4, -1e8])
        found = np.asarray(Formula("1/(1 + exp(20*x))").log_mu(far, 0.0, 1.0))
        assert found == pytest.approx([-2000.0, -2e5])
        assert np.asarray(Formula("(x/1e300)^3 * 1e-200").log_mu(jnp.array([2.0]), 0.0, 1.0)) == pytest.approx(
            3 * math.log(2) - 1100 * math.log(10)
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2^3^2 / 512", 1.0),
        ("-2^2 + 4.5", 0.5),
        ("~2 + 2.5", 0.5),
        ("7 % 4 / 4", 0.75),
        ("ge(x, 1) and lt(x, 2)", 1.0),
        ("lt(x, 1) or gt(x, 2)", 0.0),
        ("!lt(x, 1)", 1.0),
        ("pi - 3 + 0*e", math.pi - 3),
        ("pow(x, 2) - atan2(0, 1) - 2", 0.25),
        ("min(x, max(0.25, 0.125)) + ln(1) + log10(1)", 0.25),
    ],
)
def test_signs_and_functions_of_formulas(text, expected):
    assert Formula(text)(1.5) == pytest.approx(expected, abs=1e-12)


def test_what_training_leaves_alone_is_said():
    still = sorted(name for name, kind in FAMILIES.items() if not kind.trainable)
    assert still == ["binary", "missing", "rectangle", "singleton"]
    with jax.enable_x64():
        free = Discrete.to_free(*map(jnp.float64, (0.0, 0.2, 1.0, 0.9)))
        slopes = jax.grad(lambda f: Discrete.log_mu(jnp.float64(0.4), *Discrete.from_free(*f)))(free)
    assert [bool(slope) for slope in slopes] == [True, True, False, False]


def test_sets_without_a_center_and_width_do_not_start_learned_rules():
    unfit = {"s_shape", "z_shape", "rectangle", "singleton", "binary", "discrete", "formula", "missing"}
    assert FAMILIES.keys() - learnable_families().keys() == unfit


def test_sets_of_any_kind_are_found_by_it():
    for name, parameters in [*CASES, *EDGED]:
        chosen = FAMILIES[name](*parameters)
        assert family(chosen.kind) is type(chosen)
        assert chosen.with_parameters(*chosen.parameters) == chosen
    chosen = Formula("1 - abs(x)", 2, 3)
    assert family(chosen.kind) is family(chosen.kind)
    assert chosen.with_parameters(2.0, 3.0) == chosen
    assert str(chosen) == "Formula('1 - abs(x)', 2, 3)"
