"""`FuzzyBagHead` on a GPU: the values and gradients of a CPU."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no CUDA device", allow_module_level=True)

from fuzzymil import RuleBase  # noqa: E402
from fuzzymil.torch import FuzzyBagHead  # noqa: E402

RULES = {
    "paper": RuleBase.from_arrays(
        np.random.default_rng(0).normal(size=(6, 25)),
        np.full((6, 25), 3.0),
        np.random.default_rng(1).normal(size=(6, 2, 26)),
    ),
    "written": RuleBase.parse("""
    VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3), points = Discrete(-1, 0, 1, 1)
    VARIABLE b: low = Triangular(-2, 0, 2), drawn = Formula("1 - abs(x)")
    USING t_norm = lukasiewicz
    IF a is low AND b is very low THEN y = 1 + 2*a - b
    IF a is high OR NOT (b is low) THEN y = -1 WITH 0.5
    IF a is points OR b is drawn THEN y = 2
    """),
    "quantified": RuleBase.parse("""
    VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3)
    VARIABLE b: low = Triangular(-2, 0, 2)
    Default: y = 0.5
    IF SOME (a is low AND b is low) AND MOST a is high THEN y += 1
    IF AT LEAST 2 a is high OR NOT (ALL b is low) THEN y -= 2
    """),
}


def found_on(device, head, x, compiled=False, **bags):
    head = copy.deepcopy(head).to(device)
    x = x.detach().clone().to(device).requires_grad_()  # the same tensor is sent to every device
    run = torch.compile(head, fullgraph=True) if compiled else head
    output = run(x, **{name: values.to(device) for name, values in bags.items()})
    output.square().sum().backward()
    slopes = (parameter.grad for parameter in head.parameters() if parameter.grad is not None)
    return [values.cpu() for values in (output.detach(), x.grad, *slopes)]


def cases(n_features, dtype):
    x = torch.randn(1200, n_features, dtype=dtype, generator=torch.Generator().manual_seed(0))
    sizes = torch.tensor([1, 199, 300, 40, 660])
    mask = torch.arange(12) < torch.arange(100)[:, None] % 12 + 1
    return [
        (x, {"offsets": torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])}),
        (x, {"index": torch.arange(1200) % 7}),
        (x.reshape(100, 12, n_features), {"mask": mask}),
    ]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-11), (torch.float32, 1e-3)])
@pytest.mark.parametrize("name", RULES)
def test_values_and_gradients_are_those_of_a_cpu(name, dtype, tolerance):
    head = FuzzyBagHead(RULES[name], dtype=dtype)
    for x, bags in cases(RULES[name].n_features, dtype):
        expected = found_on("cpu", head, x, **bags)
        for one, other in zip(found_on("cuda", head, x, **bags), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * max(1.0, other.abs().max().item()))


@pytest.mark.slow
def test_compiled_values_and_gradients_are_those_of_a_cpu():
    head = FuzzyBagHead(RULES["paper"], dtype=torch.float64)
    for x, bags in cases(25, torch.float64):
        if "index" in bags:  # without n_bags, their number depends on the data
            continue
        expected = found_on("cpu", head, x, **bags)
        for one, other in zip(found_on("cuda", head, x, compiled=True, **bags), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def test_rules_move_between_devices():
    head = FuzzyBagHead(RULES["written"], device="cuda", frozen=["rule 1"])
    head.freeze("rule 2")
    assert head.rules() == RULES["written"]
    with torch.autocast("cuda", dtype=torch.float16):
        assert head(torch.zeros(1, 2, device="cuda"), offsets=[0, 1]).dtype == torch.float32
