"""Sixty mistakes of the first hour, thirty on the command line and thirty in Python, and what users are told.

A message is graded: 0 a traceback that is none of ours, 1 unclear, 2 it names the cause, 3 the cause and what to do.
Run this file to see all messages with their grades.
"""

import json
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from fuzzymil import Bags, InputError, ParameterError, RuleBase, RuleClassifier, RuleRegressor, load_model
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.cli import app
from fuzzymil.datasets import read_bags

# ---------------------------------------------------------------------- the desk of a beginner


def visits(label=lambda user, visit: "yes" if user % 2 else "no", n_users=16):
    rng = np.random.default_rng(0)
    rows = [
        (
            f"u{user:02d}",
            label(user, visit),
            f"{rng.normal(3 * (user % 2) * (visit == 0), 0.3):.3f}",
            f"{rng.uniform():.2f}",
        )
        for user in range(n_users)
        for visit in range(3)
    ]
    return "user,converted,seconds,pages\n" + "".join(",".join(row) + "\n" for row in rows)


def lay_out(folder):
    """Write the files that the mistakes are made with."""
    good = visits()
    files = {
        "visits.csv": good,
        "one.csv": visits(lambda user, visit: "no"),
        "gaps.csv": visits(lambda user, visit: "" if user == 3 else "yes" if user % 2 else "no"),
        "rows.csv": visits(lambda user, visit: "yes" if visit == 0 else "no"),
        "renamed.csv": good.replace("seconds", "duration"),
        "title.csv": f"Visits in March\n\n{good}",
        "comma.csv": good.replace(",", ";").replace(".", ","),
        "header.csv": good.split("\n")[0] + "\n",
        "unlabeled.csv": re.sub(r"(?m)^(\w+),\w+,", r"\1,", good),
        "users.csv": "user,buyer\n" + "".join(f"u{n:02d},{n % 2}\n" for n in range(16)),
        "fewer.csv": "user,buyer\n" + "".join(f"u{n:02d},{n % 2}\n" for n in range(12)),
        "others.csv": "user,buyer\n" + "".join(f"visitor {n},{n % 2}\n" for n in range(16)),
        "wide.csv": "user,age,buyer\n" + "".join(f"u{n:02d},{20 + n},{n % 2}\n" for n in range(16)),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "data.pkl").write_bytes(b"\x80\x04\x95\x10\x00")
    (folder / "slides").mkdir()
    for n in range(4):
        np.save(folder / "slides" / f"s{n}.npy", np.full((2, 3), float(n)))
    rules = "VARIABLE seconds: long = Gaussian(3, 1)\nVARIABLE pages: many = Gaussian(1, 1)\n"
    rules += "IF seconds is long AND pages is many THEN yes = 1\nIF anything THEN yes = 0 WITH 0.1\n"
    (folder / "expert.rules").write_text(rules)
    model = RuleClassifier(random_state=0).fit(read_bags(folder / "visits.csv", bag="user", label="converted"))
    model.save(folder / "model.json")


COLUMNS = "--bag user --label converted"

# What is typed after "fuzzymil"; what has to be said of the cause; and of what to do.
COMMANDS = [
    (f"train visits.csv {COLUMNS}", "train", r"\bfit\b"),
    (f"fit visit.csv {COLUMNS}", "not found: visit.csv", "Did you mean '?visits.csv"),
    ("fit visits.csv --bag user --target converted", "--target", "--label"),
    ("fit visits.csv", "bag", "--bag user"),
    ("fit visits.csv --bag user", "label", "--label converted"),
    (f"fit visits.csv {COLUMNS}".replace("user", "usr"), "usr", "Did you mean 'user'"),
    (f"fit one.csv {COLUMNS}", "one class.*no", "Check --label"),
    (f"fit gaps.csv {COLUMNS}", "no label", "--drop-unlabeled"),
    (f"fit rows.csv {COLUMNS}", "two labels|varies", "instance_label|one label per bag"),
    (f"fit visits.csv {COLUMNS} --method rulez", "rulez", "mi-anfis"),
    (f"fit visits.csv {COLUMNS} --set max_rule=3", "max_rule", "--n-rules|max_rules"),
    (f"fit visits.csv {COLUMNS} --alpha 5", "alpha", "--method mi-anfis"),
    (f"fit visits.csv {COLUMNS} --task regression", "regression", "classification"),
    (
        "fit visits.csv --bag user --label seconds --task classification",
        "two labels|continuous",
        "one label per bag|task",
    ),
    (f"fit visits.csv {COLUMNS} -o there/model.json", "there", "[Cc]reate"),
    (f"fit title.csv {COLUMNS}", "line 1|title|header", "header|remove|delete"),
    (f"fit comma.csv {COLUMNS}", "expected a number", "--decimal"),
    (f"fit header.csv {COLUMNS}", "no rows", "export|download"),
    ("evaluate model.json --bag user", "model|JSON", "predict|CSV"),
    ("fit data.pkl", "pickle", "export"),
    ("fit slides --label tumour", "label", "--labels"),
    ("fit slides/s0.npy", "NumPy|one bag|folder", "folder"),
    ("fit visits.csv renamed.csv --bag user", "renamed.csv", "quot"),
    ("fit unlabeled.csv --bag user --labels fewer.csv", "u12", "--drop-unlabeled"),
    ("fit unlabeled.csv --bag user --labels others.csv", "visitor 0.*u00|u00.*visitor 0", "same ids|ids"),
    ("fit unlabeled.csv --bag user --labels wide.csv", "age, buyer|several", "--label"),
    ("predict visits.csv model.json", "model", "model comes first|comes first"),
    ("predict model.json renamed.csv --bag user", "seconds", "duration"),
    ("explain model.json visits.csv --bag user", "16 bags", "--id u00"),
    ("explain model.json visits.csv --bag user --id 07", "07", "u07"),
]


def frame(name="visits.csv"):
    return pd.read_csv(name)


def bags(**changes):
    return Bags.from_frame(frame(), bag="user", label="converted", **changes)


def fitted():
    return RuleClassifier(random_state=0).fit(bags())


ROWS = np.arange(24.0).reshape(12, 2)
LISTS = [ROWS[:2], ROWS[2:5], ROWS[5:6], ROWS[6:]]

# As above, in Python.
CALLS = [
    (
        "a label per bag for rows",
        lambda: RuleClassifier().fit(ROWS, [0, 1, 0, 1]),
        "12 bags but 4",
        "one label per bag",
    ),
    ("a table as it is", lambda: RuleClassifier().fit(frame(), [0, 1]), "text|user", "from_frame"),
    ("no labels", lambda: RuleClassifier().fit(LISTS), "y", "fit\\(X, y\\)"),
    ("predict before fit", lambda: RuleClassifier().predict(LISTS), "not fitted", "fit"),
    ("a misspelled column", lambda: Bags.from_frame(frame(), bag="User"), "'User'", "Did you mean 'user'"),
    ("a label that varies", lambda: Bags.from_frame(frame("rows.csv"), "user", "converted"), "two labels", "transform"),
    (
        "a label is missing",
        lambda: RuleClassifier().fit(Bags.from_frame(frame("gaps.csv"), "user", "converted")),
        "u03.*no label|no label.*u03",
        "drop",
    ),
    ("one class", lambda: RuleClassifier().fit(LISTS, [1, 1, 1, 1]), "one class", "Check the labels"),
    ("too few labels", lambda: RuleClassifier().fit(LISTS, [1, 0, 1]), "4 bags but 3", "one label per bag"),
    (
        "labels of other bags",
        lambda: Bags.from_frame(frame("unlabeled.csv"), "user", labels=frame("others.csv")),
        "visitor 0",
        "ids",
    ),
    (
        "labels of fewer bags",
        lambda: Bags.from_frame(frame("unlabeled.csv"), "user", labels=frame("fewer.csv")),
        "u12",
        "unlabeled=",
    ),
    ("labels without a file", lambda: read_bags("slides", label="tumour"), "label", "labels="),
    (
        "a missing value",
        lambda: RuleClassifier(missing="error").fit([[[1.0]], [[np.nan]]], [0, 1]),
        "missing",
        "missing=",
    ),
    ("an infinite value", lambda: RuleClassifier().fit([[[1.0]], [[np.inf]]], [0, 1]), "infinite", "replace"),
    ("other features", lambda: fitted().predict([[[1.0, 2.0, 3.0]]]), "3 features", "These are seconds, pages"),
    (
        "renamed features",
        lambda: fitted().predict(Bags.from_frame(frame("renamed.csv"), "user", "converted")),
        "duration|seconds",
        "seconds|columns=",
    ),
    (
        "permutation importance",
        lambda: permutation_importance(fitted(), bags(), bags().labels),
        "table|bags",
        r"model\.importance",
    ),
    (
        "a scaler",
        lambda: make_pipeline(StandardScaler(), RuleClassifier()).fit(bags(), bags().labels),
        "one row per",
        "PerInstance",
    ),
    ("an unknown parameter", lambda: RuleClassifier(n_rules=3), "n_rules", "max_rules"),
    ("an unknown value", lambda: RuleClassifier(missing="mean").fit(bags()), "'mean'", "median"),
    ("a parameter out of range", lambda: RuleClassifier(max_rules=0).fit(bags()), "max_rules", "at least 1"),
    ("explain all bags", lambda: fitted().explain(bags()), "16 bags", "bag="),
    ("an unknown bag", lambda: fitted().explain(bags(), bag="u99"), "u99", "u0"),
    ("a missing file", lambda: read_bags("visit.csv", bag="user"), "not found", "Did you mean '?visits.csv"),
    ("a pickle", lambda: read_bags("data.pkl"), "pickle", "export"),
    ("cross_val_score without y", lambda: cross_val_score(RuleClassifier(), 5 * LISTS), "requires y", r"fit\(X, y\)"),
    ("data as a model", lambda: load_model("visits.csv"), "visits.csv is not", "model.save"),
    ("text for a regressor", lambda: RuleRegressor().fit(bags()), "predicts numbers", "use a classifier"),
    (
        "numbers for a classifier",
        lambda: RuleClassifier().fit(LISTS, [0.1, 0.25, 0.37, 1.9]),
        "continuous|numbers",
        "RuleRegressor",
    ),
    (
        "rules with a typo",
        lambda: RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)\nIF x is lwo THEN y = 1"),
        "lwo",
        "Did you mean 'low'",
    ),
]
OURS = (InputError, ParameterError, ModelFileError, NotFittedError, ValueError)


def answer_of_command(text):
    result = CliRunner().invoke(app, text.split())
    ours = result.exception is None or isinstance(result.exception, SystemExit)
    return ours, " ".join(result.output.replace("│", " ").split())


def answer_of_call(call):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except OURS as problem:
        return True, " ".join(str(problem).split())
    except Exception as problem:
        return isinstance(problem, TypeError) and "argument" in str(problem), " ".join(str(problem).split())
    return True, ""


def grade(ours, message, cause, fix):
    if not ours:
        return 0
    return 1 if not re.search(cause, message) else 2 + bool(re.search(fix, message))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("desk"), Path.cwd()
    lay_out(folder)
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(("text", "cause", "fix"), COMMANDS, ids=[text for text, _, _ in COMMANDS])
def test_a_mistake_on_the_command_line(text, cause, fix):
    ours, message = answer_of_command(text)
    assert grade(ours, message, cause, fix) == 3, message


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(("call", "cause", "fix"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_a_mistake_in_python(call, cause, fix):
    ours, message = answer_of_call(call)
    assert grade(ours, message, cause, fix) >= 2, message


if __name__ == "__main__":
    import tempfile

    os.chdir(tempfile.mkdtemp())
    lay_out(Path.cwd())
    grades = []
    for text, cause, fix in COMMANDS:
        ours, message = answer_of_command(text)
        grades.append(grade(ours, message, cause, fix))
        print(grades[-1], "$ fuzzymil", text, "\n    ", message)
    for name, call, cause, fix in CALLS:
        ours, message = answer_of_call(call)
        grades.append(grade(ours, message, cause, fix))
        print(grades[-1], name, "\n    ", message)
    print(json.dumps({"grades": {n: grades.count(n) for n in range(4)}, "n": len(grades)}))
