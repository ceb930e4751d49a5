"""Soak: fits, kills, resumes, full disks and concurrent writers, for a while and from a seed; nothing may be lost.

    python tests/soak.py --seconds 600 --seed 0

Every model that comes out is compared with that of a fit that nobody disturbed, byte for byte. No file may be half
written, and none may be left over. The exit status is 1 after any loss. ``make soak`` runs this.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from fuzzymil._utils import storage
from fuzzymil.cli import main
from fuzzymil.datasets import make_two_concepts, write_bags
from fuzzymil.learn.train import trainer

SETTINGS = {
    "batch": ["--init", "kmeans", "--n-rules", "4", "--max-epochs", "400"],
    "short": ["--init", "kmeans", "--n-rules", "4", "--max-epochs", "150", "--max-conditions", "1"],
    "on-line": ["--init", "random", "--n-rules", "3", "--max-epochs", "12", "--set", "batch_size=1"],
    "chosen": [],
}
TRAINED = ("batch", "short", "on-line")
DISK = 160 * 1024  # bytes


class Loss(AssertionError):
    """Something was lost, half written or left over."""


def demand(condition: bool, what: str) -> None:
    """Raise `Loss` unless the condition holds."""
    if not condition:
        raise Loss(what)


class Soak:
    """A folder to work in, what undisturbed fits gave there, and counts of what happened."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.rng = folder, random.Random(seed)
        self.counts: collections.Counter[str] = collections.Counter()
        self.data = folder / "bags.csv"
        write_bags(make_two_concepts(30, 30, random_state=0), self.data)
        self.models: dict[str, bytes] = {}
        self.seconds: dict[str, float] = {}
        for name in SETTINGS:
            target = folder / f"{name}.json"
            began = time.monotonic()
            demand(self.wait(self.start(*self.fit(name, target))) == 0, f"the undisturbed fit {name!r} failed")
            self.seconds[name] = time.monotonic() - began
            self.models[name] = target.read_bytes()

    def fit(self, name: str, target: Path, *options: object) -> list[str]:
        """Return the arguments of a fit."""
        return ["fit", str(self.data), *SETTINGS[name], "-o", str(target), *map(str, options)]

    def start(self, *arguments: str, work: Callable[[], object] = main) -> int:
        """Fork a process that runs the program, or other work, and return its id.

        This process has imported everything but computed nothing, so that forks are allowed and start at once.
        """
        child = os.fork()
        if child:
            return child
        status = 70
        try:
            trainer._CHECKPOINT_SECONDS = 0.02
            os.chdir(self.folder)
            with open(self.folder / f"said-{os.getpid()}", "w") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            sys.argv = ["fuzzymil", *arguments]
            work()
            status = 0
        except SystemExit as ending:
            status = int(ending.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait(self, child: int) -> int:
        """Wait for a process and return its exit status, negative if a signal ended it."""
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = self.folder / f"said-{child}"  # not there if the child was killed before it could say anything
        self.said = said.read_text(errors="replace") if said.exists() else ""
        said.unlink(missing_ok=True)
        demand("Traceback" not in self.said, f"a traceback:\n{self.said}")
        self.counts["processes"] += 1
        return status

    def kill_after(self, child: int, seconds: float) -> int:
        """Kill a process after a while, unless it ends before; return its exit status."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return self.wait(child)
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
        self.counts["kills"] += 1
        return self.wait(child)

    def place(self) -> Path:
        """Return a new, empty folder."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    # ------------------------------------------------------------------ what is done

    def kill_fits(self) -> None:
        """Kill a fit a few times, and let it resume."""
        name, folder = self.rng.choice(TRAINED), self.place()
        arguments = self.fit(name, folder / "model.json", "--checkpoint", folder / "kept")
        for _ in range(self.rng.randint(1, 4)):
            status = self.kill_after(self.start(*arguments), self.rng.uniform(0.1, 1.2 * self.seconds[name]))
            demand(status in (0, -signal.SIGKILL), f"a fit ended with status {status}:\n{self.said}")
            if (folder / "model.json").exists():
                demand((folder / "model.json").read_bytes() == self.models[name], f"another model {name!r}")
        demand(self.wait(self.start(*arguments)) == 0, f"a fit did not resume:\n{self.said}")
        demand((folder / "model.json").read_bytes() == self.models[name], f"another model {name!r} after resuming")
        demand(os.listdir(folder) == ["model.json"], f"left over: {os.listdir(folder)}")
        self.counts["models compared"] += 1

    def kill_writers(self) -> None:
        """Kill processes that write files all the time."""
        folder = self.place()
        target, texts = folder / "a.txt", [letter * 300_000 for letter in "ab"]
        storage.write_atomically(target, texts[0])

        def write() -> None:
            for turn in range(10**9):
                storage.write_atomically(target, texts[turn % 2])
                with contextlib.suppress(OSError), storage.folder_written_atomically(folder / "arrays") as arrays:
                    (arrays / "a").write_text(texts[0])

        for _ in range(5):
            writers = [self.start(work=write) for _ in range(self.rng.randint(1, 3))]
            for child in writers:
                self.kill_after(child, self.rng.uniform(0.0, 0.3))
                demand(target.read_text() in texts, "a file is half written")
        shutil.rmtree(folder / "arrays", ignore_errors=True)
        last = self.start(work=lambda: storage.write_atomically(target, "whole"))
        demand(self.wait(last) == 0 and target.read_text() == "whole", "a file could not be written after kills")
        demand(os.listdir(folder) == ["a.txt"], f"left over: {os.listdir(folder)}")
        self.counts["files compared"] += 1

    def kill_predictions(self) -> None:
        """Kill a command that replaces its earlier result."""
        folder = self.place()
        target = folder / "predictions.csv"
        arguments = ["predict", str(self.folder / "batch.json"), str(self.data), "-o", str(target)]
        demand(self.wait(self.start(*arguments)) == 0, self.said)
        whole = target.read_bytes()
        for _ in range(3):
            self.kill_after(self.start(*arguments), self.rng.uniform(0.0, 1.0))
            demand(target.read_bytes() == whole, "predictions are half written")
        demand(self.wait(self.start(*arguments)) == 0, self.said)
        demand(os.listdir(folder) == ["predictions.csv"], f"left over: {os.listdir(folder)}")
        self.counts["files compared"] += 1

    def concurrent_fits(self) -> None:
        """Let several fits write one file and share a folder of checkpoints; some are killed."""
        folder = self.place()
        names = [self.rng.choice(TRAINED) for _ in range(3)]
        target, kept = folder / "model.json", folder / "kept"
        running = {self.start(*self.fit(name, target, "--checkpoint", kept)): name for name in names}
        victim = self.rng.choice(list(running))
        self.kill_after(victim, self.rng.uniform(0.1, self.seconds[running[victim]]))
        for child in running:
            if child != victim:
                demand(self.wait(child) == 0, f"a fit failed beside others:\n{self.said}")
                demand(target.read_bytes() in self.models.values(), "a model is mixed up with another one")
                self.counts["models compared"] += 1
        name = running[victim]
        demand(self.wait(self.start(*self.fit(name, target, "--checkpoint", kept))) == 0, self.said)
        demand(target.read_bytes() == self.models[name], f"another model {name!r}")
        demand(os.listdir(folder) == ["model.json"], f"left over: {os.listdir(folder)}")

    def full_disk(self) -> None:
        """Write a model, and checkpoints, to a disk that is full or becomes so."""
        name, folder = self.rng.choice(list(SETTINGS)), self.place()
        disk = folder / "disk"
        disk.mkdir()
        with small_disk(disk) as mounted:
            if not mounted:
                self.counts["full disks that could not be tried (needs the right to mount)"] += 1
                return
            target, old = disk / "model.json", b"old"
            target.write_bytes(old)
            fill = disk / "fill"
            fill.write_bytes(bytes(self.rng.randrange(0, DISK - 8192)))
            kept = ["--checkpoint", disk / "kept"] if self.rng.random() < 0.5 and name in TRAINED else []
            child = self.start(*self.fit(name, target, *kept))
            if self.rng.random() < 0.6:  # becomes full during the fit
                time.sleep(self.rng.uniform(0.0, self.seconds[name]))
                with contextlib.suppress(OSError), fill.open("ab", buffering=0) as file:
                    while file.write(bytes(4096)):
                        pass
            status = self.wait(child)
            rescued = self.folder / "rescued-model.json"
            if status == 0:
                demand(target.read_bytes() == self.models[name], f"another model {name!r} on a full disk")
            else:
                demand(target.read_bytes() == old, "the old model is gone")
                demand("No space left" in self.said, f"a full disk is not mentioned:\n{self.said}")
            if status == 1:
                demand(rescued.read_bytes() == self.models[name], f"another model {name!r} was rescued")
                rescued.unlink()
            demand(status in (0, 1, 2), f"status {status} on a full disk:\n{self.said}")
            demand(not list(disk.glob(".*.part")), f"left over: {os.listdir(disk)}")
            self.counts[("written on", "rescued from", "refused before the work by")[status] + " a small disk"] += 1
            self.counts["models compared"] += status < 2

    def run(self, seconds: float) -> None:
        """Do these things in random order until the time is over."""
        until = time.monotonic() + seconds
        actions = [self.kill_fits, self.kill_writers, self.kill_predictions, self.concurrent_fits, self.full_disk]
        while time.monotonic() < until:
            action = self.rng.choices(actions, weights=(4, 3, 1, 2, 3))[0]
            action()
            self.counts[action.__name__.replace("_", " ")] += 1


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a disk of `DISK` bytes on a folder; yield False if that is not allowed."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(folder)], capture_output=True)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Disturb fits and writers for a while; exit with 1 after any loss.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    warnings.filterwarnings("ignore", "os.fork")  # which is allowed before the first computation
    place = Path(tempfile.mkdtemp(prefix="soak-"))
    soak = Soak(place, options.seed)
    try:
        soak.run(options.seconds)
        soak.counts["losses"] = 0
    except Loss as loss:
        soak.counts["losses"] = 1
        print(f"LOSS: {loss}\nThe files are in {place}.", file=sys.stderr)
    for what, count in sorted(soak.counts.items()):
        print(f"{count:6}  {what}")
    if soak.counts["losses"]:
        sys.exit(1)
    shutil.rmtree(place)
