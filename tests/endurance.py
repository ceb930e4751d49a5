"""Use one studio for a long time: drags, undo, cancelled trainings; memory, processes, threads and files stay few.

    python tests/endurance.py --seconds 1800 --undos 5000 --trainings 50

The exit status is 1 if something grew. What a version keeps (its text, its label) is allowed for.
"""

import argparse
import gc
import os
import random
import tempfile
import threading
import time
from pathlib import Path

from fuzzymil.studio import Session
from fuzzymil.studio.start import demo_bags, demo_document

PER_VERSION = 12_000  # bytes
SLACK = 40_000_000  # bytes that memory may vary by
TERMS = [("x1", "left"), ("x2", "low"), ("x2", "high")]


class Studio:
    """A session, the messages that it gets, and what the process takes."""

    def __init__(self, folder, seed):
        self.session, self.rng = Session(demo_document(), demo_bags(), name="long", folder=folder), random.Random(seed)
        self.session.windows.append(lambda message: None)
        self.counts = dict.fromkeys(("drags", "edits", "undos", "trainings"), 0)

    def ask(self, type, **fields):
        answer = self.session.answer({"type": type, "revision": self.session.revision, **fields})
        assert answer["ok"], answer
        return answer

    def drag(self):
        """Move a term along twenty places, with the views beside it, and let go."""
        variable, term = self.rng.choice(TERMS)
        where = {"variable": variable, "term": term, "handle": "center"}
        for _ in range(20):
            views = [{"type": "score"}, {"type": "bags"}]
            self.ask("drag", **where, x=self.rng.uniform(0, 1), views=views)
        self.ask("set_term", **where, x=self.rng.uniform(0, 1))
        self.counts["drags"] += 20
        self.counts["edits"] += 1

    def undo(self, steps):
        """Go back and forth through the history."""
        for step in ("undo", "redo"):
            for _ in range(steps):
                if self.session.state()[step] is not None:
                    self.ask(step)
                    self.counts["undos"] += 1

    def train(self):
        """Begin a training and cancel it, sooner or later."""
        self.ask("train", epochs=10_000)
        time.sleep(self.rng.choice([0.0, 0.3, 3.0]))
        self.ask("cancel")
        self.counts["trainings"] += 1

    def sizes(self):
        """Return the memory, and how many versions, child processes, threads and open files there are."""
        gc.collect()
        children = [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
        return {
            "memory": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
            "versions": len(self.session.history.versions),
            "workers": len(children),
            "threads": threading.active_count(),
            "files": len(os.listdir("/proc/self/fd")),
        }


def main(folder, seconds, undos, trainings, seed):
    """Use the studio until everything was done often enough, and the time is over; return what grew."""
    studio = Studio(folder, seed)
    for _ in range(70):  # the rules of the latest 64 versions are kept parsed
        studio.drag()
    studio.undo(20)
    studio.train()
    first, until, told = studio.sizes(), time.monotonic() + seconds, 0.0
    print(f"at first: {first}", flush=True)
    while time.monotonic() < until or studio.counts["undos"] < undos or studio.counts["trainings"] < trainings:
        studio.drag()
        if studio.counts["undos"] < undos or studio.rng.random() < 0.1:
            studio.undo(studio.rng.randint(1, 60))
        if studio.counts["trainings"] < trainings and studio.rng.random() < 0.2:
            studio.train()
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{studio.counts} {studio.sizes()}", flush=True)
    last = studio.sizes()
    print(f"at last: {last}, {studio.counts}", flush=True)
    grown = last["memory"] - first["memory"] - PER_VERSION * (last["versions"] - first["versions"])
    text = studio.session.document.text
    studio.session.close()
    assert grown < SLACK, f"memory grew by {grown:,} bytes besides the versions"
    assert last["workers"] <= 1, last
    assert last["threads"] <= first["threads"] + 2, (first, last)
    assert last["files"] <= first["files"] + 4, (first, last)
    again = Session(demo_document(), demo_bags(), name="long", folder=folder)
    assert again.document.text == text, "edits were lost"
    again.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in (("seconds", 1800), ("undos", 5000), ("trainings", 50), ("seed", 0)):
        parser.add_argument(f"--{option}", type=int, default=default)
    with tempfile.TemporaryDirectory(prefix="endurance-") as place:
        main(Path(place), **vars(parser.parse_args()))
