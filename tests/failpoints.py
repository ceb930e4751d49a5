"""Kill every command that writes before and after each write, rename and fsync: the old file or the new one stays.

    python tests/failpoints.py

Each command runs once undisturbed and then once for each point that it passes (`fuzzymil._utils.storage.step`), where
it is killed. The exit status is 1 if a file was lost, mixed up or left over after the next run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from fuzzymil._utils import storage
from fuzzymil._utils.own_files import OwnFolder
from fuzzymil.cli import main
from fuzzymil.datasets import make_two_concepts, write_bags
from fuzzymil.learn.train import trainer
from fuzzymil.studio import Session
from fuzzymil.studio.start import demo_bags, demo_document

COMMANDS = {
    "fit": "fit bags.csv -o OUT",
    "fit --checkpoint": "fit bags.csv --method mi-anfis --n-rules 2 --max-epochs 2 --checkpoint kept -o OUT",
    "predict": "predict model.json bags.csv -o OUT",
    "explain": "explain model.json bags.csv --id concept1-1 -o OUT",
    "explain --figure": "explain model.json bags.csv --id concept1-1 --figure OUT.svg",
    "plot": "plot space model.json bags.csv -o OUT.png",
    "report": "report model.json bags.csv --no-cross-validate -o OUT.html",
    "rules": "rules model.json --format json -o OUT",
    "data convert": "data convert bags.csv OUT --to csv",
    "data convert, packed": "data convert bags.csv OUT.csv.gz",
    "data convert, Parquet": "data convert bags.csv OUT.parquet",
    "data convert, MATLAB": "data convert bags.csv OUT.mat",
    "data convert, folder": "data convert bags.csv OUT --to npy",
}
_TIMES = re.compile(rb"20\d\d-\d\d-\d\d[T ]?[\d:.]*|\d\d:\d\d(:\d\d)?|\d[\d.]* s\b|fuzzymil-\d+")


def content(path: Path) -> object:
    """Return what is at a path, without the times that some files tell."""
    if path.is_dir():
        return {each.name: content(each) for each in path.iterdir()}
    return _TIMES.sub(b"", path.read_bytes()) if path.exists() else None


def run(work: Callable[[], object], point: int = 0) -> tuple[int, str]:
    """Do some work in a fork, killed at a point; return its status, negative after a kill, and what it said."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 70
        try:
            os.dup2(write, 1)
            os.dup2(write, 2)
            trainer._CHECKPOINT_SECONDS = 0.0
            if point:
                os.environ["FUZZYMIL_FAILPOINT"] = str(point)
            work()
            status = 0
        except SystemExit as ending:
            status = int(ending.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(write)
    with open(read, "rb") as said:
        told = said.read().decode(errors="replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def kill_everywhere(work: Callable[[], object], reset: Callable[[], None], whole: Callable[[], bool]) -> list[str]:
    """Kill some work at each of its points; return their names. ``whole``: whether files are then as they must be."""
    points: list[str] = []
    while True:
        reset()
        status, told = run(work, len(points) + 1)
        if status == 0:
            return points
        assert status == -signal.SIGKILL, f"status {status} at point {len(points) + 1}:\n{told}"
        points.append(told.rpartition("failpoint: ")[2].strip())
        assert whole(), f"not whole after a kill {points[-1]} (point {len(points)})"


def kill_command(words: str, folder: Path) -> list[str]:
    """Kill a command at each of its points."""
    arguments = [word.replace("OUT", "out") for word in words.split()]
    target = folder / next(word for word in arguments if word.startswith("out"))
    is_folder = words.endswith("npy")

    def work() -> None:
        os.chdir(folder)
        sys.argv = ["fuzzymil", *arguments]
        main()

    def reset() -> None:
        for path in folder.iterdir():
            if path.name not in ("bags.csv", "model.json") and not path.name.startswith("."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not is_folder:  # which must not exist
            target.write_bytes(b"old")

    reset()
    status, told = run(work)
    assert status == 0, told
    new, old, others = content(target), None if is_folder else b"old", {"bags.csv", "model.json", target.name}

    def whole() -> bool:
        left = {path.name for path in folder.iterdir()} - others
        return content(target) in (new, old) and all(name == "kept" or name.endswith(".part") for name in left)

    points = kill_everywhere(work, reset, whole)
    left = {path.name for path in folder.iterdir()} - others
    assert not left, f"left over after the next run: {left}"
    return points


def kill_studio(folder: Path) -> list[str]:
    """Kill an edit, a file that is kept, and the repair of a journal."""
    texts: set[str] = set()

    def session() -> Session:
        return Session(demo_document(), demo_bags(), name="killed", folder=folder)

    def reset() -> None:
        shutil.rmtree(folder / ".fuzzymil-studio", ignore_errors=True)
        one = session()
        texts.add(one.document.text)
        one.close()
        with open(folder / ".fuzzymil-studio" / "killed.journal", "ab") as journal:
            journal.write(b'{"cut')

    def work() -> None:
        one = session()
        one.keep_file("data.csv", b"bag,x\n" * 1000)
        assert one.answer({"type": "set_rule", "number": 1, "weight": 0.5, "revision": one.revision})["ok"]
        assert one.answer({"type": "undo", "revision": one.revision})["ok"]
        one.close()

    one = Session(demo_document(), demo_bags(), name="killed")
    one.answer({"type": "set_rule", "number": 1, "weight": 0.5, "revision": 0})
    texts.add(one.document.text)

    def whole() -> bool:
        storage._looked.clear()  # which is looked at once a minute
        again = session()
        try:
            return again.autosave is None and again.document.text in texts
        finally:
            again.close()
            left = [name for name in os.listdir(folder / ".fuzzymil-studio") if name.endswith(".part")]
            assert not left, left

    return kill_everywhere(work, reset, whole)


def kill_own_file(folder: Path) -> list[str]:
    """Kill the writer of a file whose name the program chose."""
    target = folder / "own"

    def work() -> None:
        with OwnFolder(folder) as own:
            own.write("own", b"new")

    return kill_everywhere(
        work, lambda: target.write_bytes(b"old") and None, lambda: target.read_bytes() in (b"old", b"new")
    )


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "os.fork")  # nothing was computed here
    os.environ["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory(prefix="failpoints-") as name:
        place = Path(name)
        write_bags(make_two_concepts(8, 8, random_state=0), place / "bags.csv")
        sys_argv = ["fuzzymil", "fit", "bags.csv", "-o", "model.json"]

        def fit() -> None:
            os.chdir(place)
            sys.argv = sys_argv
            main()

        assert run(fit)[0] == 0
        wanted = sys.argv[1:] or [*COMMANDS, "studio", "own file"]
        for command in wanted:
            began = time.monotonic()
            storage._looked.clear()
            if command == "studio":
                (place / "studio").mkdir()
                found = kill_studio(place / "studio")
                shutil.rmtree(place / "studio")
            elif command == "own file":
                found = kill_own_file(place)
            else:
                found = kill_command(COMMANDS[command], place)
            counts = ", ".join(f"{found.count(each)} {each}" for each in dict.fromkeys(found))
            print(f"{command}: {len(found)} kills ({counts}), {time.monotonic() - began:.0f} s", flush=True)
