"""A membership family and a T-norm registered by a user work in every part of the rules, or are named in one error."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import FAMILIES, Gaussian, Location, MembershipFunction, Width
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS, register_t_norm
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.files import FORMATS, export_rules, read_rules, what_is_lost, write_rules

BAGS = [[[0.1, 0.2], [0.9, 0.4]], [[0.5, 0.9]], [[1.1, 0.1], [0.0, 0.0]]]


@pytest.fixture
def laplace():
    @dataclasses.dataclass(frozen=True)
    class Laplace(MembershipFunction, name="laplace"):
        center: Location
        width: Width

        @staticmethod
        def log_mu(x, *parameters):
            center, width = parameters
            return -jnp.abs(x - center) / width

        @staticmethod
        def around(center, width):
            return center, width

    yield Laplace
    del FAMILIES["laplace"]


@pytest.fixture
def drastic():
    def drastic(log_mu):
        several = (log_mu < 0).sum(axis=-1) > 1
        return jnp.where(several, -jnp.inf, log_mu.min(axis=-1))

    register_t_norm("drastic product", drastic)  # a name that text has to quote
    yield "drastic product"
    for registry in (T_NORMS, S_NORMS, DUAL):
        del registry["drastic product"]


def sugeno(family, **operators):
    """Rules with AND, OR, NOT and a hedge over sets of a family."""
    terms = {"low": family(0.0, 0.3), "high": family(1.0, 0.3), "tall": family(1.02, 0.3)}
    variables = [Variable("x", terms, 0.0, 1.0), Variable("z", {"low": family(0.0, 0.5)}, 0.0, 1.0)]
    text = """
    IF x is low AND z is low THEN y = 0
    IF x is high THEN y = 1
    IF x is tall THEN y = 0.99
    IF NOT (x is very low OR z is low) THEN y = 0.5 WITH 0.5
    """
    return RuleBase.parse(text, variables, **operators)


def mamdani(family, **operators):
    inputs = [Variable("x", {"low": family(0.0, 0.3)}, 0.0, 1.0), Variable("z", {"low": family(0.0, 0.5)}, 0.0, 1.0)]
    risk = Variable("risk", {"small": family(0.0, 0.2), "great": family(1.0, 0.2)}, 0.0, 1.0)
    text = "IF x is low AND z is low THEN risk is small\nIF x is not low THEN risk is great"
    return RuleBase.parse(text, inputs, [risk], **operators)


@pytest.fixture(params=["sugeno", "mamdani"])
def make(request):
    return {"sugeno": sugeno, "mamdani": mamdani}[request.param]


@pytest.fixture(params=["family", "T-norm"])
def registered(request, make):
    """Rules that use something registered, and the word that an error must name."""
    if request.param == "family":
        return make(request.getfixturevalue("laplace"), aggregation="max"), "laplace"
    name = request.getfixturevalue("drastic")
    return make(Gaussian, t_norm=name, aggregation="max"), name


def test_text_json_and_files_keep_it(registered, tmp_path):
    rules, _ = registered
    assert type(rules).parse(rules.to_source()) == rules
    assert type(rules).from_dict(rules.to_dict()) == rules
    for ending in ("json", "rules"):
        assert write_rules(rules, tmp_path / f"rules.{ending}") == []
        assert read_rules(tmp_path / f"rules.{ending}") == rules


def test_inference_uses_it(registered):
    rules, _ = registered
    output = rules.infer(BAGS).output
    assert np.isfinite(output).all()
    assert np.ptp(output) > 0


@pytest.mark.parametrize("format", [name for name in FORMATS if name in ("fll", "fis")])
def test_a_format_without_a_word_for_it_says_so(registered, format, tmp_path):
    rules, word = registered
    target = tmp_path / f"rules.{format}"
    for write in (
        lambda: export_rules(rules, format),
        lambda: what_is_lost(rules, format),
        lambda: write_rules(rules, target),
    ):
        with pytest.raises(ParameterError) as caught:
            write()
        message = str(caught.value)
        assert word in message
        assert {"fll": "FLL", "fis": ".fis"}[format] in message
        assert "gaussian" in message or "min" in message  # what the format does have
        assert ".json" in message
    assert not target.exists()


def test_tables_show_it(registered, tmp_path):
    rules, word = registered
    for table, ending in ((export_rules(rules, "markdown"), "md"), (export_rules(rules, "latex"), "tex")):
        assert "Laplace(" in table if word == "laplace" else "Gaussian(" in table
        assert write_rules(rules, tmp_path / f"rules.{ending}") != []


def test_terms_are_described_edited_simplified_and_diagnosed(laplace):
    rules = sugeno(laplace)
    assert "low = Laplace(0, 0.3)" in rules.describe_terms()
    edited = rules.edit(sets={"x.low": {"center": 0.1}}, new_terms={"z.high": laplace(1, 0.5)}, merge=[(2, 3)])
    assert edited.variables[0].terms["low"] == laplace(0.1, 0.3)
    assert isinstance(edited.variables[0].terms["high_or_tall"], laplace)
    simpler = rules.simplify(BAGS)
    assert type(simpler.rules) is RuleBase
    assert [merged.terms for merged in simpler.terms] == [("high", "tall")]
    assert [finding.rules for finding in rules.diagnose(BAGS).of("duplicate")] == [(2, 3)]


def test_learned_sets_get_their_names(laplace):
    centers = np.array([[0.0], [1.0]])
    rules = RuleBase.from_sets(
        {"laplace": (centers, np.ones((2, 1)))}, {"laplace": np.ones((2, 1))}, np.array([[[0.0]], [[1.0]]])
    )
    assert str(rules) == "Rule 1: IF x1 is low THEN y = 0\nRule 2: IF x1 is high THEN y = 1"
    assert rules.centers.tolist() == centers.tolist()
    assert rules.with_numbers(rules.compile()[0]) == rules


def test_rules_under_a_registered_t_norm_are_edited_simplified_and_diagnosed(drastic):
    rules = sugeno(Gaussian, t_norm=drastic)
    assert rules.s_norm == DUAL[drastic]
    for found in (rules.edit(drop=1), rules.simplify(BAGS).rules, rules.over(["z", "size", "x"])):
        assert found.t_norm == drastic
        assert type(found) is RuleBase
    assert rules.diagnose(BAGS).of("duplicate")


def test_the_s_norm_of_a_bare_t_norm_is_asked_for(monkeypatch):
    monkeypatch.setitem(T_NORMS, "bare", T_NORMS["min"])
    variable = Variable("x", {"low": Gaussian(0, 1)})
    with pytest.raises(ParameterError, match=r"'bare'.*s_norm"):
        RuleBase([variable], [Rule({"x": "low"}, [[1.0]])], t_norm="bare")
    rules = RuleBase([variable], [Rule({"x": "low"}, [[1.0]])], t_norm="bare", s_norm="max")
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    with pytest.raises(ParameterError, match="'bare'"):
        export_rules(rules, "fis")


def test_an_unknown_family_in_text_lists_the_registered_ones(laplace):
    with pytest.raises(ParameterError, match=r"'Laplce'.*Bell.*Did you mean 'Laplace'"):
        RuleBase.parse("VARIABLE x: low = Laplce(0, 1)  IF x is low THEN y = 1")


def test_a_family_that_is_not_registered_is_named():
    class Other(Gaussian):
        pass

    with pytest.raises(ParameterError, match=r"Other.*registered"):
        Variable("x", {"low": Other(0, 1)})
