"""Commands that are killed where it matters, and what they open and connect to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "failpoints.py"


def killed(*commands):
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, SCRIPT, *commands], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_killed_command_leaves_the_old_file_or_the_new_one():
    commands = ["fit", "explain --figure", "data convert", "data convert, folder", "studio", "own file"]
    assert killed(*commands).count(" kills (") == len(commands)  # make soak kills them all


AUDIT = """
import os, pathlib, sys, tempfile
opened, asked = set(), []

def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        opened.add(os.path.abspath(arguments[0]))
    elif event in ("os.mkdir", "os.rename", "os.symlink", "os.link"):
        opened.add(os.path.abspath(os.fspath(arguments[1 if event == "os.rename" else 0])))
    elif event in ("socket.connect", "socket.getaddrinfo"):
        asked.append(arguments)

sys.addaudithook(hook)
from fuzzymil import RuleClassifier, load_model
from fuzzymil.datasets import make_two_concepts, read_bags, write_bags
from fuzzymil.rules.files import write_rules
write_bags(make_two_concepts(8, 8, random_state=0), "bags.csv")
bags = read_bags("bags.csv")
model = RuleClassifier(random_state=0).fit(bags)
model.save("model.json")
load_model("model.json").explain(bags, position=0)
write_rules(model.rules_, "rules.json")
here, temporary = os.getcwd(), tempfile.gettempdir()
odd = [each for each in opened if os.path.dirname(each) != here and not each.startswith((temporary, "/dev/"))]
print(odd, asked)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a fit, and what comes before and after it, opens for writing elsewhere, and what it connects to."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    folder = tmp_path_factory.mktemp("seen")
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split("] ")


@pytest.mark.slow
def test_nothing_is_written_elsewhere(seen):
    assert seen[0] == "["


@pytest.mark.slow
def test_nothing_connects_to_other_machines(seen):
    assert seen[1].strip() == "[]"
