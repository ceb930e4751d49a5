"""Run commands in tests."""

import numpy as np
from typer.testing import CliRunner

from fuzzymil.cli import app

NETWORK = ["--method", "mi-anfis"]
SMALL = [*NETWORK, "--n-rules", "2", "--max-epochs", "3"]
COLUMNS = ["--bag", "box", "--label", "color"]


def run(*arguments, **settings):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)


def good(*arguments, **settings):
    """Run a command that succeeds."""
    result = run(*arguments, **settings)
    assert result.exit_code == 0, result.output
    return result


def bad(*arguments, **settings):
    """Run a command that fails because of its user, and return what it says."""
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


def write(path, text):
    path.write_text(text)
    return path
