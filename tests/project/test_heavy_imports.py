"""Which of the heavy libraries each command loads: a person waits for every one of them."""

import subprocess
import sys
from pathlib import Path

import pytest

VISITS = Path(__file__).parents[2] / "examples" / "visits.csv"
COLUMNS = ["--bag", "user", "--label", "converted"]
HEAVY = ("jax", "matplotlib", "optax", "pandas", "rich", "scipy", "scipy.stats", "sklearn", "torch")
LEARNING = {"pandas", "rich", "scipy", "scipy.stats", "sklearn"}  # scikit-learn loads SciPy, pandas and rich
DRAWING = {*LEARNING, "matplotlib"}
TRAINING = {*LEARNING, "jax", "optax"}


def loaded(code, folder, *arguments):
    """Return the heavy libraries that a new process has loaded after running the code."""
    tell = f"print('loaded', *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    script = f"import atexit, sys\natexit.register(lambda: {tell})\n{code}"
    run = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split()[1:])


def command(folder, *arguments):
    return loaded("from fuzzymil.cli import main\nmain()", folder, *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, whose fit may load scikit-learn but not JAX: nothing is trained."""
    made = tmp_path_factory.mktemp("commands")
    assert command(made, "fit", str(VISITS), *COLUMNS, "--output", "model.json") <= LEARNING
    return made


@pytest.mark.parametrize(
    ("arguments", "may"),
    [
        (["--version"], set()),
        (["--help"], {"rich"}),
        (["cache"], set()),
        (["rules", "model.json"], set()),
        (["data", "describe", str(VISITS), *COLUMNS[:2], "--drop", "converted"], set()),
        (["predict", "model.json", str(VISITS), *COLUMNS], set()),
        (["explain", "model.json", str(VISITS), *COLUMNS, "--id", "u001"], set()),
        pytest.param(["plot", "membership", "model.json"], DRAWING, marks=pytest.mark.slow),
        pytest.param(["report", "model.json", str(VISITS), *COLUMNS, "--folds", "2"], DRAWING, marks=pytest.mark.slow),
        pytest.param(["evaluate", str(VISITS), *COLUMNS, "--folds", "2"], LEARNING, marks=pytest.mark.slow),
        pytest.param(
            ["evaluate", str(VISITS), *COLUMNS, "--folds", "2", "--compare", "MiNet"], TRAINING, marks=pytest.mark.slow
        ),
        pytest.param(
            ["fit", str(VISITS), *COLUMNS, "--method", "mi-anfis", "--max-epochs", "2", "-o", "net.json"],
            TRAINING,
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(folder, arguments, may):
    assert command(folder, *arguments) <= may


@pytest.mark.parametrize("name", ["rules", "predict", "cache"])
def test_a_command_does_not_load_the_others(name):
    script = "import sys\nfrom fuzzymil.cli import _register\n" + f"_register({name!r})\n"
    script += "print(*[m for m in sys.modules if m.startswith('fuzzymil.cli.') and '._' not in m])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [f"fuzzymil.cli.{name}"]


def test_importing_the_library_loads_nothing(tmp_path):
    assert loaded("import fuzzymil", tmp_path) == set()


def test_rules_are_parsed_inferred_and_diagnosed_in_numpy(tmp_path):
    code = """
from fuzzymil import RuleBase
rules = RuleBase.parse("VARIABLE hue: blue = Gaussian(0.6, 0.1)    IF hue is blue THEN sky = 1")
rules.infer([[[0.6], [0.1]]])
rules.diagnose([[[0.6], [0.1]]])
"""
    assert loaded(code, tmp_path) == set()
