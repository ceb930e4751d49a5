"""What works without any extra, as after a bare ``pip install .``, and what the rest says instead."""

import re
import subprocess
import sys

import pytest

EXTRAS = (
    "jax",
    "optax",
    "starlette",
    "uvicorn",
    "websockets",
    "anywidget",
    "dask",
    "distributed",
    "h5py",
    "openpyxl",
    "ray",
)
HIDDEN = f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))  # as if they were not installed\n"
START = (
    HIDDEN
    + """
from fuzzymil import *
from fuzzymil.datasets import make_two_concepts
bags = make_two_concepts(random_state=3)
"""
)
WARD = "VARIABLE x: low = Gaussian(0, 1), high = Gaussian(1, 1)\\nOUTPUT y FROM 0 TO 1: few = Triangular(-1, 0, 1), "
WARD += "many = Triangular(0, 1, 2)\\nIF x is low THEN y is few\\nIF x is high THEN y is many"
DOORS = {
    "MIANFISClassifier().fit(bags)": "train",
    "MIANFISClassifier().partial_fit(bags, bags.labels, classes=[0, 1])": "train",
    f"MIMamdani(rules='{WARD}', max_epochs=2).fit([[0.0], [1.0]], [0, 1])": "train",
    "from fuzzymil.comparators import MiNet; MiNet().fit(bags, bags.labels)": "train",
    "with use_engine('jax'): RuleBase.from_arrays([[0.0]], [[1.0]], [1.0]).infer([[[0.0]]])": "train",
    "from fuzzymil.learn.train import train_groups": "train",
    "from fuzzymil.studio.server import serve": "studio",
    "RuleBase.from_arrays([[0.0]], [[1.0]], [1.0]).studio(bags)": "notebook",
    "open('x.xlsx', 'wb').close(); from fuzzymil.datasets import read_bags; read_bags('x.xlsx')": "excel",
    "open('x.h5', 'wb').close(); from fuzzymil.datasets import read_bags; read_bags('x.h5')": "hdf5",
    # Last, because scikit-learn looks at PyArrow if it is loaded.
    "sys.modules['pyarrow'] = None; from fuzzymil.datasets import write_bags; write_bags(bags, 'x.parquet')": "parquet",
}
"""Code that needs an extra, and its name."""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_choosing_predicting_explaining_and_reporting_do_not_need_jax(tmp_path):
    said = run(
        f"""{START}
import numpy as np
from fuzzymil.report import write_report
model = RuleClassifier(random_state=0).fit(bags[::2])
print(model.score(bags[1::2]))
print(model.explain(bags[:1]))
write_report(model, bags, {str(tmp_path / "report.html")!r}, n_folds=2)
from fuzzymil import RuleBase
wide = RuleBase.from_arrays(np.zeros((30, 100)), np.ones((30, 100)), np.arange(30.0))
print(wide.infer(np.zeros((25_000, 100))).output.shape)  # large enough for JAX, if there was any
"""
    )
    assert float(said.splitlines()[0]) > 0.95
    assert "Rule 1" in said
    assert "(25000, 1)" in said
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_whatever_needs_an_extra_names_it():
    tries = "".join(f"try:\n    {code}\nexcept ImportError as problem:\n    print(problem)\n" for code in DOORS)
    said = run(START + tries).splitlines()
    assert len(said) == len(DOORS)
    for line, extra in zip(said, DOORS.values(), strict=True):
        assert re.search(rf"pip install ['\"]fuzzymil\[{extra}\]['\"]", line)


@pytest.mark.slow
def test_every_command_has_its_help():
    said = run(f"""{HIDDEN}
from typer.main import get_command
from typer.testing import CliRunner
from fuzzymil.cli import app
commands = get_command(app).commands
for words in [*([name] for name in commands), *(["data", name] for name in commands["data"].commands)]:
    shown = CliRunner().invoke(app, [*words, "--help"])
    print(shown.exit_code, "Usage" in shown.output, *words)
""").splitlines()
    assert len(said) > 14
    assert all(line.startswith("0 True") for line in said)
