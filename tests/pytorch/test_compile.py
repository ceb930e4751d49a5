"""`FuzzyBagHead` under ``torch.compile``: one graph, the same values and gradients."""

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from fuzzymil import InputError, RuleBase  # noqa: E402
from fuzzymil.torch import FuzzyBagHead  # noqa: E402

PAPER = RuleBase.from_arrays([[0.0, 0.5], [1.0, -1.0]], [[0.5, 1.0], [0.8, 0.7]], np.ones((2, 1, 3)))
WRITTEN = RuleBase.parse("""
VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3)
VARIABLE b: low = Triangular(-2, 0, 2)
IF a is low AND b is very low THEN y = 1 + 2*a - b
IF a is high OR NOT (b is low) THEN y = -1 WITH 0.5
""")
QUANTIFIED = RuleBase.parse("""
VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3)
VARIABLE b: low = Triangular(-2, 0, 2)
Default: y = 0.5
IF SOME (a is low AND b is low) AND MOST a is high THEN y += 1
IF AT LEAST 2 a is high OR NOT (ALL b is low) THEN y -= 2
""")
WITHOUT_CODE = "aot_eager"  # traces everything, gradients too, but generates no code
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"),  # the compiler uses parts of itself that are to go
]


def found_by(head, function, x, **bags):
    head.zero_grad()
    output = function(x, **bags)
    output.square().sum().backward()
    return [output.detach(), *(parameter.grad for parameter in head.parameters())]


@pytest.mark.parametrize(
    ("rules", "backend"),
    [(PAPER, WITHOUT_CODE), (WRITTEN, WITHOUT_CODE), (QUANTIFIED, WITHOUT_CODE), (PAPER, "inductor")],
    ids=["paper", "written", "quantified", "paper, to code"],
)
def test_it_compiles_to_one_graph(rules, backend):
    if backend == "inductor" and shutil.which("g++") is None:
        pytest.skip("generating code for a CPU needs g++")
    torch.compiler.reset()
    head = FuzzyBagHead(rules, dtype=torch.float64)
    compiled = torch.compile(head, fullgraph=True, backend=backend)
    values = torch.randn(13, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    cases = [{"offsets": torch.tensor([0, 2, 9, 13])}, {"mask": torch.arange(4) < torch.tensor([[4], [1], [3]])}]
    for x, bags in list(zip((values, values[:12].reshape(3, 4, 2)), cases, strict=True))[backend == "inductor" :]:
        expected, found = found_by(head, head, x, **bags), found_by(head, compiled, x, **bags)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_compiled_gradients_of_an_instance_infinitely_far_away():
    torch.compiler.reset()
    head = FuzzyBagHead(RuleBase.from_arrays(PAPER.centers, np.full((2, 2), 0.5), [0, 1]), dtype=torch.float64)
    compiled = torch.compile(head, fullgraph=True, backend=WITHOUT_CODE)
    x = torch.tensor([[0.0, 1.0], [torch.inf, 0.0], [1.0, -1.0]], dtype=torch.float64)
    rows = {"offsets": torch.tensor([0, 2, 3])}
    expected, found = found_by(head, head, x, **rows), found_by(head, compiled, x, **rows)
    for one, other in zip(found, expected, strict=True):
        assert other.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_compiled_programs_check_lists_of_offsets():
    torch.compiler.reset()
    head, x = FuzzyBagHead(PAPER), torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    index = torch.tensor([0, 0, 1, 1, 1])
    expected = head(x, offsets=[0, 2, 5])
    compiled = torch.compile(head, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x, offsets=[0, 2, 5]), expected)
    assert torch.equal(compiled(x, index=index, n_bags=2), expected)
    with pytest.raises(InputError, match=r"offsets\[2\] = 2"):
        torch.compile(head, backend="eager")(x, offsets=[0, 4, 2, 5])
