"""One of each registered kind, defined only here, goes through everything: the promise of CONTRIBUTING.md."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

from fuzzymil import MIANFISClassifier, ParameterError, RuleBase, load_model, write_report
from fuzzymil.cli import app
from fuzzymil.comparators import COMPARATORS, BagClassifier, comparator
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.aggregation import AGGREGATIONS, log_mean_exp, register_aggregation
from fuzzymil.inference.membership import FAMILIES, Location, MembershipFunction, Width
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS, register_t_norm
from fuzzymil.learn.train.losses import LOSSES, Loss, register
from fuzzymil.plots import ExplanationDisplay, MembershipDisplay
from fuzzymil.rules.files import ENDINGS, FORMATS, Format, export_rules, read_rules, register_format, what_is_lost
from fuzzymil.studio.files import openable

BAGS = make_two_concepts(10, 10, random_state=0)


@pytest.fixture(autouse=True)
def one_of_each():
    """Register a family, norm, aggregation, loss, comparator, file format and command, and remove them again."""
    registries = (FAMILIES, T_NORMS, S_NORMS, DUAL, AGGREGATIONS, LOSSES, COMPARATORS, FORMATS, ENDINGS)
    before = [dict(registry) for registry in registries]
    commands = list(app.registered_commands)

    @dataclasses.dataclass(frozen=True)
    class Cauchy(MembershipFunction, name="cauchy"):
        """A set with heavy tails."""

        center: Location
        width: Width

        @staticmethod
        def log_mu(x, *parameters):
            center, width = parameters
            return -jnp.log1p(jnp.square((x - center) / width))

        @staticmethod
        def around(center, width):
            return center, width

    register_t_norm("root_product", lambda log_mu: log_mu.mean(axis=-1))
    register_aggregation("soft", log_mean_exp, reads_alpha=True)
    register("absolute_error", Loss(per_bag=lambda output, target: jnp.abs(target - output).sum(axis=-1), threshold=0.5,
                                    probability=lambda output: np.clip(output, 0, 1)))  # fmt: skip

    @comparator("Bag size")
    class BagSize(BagClassifier):
        """Large bags are positive."""

        def _learn(self, bags, positive):
            self.mean_ = bags.sizes.mean()

        def _decide(self, bags):
            return bags.sizes - self.mean_

    def write(rules):
        return rules.to_source()[::-1], ["The text is read from right to left."]

    register_format(
        Format(name="mirrored", title="mirrored text", endings=(".selur",), write=write,
               read=lambda text: RuleBase.parse(text[::-1]))
    )  # fmt: skip

    @app.command()
    def greet() -> None:
        """Say hello."""
        print("hello")

    yield
    app.registered_commands[:] = commands
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)


@pytest.fixture
def model(one_of_each):
    del one_of_each
    settings = {"membership": "cauchy", "t_norm": "root_product", "aggregation": "soft", "loss": "absolute_error"}
    return MIANFISClassifier(3, **network_parameters(random_state=0, max_epochs=5, **settings)).fit(BAGS)


@pytest.mark.slow
def test_a_model_of_new_parts_is_trained_explained_drawn_and_reported(model, tmp_path):
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    explanation = model.explain(BAGS, position=3)
    assert sum(rule.contribution for rule in explanation.rules) + explanation.baseline == pytest.approx(
        explanation.score
    )
    ExplanationDisplay.from_explanation(explanation).plot()
    MembershipDisplay.from_rules(model.rules_, model.initial_rules_).plot()
    write_report(model, BAGS, tmp_path / "report.html", n_folds=2)
    assert "Cauchy" in (tmp_path / "report.html").read_text()


def test_rules_of_new_parts_go_through_text_and_files(model, tmp_path):
    rules = model.rules_
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict_proba(BAGS), model.predict_proba(BAGS))
    free = dataclasses.replace(rules, limited=False)  # what those files cannot hold in any case
    for format, name in (("fll", "FLL"), ("fis", "fis")):
        with pytest.raises(ParameterError, match=rf"(?s)(?i)(?=.*{name})(?=.*(cauchy|root_product))"):
            export_rules(free, format)
    assert "Cauchy" in rules.describe_terms()
    assert rules.simplify(BAGS).rules.n_rules >= 1
    assert rules.diagnose(BAGS) is not None


def test_rules_are_written_and_read_in_a_new_format(tmp_path):
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    rules.save(tmp_path / "rules.json")
    assert what_is_lost(rules, "mirrored") == ["The text is read from right to left."]
    run = CliRunner().invoke
    for target in ([], ["-o", str(tmp_path / "again.selur")]):
        result = run(app, ["rules", str(tmp_path / "rules.json"), "--format", "mirrored", *target])
        assert result.exit_code == 0, result.output
        assert "right to left" in result.stderr
    assert read_rules(tmp_path / "again.selur") == rules
    assert "THEN y" in run(app, ["rules", str(tmp_path / "again.selur")]).stdout
    assert ".selur" in openable()["rules"]


def test_a_new_comparator_and_a_new_command_are_on_the_command_line(tmp_path):
    run = CliRunner().invoke
    assert "greet" in run(app, ["--help"]).output
    assert run(app, ["greet"]).output.strip() == "hello"
    assert "BagSize" in COMPARATORS
    rows = [
        f"{bag},{int(label)},{x[0]},{x[1]}"
        for bag, label, xs in zip(BAGS.ids, BAGS.labels, BAGS, strict=True)
        for x in xs
    ]
    (tmp_path / "bags.csv").write_text("\n".join(["bag,label,x1,x2", *rows]))
    command = ["evaluate", str(tmp_path / "bags.csv"), "--folds", "2", "--compare", "BagSize"]
    result = run(app, [*command, "--json"])
    assert result.exit_code == 0, result.output
    assert "BagSize" in result.stdout or "Bag size" in result.stdout
