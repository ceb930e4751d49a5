"""Trees of systems, against their systems composed by hand."""

import numpy as np
import pytest

from fuzzymil import Bags, ModelFileError, ParameterError, RuleBase, RuleSyntaxError, RuleTree
from fuzzymil.plots import TreeDisplay

TREE = """SYSTEM risk    # in the middle
VARIABLE heat FROM 0 TO 10: low = Ramp(8, 2), high = Ramp(2, 8)
VARIABLE wear FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)
OUTPUT action FROM 0 TO 100: wait = Triangular(-50, 0, 50), stop = Triangular(50, 100, 150)
IF heat is high OR wear is high THEN action is stop
IF heat is low AND wear is low THEN action is wait

SYSTEM "the oven"
VARIABLE power FROM 0 TO 5: low = Ramp(4, 1), high = Ramp(1, 4)
VARIABLE draft FROM 0 TO 1: open = Ramp(0, 1)
IF power is high AND draft is not open THEN heat = 9
IF power is low OR draft is open THEN heat = 1 + 0.5*power

SYSTEM parts
VARIABLE age FROM 0 TO 30: old = Ramp(5, 25)
IF age is old THEN wear = 1
IF age is not old THEN wear = 0.1
""".replace("    # in the middle", "")
X = np.random.default_rng(0).uniform([0, 0, 0], [5, 1, 30], (30, 3))  # power, draft, age


def by_hand(systems, x):
    heat = systems["the oven"].infer(x[:, :2]).output
    wear = systems["parts"].infer(x[:, 2:]).output
    return heat, wear, systems["risk"].infer(np.hstack([heat, wear])).output


def test_a_tree_is_the_composition_of_its_systems():
    tree = RuleTree.parse(TREE)
    assert tree.levels == (("the oven", "parts"), ("risk",))
    assert (tree.feature_names, tree.output_names) == (("power", "draft", "age"), ("action",))
    np.testing.assert_allclose(tree.infer(X).output, by_hand(tree.systems, X)[2], rtol=1e-12)
    named = Bags.from_long(X[:, ::-1], np.arange(30), feature_names=["age", "draft", "power"])
    np.testing.assert_array_equal(tree.infer(named).output, tree.infer(X).output)
    every = RuleTree(tree.systems, ("wear", "action"))
    np.testing.assert_allclose(every.infer(X).output, np.hstack(by_hand(tree.systems, X)[1:]), rtol=1e-12)


def test_in_a_bag_lower_systems_speak_of_instances_unless_they_have_quantifiers():
    tree = RuleTree.parse(TREE)
    bags = Bags.from_list([X[:3], X[3:4], X[4:9]])
    heat, wear, _ = by_hand(tree.systems, X[:9])
    expected = tree.systems["risk"].infer(Bags(np.hstack([heat, wear]), bags.offsets)).output
    np.testing.assert_allclose(tree.infer(bags).output, expected, rtol=1e-12)
    asked = TREE.replace("age is old", "SOME age is old").replace("age is not old", "ALL age is not old")
    quantified = RuleTree.parse(asked)
    wear = quantified.systems["parts"].infer(bags.map_instances(lambda x: x[:, 2:], ["age"])).output
    both = np.hstack([heat, np.repeat(wear, bags.sizes, axis=0)])
    expected = tree.systems["risk"].infer(Bags(both, bags.offsets)).output
    np.testing.assert_allclose(quantified.infer(bags).output, expected, rtol=1e-12)


def test_text_and_json_keep_everything(tmp_path):
    tree = RuleTree(RuleTree.parse(TREE).systems, ("action", "heat"), "oven")
    assert RuleTree.parse(tree.to_source(), tree.outputs, tree.name) == tree
    tree.save(tmp_path / "tree.json")
    assert RuleTree.load(tmp_path / "tree.json") == tree
    assert "the oven (power, draft -> heat)" in str(tree)
    (tmp_path / "tree.json").write_text('{"format": "fuzzymil.tree", "version": 1, "systems": 3}')
    with pytest.raises(ModelFileError, match="damaged"):
        RuleTree.load(tmp_path / "tree.json")


def test_an_explanation_goes_down_to_the_inputs():
    tree = RuleTree.parse(TREE)
    found = tree.explain(Bags.from_list([X[:3], X[3:5]]), position=0)
    witness = found.answer.rules[0].witness
    assert (found.system, set(found.below)) == ("risk", {"heat", "wear"})
    assert {each.instance for each in found.below.values()} == {witness}
    heat, wear, _ = by_hand(tree.systems, X[:3])
    assert found.below["heat"].answer.output[0] == pytest.approx(heat[witness, 0])
    assert found.below["wear"].answer.output[0] == pytest.approx(wear[witness, 0])
    assert "because of the oven, instance" in str(found)
    assert found.to_dict()["below"]["wear"]["system"] == "parts"


def test_what_was_not_concluded_is_told():
    silent = RuleTree.parse(TREE.replace("IF age is not old THEN wear = 0.1\n", ""))
    assert silent.infer([[[1, 0, 30.0]], [[1, 0, 30.0], [1, 0, 3.0]]]).uncovered.tolist() == [False, True]


def test_the_figure_shows_systems_and_values():
    tree = RuleTree.parse(TREE)
    display = TreeDisplay.from_tree(tree, tree.infer(X))
    texts = [text.get_text() for text in display.plot().axes[0].texts]
    assert "the oven\n2 rules" in texts
    assert f"action\n{tree.infer(X).output[0, 0]:.3g}" in texts
    assert TreeDisplay.from_tree(tree).plot("Oven").get_suptitle() == "Oven"


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({}, "at least one system"),
        ({"a": "IF anything THEN y = 1"}, "'a' must be a RuleBase"),
        (["x: y", "x: y"], "Two systems conclude 'y': 'System 1' and 'System 2'"),
        (["x: y", "y: x"], "ask for each other's outputs in a circle: System 1, System 2"),
        (["x: x"], "in a circle"),
    ],
)
def test_what_is_no_tree_is_refused(systems, message):
    if isinstance(systems, list):
        pairs = [pair.split(": ") for pair in systems]
        systems = [RuleBase.parse(f"VARIABLE {a}: low = Ramp(1, 0) IF {a} is low THEN {b} = 1") for a, b in pairs]
    with pytest.raises(ParameterError, match=message):
        RuleTree(systems)


def test_mistakes_in_text_have_the_lines_of_the_whole():
    with pytest.raises(RuleSyntaxError, match=r"Line 11, character 4: Unknown variable 'pover'"):
        RuleTree.parse(TREE.replace("IF power is high", "IF pover is high"))
    with pytest.raises(RuleSyntaxError, match="begins with 'SYSTEM name'"):
        RuleTree.parse("VARIABLE x: low = Ramp(1, 0) IF x is low THEN y = 1")
    with pytest.raises(RuleSyntaxError, match="Two systems are called 'risk'"):
        RuleTree.parse(TREE.replace("SYSTEM parts", "SYSTEM risk"))
