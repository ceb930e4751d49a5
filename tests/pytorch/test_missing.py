"""Without PyTorch, everything else works, and an error names the extra."""

import subprocess
import sys

WITHOUT = "import sys; sys.modules['torch'] = None\n"


def test_the_error_names_the_extra():
    code = WITHOUT + "import fuzzymil; fuzzymil.RuleBase\nimport fuzzymil.torch"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("fuzzymil.MissingExtraError: fuzzymil.torch needs PyTorch")
    assert 'pip install "fuzzymil[torch]"' in run.stderr
