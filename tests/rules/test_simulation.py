"""Rules as controllers: plain inputs explained, and closed loops."""

import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import SimulationDisplay

VENT = RuleBase.parse("""
    VARIABLE temperature [C] FROM 10 TO 35: cold = Triangular(5, 10, 22), hot = Triangular(18, 35, 50)
    VARIABLE humidity [%] FROM 0 TO 100: dry = Triangular(-1, 0, 60), wet = Triangular(40, 100, 101)
    OUTPUT vent [%] FROM 0 TO 100: closed = Triangular(-50, 0, 50), open = Triangular(50, 100, 150)
    IF temperature is hot THEN vent is open
    IF temperature is cold AND humidity is not dry THEN vent is closed
""")


def greenhouse(state, output):
    return {"temperature": state["temperature"] + 0.1 * (30 - state["temperature"]) - 0.03 * output["vent"]}


def test_the_loop_is_inference_and_plant_in_turn():
    start = {"temperature": 30.0, "humidity": 60.0, "outside": 5.0}
    found = VENT.simulate(greenhouse, start, 20)
    state = start
    for step in range(20):
        vent = VENT.infer([[[state["temperature"], state["humidity"]]]]).output.item()
        assert found["vent"][step] == pytest.approx(vent)
        state = state | greenhouse(state, {"vent": vent})
        assert found["temperature"][step + 1] == pytest.approx(state["temperature"])
    assert found["outside"].tolist() == [5.0] * 21
    assert found.to_dict()["outputs"]["vent"] == found["vent"].tolist()


def test_an_output_that_keeps_its_value_does_so_in_the_loop():
    rules = RuleBase.parse("""
        VARIABLE x FROM 0 TO 10: low = Rectangle(0, 1)
        OUTPUT y FROM 0 TO 1: great = Triangular(0.5, 1, 1.5)
        USING hold = yes
        IF x is low THEN y is great
    """)
    found = rules.simulate(lambda state, output: {"x": state["x"] + 1}, {"x": 0}, 5)
    assert found["y"][4] == found["y"][0] > 0.6


@pytest.mark.parametrize(
    ("plant", "start", "steps", "error", "message"),
    [
        (greenhouse, {"temperature": 20}, 3, InputError, "lacks humidity"),
        (greenhouse, [20, 50], 3, InputError, "must map names"),
        (greenhouse, {"temperature": 20, "humidity": 50, "vent": 1}, 3, InputError, "both a quantity"),
        (greenhouse, {"temperature": 20, "humidity": 50}, 0, ParameterError, "steps"),
        (lambda s, o: None, {"temperature": 20, "humidity": 50}, 3, InputError, "next state by name"),
        (lambda s, o: {"temprature": 1}, {"temperature": 20, "humidity": 50}, 3, InputError, "temprature"),
        (
            lambda s, o: {"humidity": np.inf},
            {"temperature": 20, "humidity": 50},
            3,
            InputError,
            "after step 1.*run away",
        ),
        (lambda s, o: {"humidity": "wet"}, {"temperature": 20, "humidity": 50}, 3, InputError, "must be a number"),
    ],
)
def test_mistakes_of_a_plant_are_told(plant, start, steps, error, message):
    with pytest.raises(error, match=message):
        VENT.simulate(plant, start, steps)


def test_the_figure_has_a_panel_for_each_quantity():
    found = VENT.simulate(greenhouse, {"temperature": 30, "humidity": 60}, 5)
    assert [panel.get_ylabel() for panel in found.plot().axes] == ["temperature", "humidity", "vent"]
    figure = SimulationDisplay(found).plot(["vent"], title="Venting")
    (panel,) = figure.axes
    assert panel.get_title() == "Venting"
    np.testing.assert_allclose(panel.lines[0].get_ydata()[:-1], found["vent"])


def test_plain_inputs_are_explained_without_labels():
    by_name = VENT.explain({"humidity": 60, "temperature": 20, "wind": 3})
    by_place, as_bag = VENT.explain([20, 60]), VENT.explain(Bags.from_list([[[20.0, 60.0]]]))
    assert by_name.prediction == pytest.approx(VENT.infer([[20.0, 60.0]]).output.item())
    assert str(by_name) == str(by_place) == str(as_bag)
    assert by_name.because == (
        "vent = 45.4 because temperature = 20 C is cold (0.167) and humidity = 60 % is not dry (1), so vent is closed "
        "(rule 2, 58%); temperature = 20 C is hot (0.118), so vent is open (rule 1, 42%)."
    )
    with pytest.raises(ParameterError, match="lacks 'humidity'"):
        VENT.explain({"temperature": 20})


def test_one_sentence_tells_of_a_default_and_of_what_additive_rules_add():
    silent = RuleBase.parse("VARIABLE x: low = Rectangle(0, 1)  Default: y = 7  IF x is low THEN y = 1")
    assert silent.explain([5]).because == "y = 7, the default, because no rule fires."
    adding = RuleBase.parse("VARIABLE x: low = Rectangle(0, 1)  Default: y = 7  IF x is low THEN y += 1")
    assert adding.explain([0.5]).because == "y = 8 because x = 0.5 is low (1), so y += 1 (rule 1, 1)."
