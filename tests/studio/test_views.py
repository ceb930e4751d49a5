"""Views show what the library computes."""

import subprocess
import sys

import numpy as np
import pytest
from studio_page import Page

from fuzzymil.bags import Bags
from fuzzymil.explain import explain
from fuzzymil.inference.membership import FAMILIES, learnable_families
from fuzzymil.plots import SurfaceDisplay
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.sets import axis_of, handles, move_handle, to_family
from fuzzymil.studio.start import starting_rules


def test_the_table_of_bags(page):
    found = page.get("bags")
    session = page.session
    expected = session.document.rules.infer(session.bags).output[:, 0]
    np.testing.assert_array_equal(found["scores"], expected)
    assert found["decisions"] == ["positive" if score > 0 else "negative" for score in expected]
    assert found["right"] == [a == b for a, b in zip(found["decisions"], session.bags.labels, strict=True)]
    np.testing.assert_allclose(found["probabilities"], 1 / (1 + np.exp(-expected)), atol=1e-12)


def test_changes_are_counted_from_the_last_named_version(page):
    before = page.get("bags")
    assert before["before"] is None
    page.get("set_conclusion", number=1, output="positive", value=9)
    found = page.get("bags")
    assert found["before"]["decisions"] == before["decisions"]
    changed = sum(a != b for a, b in zip(found["decisions"], before["decisions"], strict=True))
    assert found["n_changed"] == changed > 0
    assert page.get("score")["changed"] == changed
    page.get("name_version", name="mine")
    assert page.get("bags")["n_changed"] == 0


def test_an_explanation_and_each_instance_left_out(page):
    found = page.get("explain", bag="concept1-7")
    bags = page.session.bags
    assert found["explanation"]["score"] == pytest.approx(bags_score(page, bags[[found["bag"]]]))
    assert len(found["without"]) == len(bags[found["bag"]])
    for each in found["without"]:
        rest = np.delete(bags[found["bag"]], each["instance"], axis=0)
        assert each["output"][0] == pytest.approx(bags_score(page, [rest]))


def bags_score(page, bags):
    return float(page.session.document.rules.infer(bags).output[0, 0])


def test_the_viewer_walks_from_instances_to_the_output(page):
    found = page.get("viewer", bag=6)
    bags = page.session.bags[[6]]
    expected = explain(page.session.document.rules, bags)
    by_place = {rule.index: rule for rule in expected.rules}
    assert found["bag_id"] == str(bags.ids[0])
    np.testing.assert_array_equal(found["instances"], bags.instances)
    for place, row in enumerate(found["rows"]):
        assert row["witness"] == by_place[place].witness
        assert row["firing"] == pytest.approx(by_place[place].firing)
        assert row["contribution"][0] == pytest.approx(by_place[place].contribution)
        truth = np.prod([cell["degrees"] for cell in row["cells"]], axis=0)
        np.testing.assert_allclose(row["parts"][0]["truth"], truth)
    total = found["default"][0] + sum(row["share"] * row["conclusion"][0] for row in found["rows"])
    assert found["output"][0] == pytest.approx(total)


def test_what_if(page):
    plain = page.get("viewer", bag=149)
    extra = page.get("viewer", bag=149, extra=[[0.7, 0.7]])
    assert extra["places"][-1] is None
    assert extra["rows"][0]["firing"] == pytest.approx(1.0)
    assert extra["rows"][0]["witness"] == len(plain["instances"])
    without = page.get("viewer", bag=149, without=[0])
    assert without["places"] == list(range(1, len(plain["instances"])))
    changed = page.get("viewer", bag=149, change={"0": {"x1": 0.7, "x2": 0.7}})
    assert changed["rows"][0]["witness"] == 0
    assert page.get("viewer", extra=[[1.0, None]])["instances"] == [[1.0, None]]
    page.refused("viewer", "refused", extra=[[1.0]])
    page.refused("viewer", "refused")


def test_the_viewer_of_sets_that_are_concluded(mamdani):
    found = mamdani.get("viewer", bag=0)
    expected = explain(mamdani.session.document.rules, mamdani.session.bags[[0]]).joined
    assert found["joined"]["point"] == pytest.approx(expected.point)
    assert set(found["joined"]["cuts"]) == {"0", "1"}
    assert [row["concluded"] for row in found["rows"]] == ["risk is great", "risk is small"]


def test_the_surface_is_what_the_rules_infer(page):
    found = page.get("surface", x="x1", y="x2", n=11)
    rules, bags = page.session.document.rules, page.session.bags
    rows = [[[x, y]] for y in found["y"] for x in found["x"]]
    np.testing.assert_allclose(np.ravel(found["z"]), rules.infer(rows).output[:, 0])
    assert found["uncovered"] is None
    assert len(found["instances"]["values"][0]) == bags.n_instances
    page.refused("surface", "refused", x="x1", y="x1")
    page.refused("surface", "refused", x="x1", y="x2", n=5000)
    page.refused("surface", "refused", x="x1", y="x2", n_equal=0)


COUNTING = """
VARIABLE hr FROM 40 TO 200: fast = Gaussian(150, 20)
VARIABLE age FROM 0 TO 99: old = Gaussian(80, 20)
Default: ill = -2
IF AT LEAST 3 hr is fast THEN ill += 4
IF SOME age is old THEN ill += 1
"""


@pytest.mark.parametrize(("asked", "n"), [({}, 3), ({"n_equal": 1}, 1), ({"n_equal": 5}, 5)])
def test_the_surface_and_its_slices_are_about_the_same_bag(asked, n):
    page = Page(Session(Document(COUNTING)))
    whole = page.get("surface", x="hr", y="age", n=9, **asked)
    across, up = whole["x"][6], whole["y"][2]
    slice = page.get("slice", variable="hr", others={"age": up}, n=9, at=across, **asked)
    assert (whole["n_equal"], slice["n_equal"], slice["usual"]) == (n, n, 3)
    expected = page.session.document.rules.infer([[[across, up]] * n]).output[0, 0]
    assert whole["z"][2][6] == pytest.approx(expected, abs=1e-9)
    assert slice["y"]["ill"] == pytest.approx(whole["z"][2], abs=1e-9)
    assert slice["here"]["ill"] == pytest.approx(expected, abs=1e-9)
    figure = SurfaceDisplay.from_rules(page.session.document.rules, "hr", "age", n_points=9, n_instances=n)
    np.testing.assert_allclose(figure.z, whole["z"])


def test_a_surface_does_not_wait_for_figures_to_load():
    """Matplotlib alone takes seconds."""
    asked = "Session(demo_document()).answer({'type': 'surface', 'x': 'x1', 'y': 'x2'})['ok']"
    code = "import sys; from fuzzymil.studio import Session; from fuzzymil.studio.start import demo_document; "
    code += f"assert {asked}; print('matplotlib' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


CONTROLLER = """
VARIABLE heat FROM 0 TO 40: cold = Ramp(20, 5), warm = Triangular(10, 20, 30), hot = Ramp(25, 38)
OUTPUT fan FROM 0 TO 100: slow = Triangular(-40, 0, 40), fast = Triangular(60, 100, 140)
OUTPUT valve FROM -1 TO 1: shut = Triangular(-2, -1, 0), open = Triangular(0, 1, 2)
IF heat is hot THEN fan is fast, valve is open
IF heat is NOT hot THEN fan is slow
IF NOT (heat is warm) THEN valve is shut
"""


@pytest.fixture
def controller():
    """A page on two outputs, of which the labels are about one: its column has the same name."""
    bags = Bags.from_list([[[10.0]], [[22.0]], [[36.0]]], labels=[-1.0, 0.5, 0.9], feature_names=["heat"])
    page = Page(Session(Document(CONTROLLER), Data(bags, "rows.csv", {"label": "valve"}), name="rooms"))
    yield page
    page.session.close()


def test_the_viewer_leads_to_every_output(controller):
    expected = controller.session.document.rules.infer(controller.session.bags[[2]])
    for k, name in enumerate(("fan", "valve")):
        found = controller.get("viewer", bag=2, output=name)
        assert (found["target"], found["joined"]["output"]) == (k, name)
        assert found["joined"]["point"] == pytest.approx(expected.output[0, k], abs=1e-9)
        assert sum(row["contribution"][k] for row in found["rows"]) == pytest.approx(expected.output[0, k])
        assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)
    assert set(found["joined"]["cuts"]) == {"0", "2"}  # the second rule says nothing about the valve
    controller.refused("viewer", "refused", bag=2, output="door")


def test_what_is_negated_is_drawn_as_its_complement(controller):
    found = controller.get("viewer", bag=1)
    curves = [row["cells"][0] for row in found["rows"]]
    x = np.linspace(*found["axes"]["heat"], len(curves[0]["curve"]))
    terms = controller.session.document.rules.variables[0].terms
    np.testing.assert_allclose(curves[1]["curve"], 1 - terms["hot"](x), atol=1e-5)
    np.testing.assert_allclose(curves[2]["curve"], 1 - terms["warm"](x), atol=1e-5)
    for row in found["rows"]:
        assert row["cells"][0]["degrees"] == pytest.approx(row["parts"][0]["truth"])


def test_outputs_that_are_numbers_are_no_classes(controller):
    assert controller.state["classes"] is None
    assert controller.state["compared"] == "valve"
    output = controller.session.document.rules.infer(controller.session.bags).output
    error = np.sqrt(np.mean((output[:, 1] - controller.session.bags.labels) ** 2))
    assert controller.get("score")["rmse"] == pytest.approx(error)
    assert controller.get("validation")["predicted"] == pytest.approx(output[:, 1].tolist())
    assert controller.get("bags")["scores"] == pytest.approx(output[:, 1].tolist())


@pytest.mark.parametrize(
    ("values", "text", "axis"),
    [
        ([0.1, 99.3], "VARIABLE x", (0, 100)),
        ([1.0, 15.0], "VARIABLE x", (1, 15)),
        ([0.03, 1.97], "VARIABLE x FROM 0.02 TO 1.5", (0.02, 2)),
    ],
)
def test_axes_end_at_round_numbers_or_at_their_range(values, text, axis):
    document = Document(f"{text}: low = Gaussian(1, 1)  IF x is low THEN y = 1")
    assert axis_of(document.rules.variables[0], np.array(values)) == axis


def test_data_are_closed_and_opened_again(page):
    page.get("close_data")
    assert page.state["data"] is None
    assert page.get("viewer", extra=[[0.5, 0.5]])["bag_id"] == "0"
    page.get("undo")
    assert page.state["data"]["n_bags"] == 150


def test_where_no_rule_applies():
    page = Page(
        Session(
            Document(
                "VARIABLE x FROM 0 TO 9: low = Triangular(-1, 0, 1)  VARIABLE z FROM 0 TO 1  IF x is low THEN y = 1"
            )
        )
    )
    found = page.get("surface", x="x", y="z", n=10)
    assert not np.array(found["uncovered"])[:, 0].any()
    assert np.array(found["uncovered"])[:, 1:].all()
    line = page.get("slice", variable="x", n=10)
    assert line["uncovered"] == [False] + [True] * 9
    assert line["y"]["y"][0] == 1


def test_validation(page):
    found = page.get("validation")
    bags = page.get("bags")
    assert found["accuracy"] == pytest.approx(np.mean(bags["right"]))
    assert sum(map(sum, found["confusion"])) == 150
    scores, truth = np.array(bags["scores"]), page.session.bags.labels == "positive"
    pairs = scores[truth][:, None] - scores[~truth]
    assert found["auc"] == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert page.get("score")["auc"] == pytest.approx(found["auc"])
    assert found["against"] is False
    page.get("set_positive", **{"class": "negative"})
    assert page.get("validation")["against"] is True


def test_folds_without_training(page):
    found = page.get("folds", k=5)
    assert [row["n"] for row in found["folds"]] == [30] * 5
    assert 0.6 < found["accuracy"][0] < 1
    page.refused("folds", "refused", k=1)


def test_numbers_as_labels():
    bags = Bags.from_list([[[0.0]], [[0.5]], [[1.0]]], labels=[0.25, 0.5, 1.5])
    page = Page(Session(Document("VARIABLE x1: low = Gaussian(0, 1)  IF x1 is low THEN y = 1"), bags))
    assert page.state["classes"] is None
    found = page.get("validation")
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean([0.75**2, 0.5**2, 0.5**2])))
    assert page.get("score")["rmse"] == pytest.approx(found["rmse"])
    assert page.get("bags")["right"] is None


def test_data_that_the_rules_cannot_read_are_explained(page):
    page.get("rename", variable="x1", name="hue")
    assert "hue" in page.state["data"]["problem"]
    assert "hue" in page.refused("bags", "refused")["message"]
    assert page.get("undo")["ok"]


def test_histograms(page):
    for each in page.get("histograms")["histograms"]:
        assert set(each["counts"]) == {"positive", "negative"}
        assert sum(map(sum, each["counts"].values())) == page.session.bags.n_instances


AROUND = (np.float64(2.0), np.float64(0.5))
EXAMPLES = {name: kind(*map(float, kind.around(*AROUND))) for name, kind in learnable_families().items()}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_handle_goes_where_it_is_dragged(name):
    chosen = EXAMPLES[name]
    for handle in handles(chosen):
        assert handle["y"] == pytest.approx(float(chosen(handle["x"])))
        moved = move_handle(chosen, handle["name"], handle["x"] + 0.01)
        where = {each["name"]: each["x"] for each in handles(moved)}
        assert where[handle["name"]] == pytest.approx(handle["x"] + 0.01)


@pytest.mark.parametrize("old", sorted(EXAMPLES))
@pytest.mark.parametrize("new", sorted(EXAMPLES))
def test_every_family_turns_into_every_other(old, new):
    made = to_family(EXAMPLES[old], new)
    peaks = [float(each.peak(*each.parameters)) for each in (EXAMPLES[old], made)]
    assert peaks[0] == pytest.approx(peaks[1])
    assert isinstance(made, FAMILIES[new])


def test_three_classes_have_an_output_each():
    rng = np.random.default_rng(0)
    bags = [rng.normal(k, 1, (4, 2)) for k in range(3) for _ in range(10)]
    bags = Bags.from_list(bags, labels=[f"c{k}" for k in range(3) for _ in range(10)], feature_names=["u", "v"])
    page = Page(Session(starting_rules(bags), bags))
    assert page.state["outputs"] == page.state["classes"] == ["c0", "c1", "c2"]
    page.get("add_rule", text="IF SOME u is high THEN c0 = 0, c1 = 0, c2 = 1")
    found = page.get("validation")
    assert sum(map(sum, found["confusion"])) == 30
    assert found["accuracy"] == page.get("score")["accuracy"] > 1 / 3
    assert len(page.get("folds", k=5)["folds"]) == 5
    one = Page(Session(Document("VARIABLE u: low = Gaussian(0, 1)  IF u is low THEN y = 1"), bags))
    assert "3 classes" in one.refused("validation", "refused")["message"]
    assert "3 classes" in one.refused("train", "refused")["message"]
    assert one.get("score")["n"] == 30


def test_ranges_of_data_are_written_with_few_digits():
    values = np.random.default_rng(0).normal(3, 2, (40, 1))
    variable = starting_rules(Bags.from_list(list(values[:, None]))).rules.variables[0]
    assert variable.low <= values.min() <= variable.low + 0.1
    assert variable.high - 0.1 <= values.max() <= variable.high
    assert max(len(repr(end)) for end in (variable.low, variable.high)) <= 5


def test_variables_that_no_rule_uses_may_lack_in_the_data():
    text = "VARIABLE x: low = Gaussian(0, 1)  VARIABLE z: high = Gaussian(1, 1)  IF x is low THEN y = 1"
    bags = Bags.from_list([[[0.0], [0.5]], [[9.0]]], labels=["no", "yes"], feature_names=["x"])
    page = Page(Session(Document(text), bags))
    assert page.state["data"]["problem"] is None
    assert page.state["data"]["features"] == ["x"]
    expected = Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1").rules.infer(bags).output[:, 0]
    assert page.get("bags")["scores"] == pytest.approx(expected.tolist())
    for view in ("viewer", "explain"):
        assert page.get(view, bag=0)["bag"] == 0
    page.get("surface", x="x", y="z")
    page.get("slice", variable="z")
    assert sum(page.get("histograms")["histograms"][1]["counts"]["no"]) == 0
    page.get("write_text", text=text + "  IF z is high THEN y = 0")
    assert "'z'" in page.state["data"]["problem"]
    page.get("start")
    assert [each["name"] for each in page.state["variables"]] == ["x"]
    page.session.close()


def test_a_slope_uses_its_variable():
    text = "VARIABLE x: low = Gaussian(0, 1)  VARIABLE z: high = Gaussian(1, 1)  IF x is low THEN y = 1 + 2*z"
    page = Page(Session(Document(text), Bags.from_list([[[0.0]], [[9.0]]], feature_names=["x"])))
    assert "'z'" in page.state["data"]["problem"]
    page.session.close()


def test_of_three_classes_the_score_is_that_of_the_class_decided_on():
    text = "VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN a = 0, b = 1, c = 0 "
    text += "IF anything THEN a = 0, b = 0, c = 3"
    page = Page(Session(Document(text), Bags.from_list([[[0.0]], [[9.0]]], labels=["b", "c"], feature_names=["x"])))
    found = page.get("bags")
    assert found["decisions"] == ["c", "c"]
    assert found["scores"] == [row[2] for row in found["outputs"]]
    page.session.close()
