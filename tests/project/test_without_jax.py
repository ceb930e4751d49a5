"""What works without JAX, an extra that only training needs, and what the rest says instead."""

import subprocess
import sys

import pytest

HIDDEN = "import sys\nsys.modules['jax'] = sys.modules['optax'] = None  # as if they were not installed\n"
START = (
    HIDDEN
    + """
from fuzzymil import MIANFISClassifier, MIMamdani, MissingExtraError, RuleClassifier, use_engine
from fuzzymil.datasets import make_two_concepts
bags = make_two_concepts(random_state=3)
"""
)
WARD = "VARIABLE x: low = Gaussian(0, 1), high = Gaussian(1, 1)\\nOUTPUT y FROM 0 TO 1: few = Triangular(-1, 0, 1), "
WARD += "many = Triangular(0, 1, 2)\\nIF x is low THEN y is few\\nIF x is high THEN y is many"
DOORS = {
    "networks": "MIANFISClassifier().fit(bags)",
    "networks, in part": "MIANFISClassifier().partial_fit(bags, bags.labels, classes=[0, 1])",
    "Mamdani rules": f"MIMamdani(rules='{WARD}', max_epochs=2).fit([[0.0], [1.0]], [0, 1])",
    "a comparator": "from fuzzymil.comparators import MiNet; MiNet().fit(bags, bags.labels)",
    "the engine": "from fuzzymil import RuleBase\n"
    "    with use_engine('jax'): RuleBase.from_arrays([[0.0]], [[1.0]], [1.0]).infer([[[0.0]]])",
    "the driver": "from fuzzymil.learn.train import train_groups",
}


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
def test_whatever_needs_jax_names_the_extra():
    tries = "".join(
        f"try:\n    {code}\nexcept MissingExtraError as problem:\n    print('{name}:', problem)\n"
        for name, code in DOORS.items()
    )
    said = run(START + tries).splitlines()
    assert [line.partition(":")[0] for line in said] == list(DOORS)
    assert all('pip install "fuzzymil[train]"' in line for line in said)
