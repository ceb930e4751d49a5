"""A short run of the fuzzer over every kind of file, and the files that once did harm."""

from pathlib import Path

import pytest
import run
import targets

CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").glob("*/*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("target", targets.TARGETS)
def test_no_mutation_does_harm(target, tmp_path):
    counts, failures = run.run(target, 500, 0, tmp_path)
    assert counts.total() == 500
    assert failures == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_that_once_did_harm(path, tmp_path, monkeypatch):
    monkeypatch.setenv("FUZZYMIL_MEMORY", str(run.BUDGET))
    kind, why = run.outcome(path.parent.name, path.read_bytes(), tmp_path)
    assert kind in ("read", "refused"), why


def test_every_target_has_a_corpus():
    assert {path.parent.name for path in CORPUS} == {*targets.TARGETS}


def test_a_bug_is_noticed(tmp_path, monkeypatch):
    broken = targets.Target(lambda folder: [b"x"], lambda rng, content: content, lambda content, folder: 1 / 0)
    monkeypatch.setitem(targets.TARGETS, "broken", broken)
    assert run.outcome("broken", b"", tmp_path)[0] == "internal"
    silent = targets.SilentDifferenceError("no")

    def differs(content, folder):
        raise silent

    monkeypatch.setitem(targets.TARGETS, "broken", targets.Target(broken.seeds, broken.mutate, differs))
    assert run.outcome("broken", b"", tmp_path)[0] == "difference"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harm", "kind"),
    [("os.abort()", "crash"), ("time.sleep(99)", "hang"), ("len(b'x' * 1_200_000_000)", "memory")],
)
def test_a_child_that_dies_is_replaced(tmp_path, harm, kind):
    """The same script with a target that does harm on one of five files."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, time\n"
        f"sys.path.insert(0, {str(Path(run.__file__).parent)!r})\n"
        "import run, targets\n"
        "from pathlib import Path\n"
        "run.__file__, run.SECONDS = __file__, 15\n"
        "def check(content, folder):\n"
        f"    if content == b'2': {harm}\n"
        "    return True\n"
        "run.case = lambda target, seed, number, contents: str(number).encode()\n"
        "targets.TARGETS['harmful'] = targets.Target(lambda folder: [b'x'], None, check)\n"
        "if '--worker' in sys.argv:\n"
        "    run.work(*sys.argv[2:4], *map(int, sys.argv[4:6]), Path(sys.argv[6]))\n"
        "else:\n"
        f"    counts, failures = run.run('harmful', 5, 0, Path({str(tmp_path / 'out')!r}))\n"
        f"    assert counts == {{'read': 4, {kind!r}: 1}}, counts\n"
        "    assert [*failures] == [2], failures\n"
    )
    import subprocess
    import sys

    found = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr


def test_cases_are_reproducible(tmp_path):
    contents = targets.TARGETS["csv"].seeds(tmp_path)
    one, other = ([run.case("csv", seed, n, contents) for n in range(20)] for seed in (1, 1))
    assert one == other
    assert one != [run.case("csv", 2, n, contents) for n in range(20)]
