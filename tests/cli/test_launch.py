"""Streams, and several processes: ``fit --stream``, ``fit --distributed`` and ``launch``."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from runner import SMALL, bad, good

from fuzzymil import BagStream, load_model
from fuzzymil.cli import _console
from fuzzymil.datasets import make_two_concepts, write_bags
from fuzzymil.learn.train.distributed import processes

SETTINGS = [*SMALL, "--set", "rule_keep_prob=none"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("scaling")
    bags = make_two_concepts(20, 20, random_state=0)
    write_bags(bags, place / "bags.csv")
    write_bags(BagStream.from_bags(bags, 4), place / "bags.parquet")
    return place


def numbers_of(path):
    rules = load_model(path).rules_
    return np.concatenate([rules.centers.ravel(), rules.coefs.ravel()])


@pytest.mark.slow
def test_a_stream_gives_the_model_of_the_table(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.datasets.formats.parquet.PART", 1)
    good("fit", folder / "bags.csv", *SETTINGS, "-o", tmp_path / "whole.json")
    result = good("fit", folder / "bags.parquet", "--stream", *SETTINGS, "-o", tmp_path / "stream.json")
    assert "60 bags" in result.stderr
    assert "in 4 parts" in result.stderr
    assert "RMSE" in result.stdout
    np.testing.assert_allclose(numbers_of(tmp_path / "stream.json"), numbers_of(tmp_path / "whole.json"), atol=1e-4)
    streamed = ["fit", folder / "bags.parquet", "--stream", *SETTINGS, "--json", "-o", tmp_path / "m.json"]
    facts = json.loads(good(*streamed).stdout)
    assert facts["n_rules"] == 2
    assert facts["score_on_training_bags"] is None


def test_what_cannot_be_streamed(folder, tmp_path):
    assert "fuzzymil data convert" in bad("fit", folder / "bags.csv", "--stream", "-o", tmp_path / "m.json")
    assert "Standard input" in bad("fit", "-", "--stream", "-o", tmp_path / "m.json", input="")
    assert "'nothing'" in bad("fit", folder / "bags.parquet", "--stream", "--label", "nothing")
    assert not list(tmp_path.iterdir())


def test_one_process_of_several_writes_the_model(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_console, "_quiet", [False])
    monkeypatch.setattr(processes, "_joined", processes.ProcessGroup())
    good("fit", folder / "bags.csv", "--distributed", *SMALL, "-o", tmp_path / "first.json")
    assert (tmp_path / "first.json").exists()


def launched(*arguments):
    command = [sys.executable, "-m", "fuzzymil", "launch", "-n", "2", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_launched_processes_give_one_model_and_one_answer(folder, tmp_path):
    done = launched("fit", folder / "bags.csv", *SETTINGS, "--json", "-o", tmp_path / "two.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_bags"] == 60  # nothing else on standard output
    assert done.stderr.count("60 bags") == 1
    good("fit", folder / "bags.csv", *SETTINGS, "-o", tmp_path / "one.json")
    np.testing.assert_allclose(numbers_of(tmp_path / "two.json"), numbers_of(tmp_path / "one.json"), atol=1e-5)


@pytest.mark.slow
def test_launch_reports_what_went_wrong(folder, tmp_path):
    done = launched("fit", folder / "none.csv", "-o", tmp_path / "m.json")
    assert done.returncode == 2
    assert "none.csv" in done.stderr
    assert re.search(r"of 2 .* status 2\b", done.stderr)
    assert "Traceback" not in done.stderr
    assert "Did you mean 'fit'?" in bad("launch", "fot", "bags.csv")


LISTENING = """
import os, sys
from fuzzymil.learn.train import distributed

rank = distributed.join().rank
opened = set()
for number in range(256):
    if os.path.islink(f"/proc/self/fd/{number}"):
        opened.add(os.readlink(f"/proc/self/fd/{number}"))
for name in ("tcp", "tcp6"):
    for line in open(f"/proc/net/{name}").readlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in opened:
            print("listening on", fields[1].partition(":")[0], file=open(f"{sys.argv[1]}/{rank}", "a"))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc/net")
def test_launched_processes_listen_on_the_loopback_interface_only(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LISTENING)
    (tmp_path / "found").mkdir()
    done = launched(script, tmp_path / "found")
    assert done.returncode == 0, done.stderr
    found = [path.read_text().split() for path in sorted((tmp_path / "found").iterdir())]
    assert len(found) == 2
    addresses = {words for lines in found for words in lines if words not in ("listening", "on")}
    assert addresses
    assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
