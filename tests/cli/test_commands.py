"""The command line as people use it: from their own table to rules, predictions, explanations, figures and a page."""

import csv
import io
import json
import subprocess
import sys

import jax
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from fuzzymil import MIMamdani, MISugeno, RuleBase, load_model
from fuzzymil._utils.errors import InputError
from fuzzymil.cli import _options, app, bench, evaluate
from fuzzymil.cli import data as data_commands
from fuzzymil.cli._app import ORDER
from fuzzymil.cli._settings import Task, chosen_task
from fuzzymil.cli.plot import Kind
from fuzzymil.datasets import FORMATS, read_bags
from fuzzymil.rules.formats import FORMATS as RULE_FORMATS
from fuzzymil.training import trainer

CACHE = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)
SMALL = ["--n-rules", "2", "--max-epochs", "3"]


@pytest.fixture(autouse=True)
def _cache_as_before():
    """The commands turn a compilation cache on for their process; other tests keep theirs."""
    before = {name: getattr(jax.config, name) for name in CACHE}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def good(*arguments, **settings):
    result = run(*arguments, **settings)
    assert result.exit_code == 0, result.output
    return result


def bad(*arguments, **settings):
    result = run(*arguments, **settings)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr


def table(label="color", seed=0, labels=("red", "blue")):
    """Twelve boxes of three things each; in a red one, one thing is heavy."""
    rng = np.random.default_rng(seed)
    lines = [f"box,{label},weight,length"]
    for b in range(12):
        weights = rng.normal([1 + 3 * (b % 2), 1, 1], 0.2)
        lines += [f"b{b},{labels[1 - b % 2]},{weight:.3f},{rng.uniform():.3f}" for weight in weights]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with data, and a model that the command line fitted on them."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "boxes.csv").write_text(table())
    before = {name: getattr(jax.config, name) for name in CACHE}
    result = good(
        "fit", folder / "boxes.csv", "--bag", "box", "--label", "color", *SMALL, "-o", folder / "model.json"
    )  # fmt: skip
    for name, value in before.items():
        jax.config.update(name, value)
    (folder / "said.txt").write_text(result.stdout)
    (folder / "noted.txt").write_text(result.stderr)
    return folder


# ---------------------------------------------------------------------- fit


def test_fit_says_what_it_read_and_what_to_do_next(desk):
    noted, said = (desk / "noted.txt").read_text(), (desk / "said.txt").read_text()
    assert "CSV with a header, bag column 'box', label column 'color'; 12 bags, 36 instances, 2 features" in noted
    assert "2 classes, blue (6 bags), red (6 bags)" in noted
    assert "guessed" not in noted
    assert "Learned 2 rules (MIANFISClassifier, 3 epochs" in said
    assert f"fuzzymil rules {desk / 'model.json'}" in said
    model = load_model(desk / "model.json")
    assert (model.n_rules, model.max_epochs, model.random_state, model.verbose) == (2, 3, 0, False)
    assert tuple(model.feature_names_in_) == ("weight", "length")


def test_the_same_command_gives_the_same_file(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", "--bag", "box", "--label", "color", *SMALL]
    good(*arguments, "-o", tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (desk / "model.json").read_text()


def test_guesses_are_announced(desk, tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text(table("class").replace("box,", "bag,", 1))
    result = good("fit", plain, *SMALL, "-o", tmp_path / "model.json")
    assert "bag column 'bag', label column 'class' (guessed: --bag and --label can say otherwise)" in result.stderr


def test_fit_for_programs(desk, tmp_path):
    result = good(
        "fit", desk / "boxes.csv", "--bag", "box", "--label", "color", *SMALL, "--set", "clip=4",
        "--json", "-o", tmp_path / "model.json",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert (found["n_rules"], found["n_epochs"], found["interrupted"]) == (2, 3, False)
    assert load_model(tmp_path / "model.json").variant.clip == 4


def test_a_model_through_a_pipe(desk):
    arguments = ["fit", "-", "--bag", "box", "--label", "color", *SMALL, "-o", "-"]
    fitted = good(*arguments, input=(desk / "boxes.csv").read_bytes())
    assert json.loads(fitted.stdout) == json.loads((desk / "model.json").read_text())
    assert "Learned 2 rules" in fitted.stderr
    assert "standard input: CSV" in fitted.stderr
    shown = good("rules", "-", input=fitted.stdout.encode())
    assert shown.stdout == good("rules", desk / "model.json").stdout


def test_numbers_make_a_regressor(tmp_path):
    (tmp_path / "n.csv").write_text(table("y", labels=("2.5", "0.25")).replace("box,", "bag,", 1))
    result = good("fit", tmp_path / "n.csv", *SMALL, "-o", tmp_path / "model.json")
    assert "numbers from 0.25 to 2.5 (guessed: --task classification can say otherwise)" in result.stderr
    assert type(load_model(tmp_path / "model.json")).__name__ == "MIANFISRegressor"
    predicted = good("predict", tmp_path / "model.json", tmp_path / "n.csv")
    assert predicted.stdout.startswith("bag,prediction,coverage\n")
    assert "R2 on these bags" in predicted.stderr
    found = json.loads(good("evaluate", tmp_path / "n.csv", *SMALL, "--folds", 3, "--compare", "mean", "--json").stdout)
    assert [set(method["measures"]) for method in found["methods"]] == [{"R2", "MAE"}, {"R2", "MAE"}]


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["a", "b"] * 10, "classification"),
        ([0, 1, 2, 2] * 5, "classification"),
        ([0.5, 1.0] * 10, "regression"),
        (list(range(20)), "regression"),
        (list(range(21)) * 3, "regression"),
    ],
    ids=["text", "few whole numbers", "fractions", "all different", "many whole numbers"],
)
def test_the_task_follows_from_the_labels(labels, task, capsys):
    from fuzzymil import Bags

    bags = Bags.from_list([[[float(b)]] for b in range(len(labels))], labels=labels)
    assert chosen_task(Task.auto, bags) == task
    assert "Labels: " in capsys.readouterr().err


def test_text_is_no_number(desk):
    arguments = ["fit", desk / "boxes.csv", "--bag", "box", "--label", "color", "--task", "regression"]
    assert "is no number" in bad(*arguments, "-o", desk / "never.json")
    assert not (desk / "never.json").exists()


def test_columns_of_text_are_dropped_and_remembered(tmp_path):
    rows = [f"{line},{'/shop' if n else 'url'}" for n, line in enumerate(table().splitlines())]
    data = write(tmp_path / "with_text.csv", "\n".join(rows) + "\n")
    common = (data, "--bag", "box", "--label", "color")
    message = bad("fit", *common, *SMALL, "-o", tmp_path / "model.json")
    assert "column 'url'" in message
    assert "leave the column out with --drop" in message
    good("fit", *common, "--drop", "url", *SMALL, "-o", tmp_path / "model.json")
    good("predict", tmp_path / "model.json", data)  # the model remembers
    assert "no column 'uri' to drop" in bad("data", "describe", *common, "--drop", "uri")


def test_rules_of_an_expert_are_where_training_starts(desk, tmp_path):
    rules = tmp_path / "expert.rules"
    rules.write_text(
        "VARIABLE weight: heavy = Gaussian(4, 1)\nIF weight is heavy THEN red = 1\nIF anything THEN red = 0 WITH 0.2\n"
    )
    arguments = ["fit", desk / "boxes.csv", "--bag", "box", "--label", "color", "--max-epochs", "3"]
    good(*arguments, "--init", rules, "--set", "frozen=weight", "-o", tmp_path / "model.json")
    shown = good("rules", tmp_path / "model.json").stdout
    assert "IF weight is heavy THEN red = " in shown
    assert "heavy = Gaussian(4, 1)" in shown
    wrong = write(tmp_path / "wrong.rules", "IF weight THEN")
    assert "wrong.rules: Line 1, character 4" in bad(*arguments, "--init", wrong, "-o", tmp_path / "x.json")
    assert "Unknown init" in bad(*arguments, "--init", "kmean", "-o", tmp_path / "x.json")
    mamdani = "VARIABLE weight: heavy = Gaussian(4, 1)\nOUTPUT red FROM 0 TO 1: sure = Gaussian(1, 0.1)\n"
    mamdani += "IF weight is heavy THEN red is sure\n"
    assert "Mamdani" in bad(*arguments, "--init", write(tmp_path / "m.rules", mamdani), "-o", tmp_path / "x.json")


def write(path, text):
    path.write_text(text)
    return path


def test_training_goes_on(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", "--continue", desk / "model.json", "--max-epochs", 2]
    good(*arguments, "-o", tmp_path / "more.json")
    before, after = load_model(desk / "model.json"), load_model(tmp_path / "more.json")
    assert after.n_iter_ == 2
    assert after.initial_rules_.to_text() == before.rules_.to_text()
    assert not after.warm_start
    assert "keeps the model's settings" in bad(*arguments, "--n-rules", 3, "-o", tmp_path / "more.json")


@pytest.fixture
def ctrl_c(monkeypatch):
    """Press Ctrl-C when training begins its second stretch of epochs."""
    stretches = []

    def stretch(*arguments, **settings):
        stretches.append(1)
        if len(stretches) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **settings)

    original = trainer.run
    monkeypatch.setattr(trainer, "run", stretch)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_the_model_and_says_how_to_go_on(desk, tmp_path):
    target = tmp_path / "half.json"
    arguments = ["--bag", "box", "--label", "color", "--n-rules", 2, "--max-epochs", 1000, "-o", target]
    result = run("fit", desk / "boxes.csv", *arguments)
    assert result.exit_code == 130
    model = load_model(target)
    done = len(model.history_["loss"])
    assert 0 < done < 1000
    assert f"Stopped (Ctrl-C) after {done} of 1000 epochs" in result.stderr
    advice = result.stderr.splitlines()[-1].split()
    assert advice[0] == "fuzzymil"
    assert advice[advice.index("--max-epochs") + 1] == str(1000 - done)
    advice[advice.index("--max-epochs") + 1] = "1"  # the rest would take a while
    good(*advice[1:])
    assert load_model(target).n_iter_ == 1


@pytest.mark.usefixtures("ctrl_c")
def test_a_checkpoint_goes_on_to_the_same_numbers(desk, tmp_path):
    arguments = ["fit", desk / "boxes.csv", "--bag", "box", "--label", "color", "--n-rules", 2, "--max-epochs", 20]
    kept = ["--checkpoint", tmp_path / "kept", "-o", tmp_path / "kept.json"]
    stopped = run(*arguments, *kept)
    assert stopped.exit_code == 130
    assert "run the same command again to go on" in stopped.stderr
    assert load_model(tmp_path / "kept.json").n_iter_ < 20
    good(*arguments, *kept)
    good(*arguments, "-o", tmp_path / "whole.json")
    assert (tmp_path / "kept.json").read_text() == (tmp_path / "whole.json").read_text()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_cross_validation(desk):
    arguments = ["--bag", "box", "--label", "color", "--n-rules", 2, "--max-epochs", 1000, "--folds", 2]
    result = run("evaluate", desk / "boxes.csv", *arguments)
    assert result.exit_code == 130
    assert "no fold was finished" in result.stderr
    assert not result.stdout


def test_ctrl_c_anywhere_else(desk, monkeypatch):
    import fuzzymil.datasets

    def press(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(fuzzymil.datasets, "read_bags", press)
    result = run("data", "describe", desk / "boxes.csv", "--bag", "box", "--label", "color")
    assert result.exit_code == 130
    assert result.stderr == "Stopped (Ctrl-C).\n"


# ---------------------------------------------------------------------- evaluate


def test_evaluate_beside_others(desk):
    arguments = ["evaluate", desk / "boxes.csv", "--bag", "box", "--label", "color", *SMALL, "--folds", 3]
    arguments += ["--compare", "majority,naive", "--compare", "CitationKNN"]
    lines = good(*arguments).stdout.splitlines()
    assert lines[0].split() == ["method", "accuracy", "AUC", "n", "s/fit"]
    assert [line.split("  ")[0] for line in lines[2:6]] == [
        "MIANFISClassifier", "majority class", "NaiveMIL(LogisticRegression)", "CitationKNN",
    ]  # fmt: skip
    assert "0.500 ± 0.000" in lines[3]
    assert "1 x 3-fold cross-validation of 12 bags" in lines[-1]
    found = json.loads(good(*arguments, "--repeats", 1, "--json").stdout)
    assert [len(method["folds"]) for method in found["methods"]] == [3, 3, 3, 3]
    for method in found["methods"]:
        values = [fold["accuracy"] for fold in method["folds"]]
        assert method["measures"]["accuracy"] == {"mean": np.mean(values), "std": np.std(values, ddof=1), "n": 3}
    assert "Did you mean 'majority'" in bad(*arguments, "--compare", "majorty")


def test_evaluate_takes_as_many_folds_as_there_are_bags_for(desk, capsys):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    assert evaluate._possible(10, bags[:5], Task.classification) == 2  # two of them are red
    assert "2 folds instead of 10: the rarest class has no more." in capsys.readouterr().err
    assert evaluate._possible(6, bags, Task.classification) == 6
    assert not capsys.readouterr().err
    with pytest.raises(InputError, match="too few"):
        evaluate._possible(10, bags[:3], Task.classification)


# ---------------------------------------------------------------------- predict, explain, rules


@pytest.fixture(scope="module")
def boxes(desk, tmp_path_factory):
    """The boxes as Parquet: rows in another order of columns, a column of text, and row groups of four rows."""
    rows = list(csv.DictReader(io.StringIO((desk / "boxes.csv").read_text())))
    features = [name for name in rows[0] if name not in ("box", "color")]
    columns = {
        **{name: [float(row[name]) for row in rows] for name in reversed(features)},
        **{name: [row[name] for row in rows] for name in ("box", "color")},
        "remark": ["-"] * len(rows),
    }
    path = tmp_path_factory.mktemp("parquet") / "boxes.parquet"
    parquet.write_table(pyarrow.table(columns), path, row_group_size=4)
    return path


def test_predict_reads_parquet_a_part_at_a_time(desk, boxes, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.datasets.formats.parquet.PART", 1)
    whole = good("predict", desk / "model.json", desk / "boxes.csv")
    result = good("predict", desk / "model.json", boxes)
    assert result.stdout == whole.stdout
    assert "12 bags, 36 instances, 2 features in 9 parts." in result.stderr
    assert result.stderr.count("Left out, since the model does not know them: remark.") == 1
    assert whole.stderr.splitlines()[-1] == result.stderr.splitlines()[-1]  # how many are right
    good("predict", desk / "model.json", boxes, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == whole.stdout
    as_json = ("predict", desk / "model.json", "--json")
    assert good(*as_json, boxes).stdout == good(*as_json, desk / "boxes.csv").stdout
    assert good("predict", desk / "model.json", "-", input=boxes.read_bytes()).stdout == whole.stdout


def test_predict_leaves_nothing_of_a_file_that_turns_out_bad(desk, boxes, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.datasets.formats.parquet.PART", 1)
    rows = parquet.read_table(boxes)
    colors = rows["color"].to_pylist()
    rows = rows.set_column(rows.schema.get_field_index("color"), "color", [[*colors[:-1], "green"]])
    parquet.write_table(rows, tmp_path / "odd.parquet", row_group_size=4)
    message = bad("predict", desk / "model.json", tmp_path / "odd.parquet", "-o", tmp_path / "out.csv")
    assert "row 35: bag b11 has two labels" in message
    assert [path.name for path in tmp_path.iterdir()] == ["odd.parquet"]
    assert not run("predict", desk / "model.json", tmp_path / "odd.parquet").stdout


def test_predict_reads_scattered_parquet_whole(desk, boxes, tmp_path):
    rows = parquet.read_table(boxes)
    order = [*range(0, 36, 3), *range(1, 36, 3), *range(2, 36, 3)]
    parquet.write_table(rows.take(order), tmp_path / "odd.parquet")
    result = good("predict", desk / "model.json", tmp_path / "odd.parquet")
    assert "do not stand together" in result.stderr
    assert "Left out, since the model does not know them: remark." in result.stderr
    assert result.stdout == good("predict", desk / "model.json", boxes).stdout


def test_predict_names_what_a_parquet_file_lacks(desk, boxes, tmp_path):
    rows = parquet.read_table(boxes)
    lacking = rows.column_names[0]
    parquet.write_table(rows.drop_columns([lacking]), tmp_path / "odd.parquet")
    assert f"no column '{lacking}', which the model was fitted on" in bad(
        "predict", desk / "model.json", tmp_path / "odd.parquet"
    )


def test_parquet_is_described_converted_and_fitted(boxes, tmp_path):
    columns = ("--bag", "box", "--label", "color", "--drop", "remark")
    assert "12 bags, 36 instances, 2 features" in good("data", "describe", boxes, *columns).stdout
    good("data", "convert", boxes, tmp_path / "b.csv", *columns)
    good("data", "convert", tmp_path / "b.csv", tmp_path / "b.parquet")
    assert read_bags(tmp_path / "b.parquet").ids.tolist() == read_bags(tmp_path / "b.csv").ids.tolist()
    good("fit", boxes, *columns, *SMALL, "-o", tmp_path / "m.json")
    assert "Left out" not in good("predict", tmp_path / "m.json", boxes).stderr  # the model remembers
    message = bad("fit", boxes, "--bag", "box", "--drop", "remark", "-o", tmp_path / "n.json")
    assert "name it with --label, one of length, weight, color, remark" in message
    message = bad("fit", boxes, *columns[:4], "-o", tmp_path / "n.json")
    assert "hold no numbers: 'remark' (string); leave them out with --drop" in message


def test_predict_writes_a_table(desk, tmp_path):
    result = good("predict", desk / "model.json", desk / "boxes.csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    model, bags = load_model(desk / "model.json"), read_bags(desk / "boxes.csv", bag="box", label="color")
    assert [row["bag"] for row in rows] == bags.ids.tolist()
    assert [row["prediction"] for row in rows] == model.predict(bags).tolist()
    likely = [[float(row[f"probability_{name}"]) for name in ("blue", "red")] for row in rows]
    np.testing.assert_allclose(likely, model.predict_proba(bags), atol=1e-4)
    coverage = [float(row["coverage"]) for row in rows]
    np.testing.assert_allclose(coverage, model.rules_.infer(bags).coverage, atol=1e-4)
    right = (model.predict(bags) == bags.labels).sum()
    assert f"Right: {right} of 12 bags" in result.stderr
    good("predict", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == result.stdout
    found = json.loads(good("predict", desk / "model.json", desk / "boxes.csv", "--json").stdout)
    assert [row["prediction"] for row in found["predictions"]] == model.predict(bags).tolist()


def test_the_model_remembers_its_columns(desk):
    unlabeled = "\n".join(",".join(np.array(line.split(","))[[3, 0, 2]]) for line in table().splitlines())
    result = good("predict", desk / "model.json", "-", input=unlabeled.encode())
    assert result.stdout == good("predict", desk / "model.json", desk / "boxes.csv").stdout
    assert "Right" not in result.stderr


def test_columns_that_the_model_does_not_know_are_named_and_left_out(desk, tmp_path):
    more = "\n".join(f"{line},{'depth' if n == 0 else n}" for n, line in enumerate(table().splitlines()))
    result = good("predict", desk / "model.json", write(tmp_path / "more.csv", more))
    assert "Left out, since the model does not know them: depth." in result.stderr
    assert result.stdout == good("predict", desk / "model.json", desk / "boxes.csv").stdout


def test_other_labels_are_not_compared(desk, tmp_path):
    other = write(tmp_path / "other.csv", table(labels=("rouge", "bleu")))
    assert "not compared" in good("predict", desk / "model.json", other).stderr


def test_explain_a_bag(desk, tmp_path):
    arguments = ["explain", desk / "model.json", desk / "boxes.csv", "--bag", "b3"]
    result = good(*arguments, "--figure", tmp_path / "b3.svg")
    assert result.stdout.startswith("Bag b3 (3 instances): ")
    assert "<svg" in (tmp_path / "b3.svg").read_text()[:1000]
    found = json.loads(good(*arguments, "--json").stdout)
    assert found["bag"] == "b3"
    assert len(found["rules"]) == 2
    assert "Did you mean" in bad(*arguments[:-1], "b33")
    assert "say which one with --bag, b0 say" in bad(*arguments[:-2])


@pytest.mark.parametrize("format", [None, "text", "rules", "markdown", "latex", "json", "fll", "fis"])
def test_rules_in_every_format(desk, format):
    result = good("rules", desk / "model.json", *([] if format is None else ["--format", format]))
    start = {
        "rules": "VARIABLE weight", "markdown": "| rule | weight | length | red |", "latex": r"\begin{tabular}",
        "json": "{", "fll": "# Bags are not part", "fis": "% Bags are not part",
    }  # fmt: skip
    assert result.stdout.startswith(start.get(format, "Rule 1: IF weight is"))
    assert ("one instance at a time" in result.stderr) == (format in ("fll", "fis"))
    if format in (None, "text"):
        assert "weight: " in result.stdout.split("with\n")[1]


def test_long_rules_are_folded(desk):
    result = good("rules", desk / "model.json", "--max-terms", 1)
    assert "The 1 most selective of up to 2 conditions (--max-terms 2 shows all)." in result.stderr
    assert result.stdout.count("AND ... (1 less selective)") == 2
    assert "Gaussian" not in result.stdout
    assert "selective" not in good("rules", desk / "model.json").output


def test_every_format_of_rules_is_offered():
    from fuzzymil.cli.predict import RuleFormat

    assert {*RuleFormat} == {"text", *RULE_FORMATS}


@pytest.mark.parametrize("ending", ["json", "rules", "txt", "fll", "fis", "md", "tex"])
def test_the_ending_tells_the_format_of_rules(desk, tmp_path, ending):
    path = tmp_path / f"rules.{ending}"
    good("rules", desk / "model.json", "-o", path)
    if ending in ("md", "tex"):
        assert "cannot be read back" in bad("rules", path)
        return
    assert "IF weight is" in good("rules", path).stdout
    if ending in ("json", "rules"):
        assert RuleBase.load(path).rules if ending == "json" else RuleBase.parse(path.read_text()).rules
    assert "ending" in bad("rules", desk / "model.json", "-o", tmp_path / "rules.doc")


def test_members_of_a_committee(desk, tmp_path):
    document = json.loads((desk / "model.json").read_text())
    document["settings"]["n_estimators"] = 2
    document["members"].append(document["initial"])
    target = write(tmp_path / "two.json", json.dumps(document))
    first, second = (good("rules", target, "--member", number) for number in (1, 2))
    assert first.stdout == good("rules", desk / "model.json").stdout
    assert first.stdout != second.stdout
    assert "Member 2 of 2" in second.stderr
    assert "There is no member 3" in bad("rules", target, "--member", 3)


def test_models_that_were_not_trained(desk, tmp_path):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    written = "VARIABLE weight: heavy = Gaussian(4, 1)\n"
    expert = MISugeno(rules=written + "IF weight is heavy THEN red = 1\nIF anything THEN red = 0 WITH 0.1").fit(bags)
    expert.save(tmp_path / "expert.json")
    columns = ["--bag", "box", "--label", "color"]
    assert "b3,red" in good("predict", tmp_path / "expert.json", desk / "boxes.csv", *columns).stdout
    assert "has no curves" in bad("plot", "curves", tmp_path / "expert.json", "-o", tmp_path / "c.png")
    arguments = ["fit", desk / "boxes.csv", *columns, "--continue", tmp_path / "expert.json"]
    assert "is not trained" in bad(*arguments, "-o", tmp_path / "x.json")
    MIMamdani(n_rules=2, random_state=0).fit(bags).save(tmp_path / "sets.json")
    assert "VARIABLE weight" in good("rules", tmp_path / "sets.json").stdout
    naming = ["--bag-column", "box", "--label-column", "color"]
    arguments = ["explain", tmp_path / "sets.json", desk / "boxes.csv", "--bag", "b3", *naming]
    assert "has no explanations" in bad(*arguments)
    assert "cannot be drawn" in bad("plot", "membership", tmp_path / "sets.json", "-o", tmp_path / "c.png")


# ---------------------------------------------------------------------- figures and the page


@pytest.mark.parametrize("kind", [*Kind])
def test_every_kind_of_figure(desk, tmp_path, kind):
    target = tmp_path / "figure.svg"
    one = ["--bag", "b1"] if kind is Kind.explanation else []
    good("plot", kind, desk / "model.json", desk / "boxes.csv", *one, "-o", target)
    assert "<svg" in target.read_text()[:1000]


def test_figures_without_data(desk, tmp_path):
    result = good("plot", "surface", desk / "model.json", "--json", "-o", tmp_path / "s.png")
    assert json.loads(result.stdout) == {"figure": str(tmp_path / "s.png"), "kind": "surface"}
    assert "weight across, length upwards (guessed" in result.stderr
    assert "needs bags" in bad("plot", "firing", desk / "model.json", "-o", tmp_path / "f.png")
    assert "name the data too" in bad("plot", "grid", desk / "model.json", "--bag", "b1", "-o", tmp_path / "f.png")
    assert "ending" in bad("plot", "grid", desk / "model.json", "-o", tmp_path / "f.doc")
    assert "name a file" in bad("plot", "grid", desk / "model.json", "-o", "-")
    space = ["plot", "space", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "f.png"]
    assert "come together" in bad(*space, "--x", "weight")


def test_the_page(desk, tmp_path):
    target = tmp_path / "page.html"
    arguments = ["report", desk / "model.json", desk / "boxes.csv", "-o", target, "--no-cross-validate"]
    result = good(*arguments, "--title", "Boxes", "--json")
    assert json.loads(result.stdout)["bytes"] == target.stat().st_size
    assert "Boxes" in target.read_text(encoding="utf-8")
    assert "open it in a browser" in result.stderr
    assert "name a file" in bad(*arguments[:3], "-o", "-")


# ---------------------------------------------------------------------- data


def test_benchmark_sets(tmp_path, monkeypatch):
    monkeypatch.delenv("FUZZYMIL_DATA", raising=False)
    assert good("data", "list").stdout.splitlines()[2].split() == ["musk1", "MUSK", "1", "92", "47", "476", "166"]
    assert [each["name"] for each in json.loads(good("data", "list", "--json").stdout)][-1] == "elephant"
    assert "CC BY 4.0" in good("data", "describe", "musk1").stdout
    assert json.loads(good("data", "describe", "fox", "--json").stdout)["n_bags"] == 200
    assert "Did you mean 'musk1'" in bad("data", "fetch", "msk1", "-o", tmp_path)
    assert "--folder" in bad("data", "fetch", "musk1", "--folder", tmp_path / "nowhere", "-o", tmp_path)


def test_fetch_from_a_folder(tmp_path, monkeypatch, desk):
    import fuzzymil.datasets

    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    monkeypatch.setattr(fuzzymil.datasets, "load_fox", lambda folder: bags)
    result = good("data", "fetch", "fox", "-o", tmp_path / "new", "--json")
    assert json.loads(result.stdout)[0]["n_bags"] == 12
    assert len(read_bags(tmp_path / "new" / "fox.csv")) == 12
    assert "is a file" in bad("data", "fetch", "fox", "-o", tmp_path / "new" / "fox.csv")


def test_describe_a_file(desk):
    arguments = ["data", "describe", desk / "boxes.csv", "--bag", "box", "--label", "color"]
    lines = good(*arguments).stdout.splitlines()
    assert lines[0] == "12 bags, 36 instances, 2 features, 3 instances per bag; 0 missing values"
    assert lines[1] == "labels: blue (6 bags), red (6 bags)"
    assert [line.split()[0] for line in lines[5:]] == ["weight", "length"]
    found = json.loads(good(*arguments, "--json").stdout)
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    assert found["features"][0]["greatest"] == bags.instances[:, 0].max()


@pytest.mark.parametrize("ending", [".arff", ".svm", ".mat", ".txt", ".csv.gz", ""])
def test_convert_there_and_back(desk, tmp_path, ending):
    path = tmp_path / f"boxes{ending}"
    columns = ["--bag", "box", "--label", "color"]
    source = write(tmp_path / "numbers.csv", table(labels=("1", "0")))
    result = good("data", "convert", source, path, *columns, "--json")
    assert json.loads(result.stdout)["n_bags"] == 12
    back = read_bags(path)
    np.testing.assert_array_equal(back.instances, read_bags(source, bag="box", label="color").instances)


def test_convert_in_a_pipe(desk):
    arguments = ["data", "convert", "-", "-", "--bag", "box", "--label", "color"]
    result = good(*arguments, input=(desk / "boxes.csv").read_bytes())
    assert result.stdout.splitlines()[0] == "bag,label,weight,length"
    assert len(result.stdout.splitlines()) == 37
    assert "both go to standard output" in bad(*arguments, "--json", input=b"")


# ---------------------------------------------------------------------- the rest


def test_bench(monkeypatch):
    monkeypatch.setattr(bench, "SIZES", ((6, 2, 2),))
    monkeypatch.setattr(bench, "EPOCHS", 2)
    found = json.loads(good("bench", "--repeats", 1, "--json").stdout)
    assert found["sizes"][0]["n_bags"] == 6
    assert found["sizes"][0]["first_fit_s"] > 0
    assert "predict a bag" in good("bench", "--repeats", 1).stdout


def commands():
    return [[name] for name in ORDER if name != "data"] + [
        ["data", name] for name in ("list", "fetch", "describe", "convert")
    ]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_help_with_an_example(command):
    text = good(*command, "--help").stdout
    assert "Example" in text
    assert f"fuzzymil {' '.join(command)}" in text
    assert "--json" in text


def test_commands_are_listed_in_the_order_of_use():
    lines = good("--help").stdout.splitlines()
    found = [line.strip("│ ").split()[0] for line in lines if line.startswith("│ ") and line[2] not in " -"]
    assert found == list(ORDER)


def test_completion():
    assert list(_options.format_names("s")) == ["svmlight"]
    assert set(_options.format_names("")) == set(FORMATS)
    assert "loss=" in list(_options.setting_names("lo"))
    assert list(evaluate.method_names("misv")) == ["MISVM", "MiSVM"]
    assert data_commands.set_names("m") == ["musk1", "musk2"]
    asked = {"_FUZZYMIL_COMPLETE": "complete_bash", "COMP_WORDS": "fuzzymil pl", "COMP_CWORD": "1"}
    assert run(env=asked).stdout.split() == ["plot"]


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "fuzzymil", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("fuzzymil ")


def test_the_story_in_the_examples_can_be_made_again():
    import importlib.util
    from pathlib import Path

    folder = Path(__file__).parents[2] / "examples"
    spec = importlib.util.spec_from_file_location("make_visits", folder / "make_visits.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with open(folder / "visits.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == made.COLUMNS
    assert rows == [[str(value) for value in row] for row in made.rows()]
    bags = read_bags(folder / "visits.csv", bag="user", label="converted")
    assert (bags.n_bags, (bags.labels == "yes").sum()) == (made.N_BUYERS + made.N_OTHERS, made.N_BUYERS)


def test_advice_on_missing_values_can_be_followed(desk, tmp_path):
    lines = table().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ","
    data = write(tmp_path / "gap.csv", "\n".join(lines) + "\n")
    message = bad("predict", desk / "model.json", data)
    assert "bag b0" in message.lower()
    assert "fit the model with --set missing=ignore" in message
    good("fit", data, "--bag", "box", "--label", "color", "--set", "missing=ignore", *SMALL, "-o", tmp_path / "m.json")
    good("predict", tmp_path / "m.json", data)


def test_advice_on_the_format_to_write_can_be_followed(desk, tmp_path):
    common = ("data", "convert", desk / "boxes.csv", tmp_path / "out.foo", "--bag", "box", "--label", "color")
    assert "or give --to" in bad(*common)
    good(*common, "--to", "csv")


def test_the_ending_of_a_figure_is_checked_before_anything_is_told(desk, tmp_path):
    result = run("explain", desk / "model.json", desk / "boxes.csv", "--bag", "b1", "--figure", tmp_path / "a.xyz")
    assert result.exit_code == 2
    assert not result.stdout
