"""How long the studio takes from a drag to all numbers, and from the command to a usable page.

    python bench/studio.py

Times are those of the whole way that a browser sees: over the WebSocket of a real server, with the answer as JSON.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import httpx
import numpy as np
from websockets.sync.client import connect

from fuzzymil import Bags, RuleBase
from fuzzymil.studio import Document, Session
from fuzzymil.studio.server import Studio


def problem(n_bags, n_instances, n_rules, n_features=4, seed=0):
    """Return bags and additive rules with two conditions each over their own terms."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_instances, n_features))
    offsets = np.linspace(0, n_instances, n_bags + 1).astype(int)
    labels = rng.integers(0, 2, n_bags)
    names = [f"x{d + 1}" for d in range(n_features)]
    lines = []
    for name in names:
        terms = [f"t{k} = Gaussian({rng.normal():.3f}, 0.6)" for k in range(n_rules)]
        lines.append(f"VARIABLE {name} FROM -3 TO 3: {', '.join(terms)}")
    lines.append("Default: y = -1")
    for r in range(n_rules):
        a, b = rng.choice(n_features, 2, replace=False)
        lines.append(f"IF SOME ({names[a]} is t{r} AND {names[b]} is t{r}) THEN y += {rng.normal():.3f}")
    rules = RuleBase.parse("\n".join(lines)).edit(drop_unused_terms=True)
    return Bags(x, offsets, labels=labels, feature_names=names), rules


class Window:
    """A page of a running studio."""

    def __init__(self, root, address):
        with httpx.Client(trust_env=False) as client:
            cookie = client.get(address, timeout=60).headers["set-cookie"].split(";")[0]
        self.opening = connect(
            root.replace("http", "ws") + "/socket",
            origin=root,
            additional_headers={"cookie": cookie},
            proxy=None,
            max_size=None,
        )

    def __enter__(self):
        self.socket = self.opening.__enter__()
        return self

    def __exit__(self, *problem):
        self.opening.__exit__(*problem)

    def ask(self, **message):
        self.socket.send(json.dumps({"id": 1, **message}))
        while (answer := json.loads(self.socket.recv(timeout=60))).get("id") != 1:
            pass
        assert answer["ok"], answer
        return answer


def drags(n_bags, n_instances, n_rules, n, views):
    """Return the milliseconds of drags, the first one left out."""
    bags, rules = problem(n_bags, n_instances, n_rules)
    studio = Studio(Session(Document.of(rules), bags, name="bench"))
    thread = threading.Thread(target=studio.run)
    thread.start()
    variable = rules.variables[0]
    drag = {"type": "drag", "variable": variable.name, "term": next(iter(variable.terms))}
    drag |= {"handle": "center", "views": views}
    times = []
    try:
        with Window(f"http://127.0.0.1:{studio.port}", studio.address) as window:
            window.ask(type="hello")
            for step in range(n + 1):
                began = time.perf_counter()
                window.ask(**drag, x=step / n)
                times.append(1000 * (time.perf_counter() - began))
    finally:
        studio.stop()
        thread.join()
    return times[1:]


def opening(n):
    """Return the seconds from the command to the answer of the first views."""
    times = []
    for _ in range(n):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            command = [sys.executable, "-m", "fuzzymil", "studio", "--demo", "--no-browser"]
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
            address = process.stdout.readline().strip()
            with Window(re.match(r"http://[^/]+", address).group(), address) as window:
                window.ask(type="hello")
                window.ask(type="bags")
                window.ask(type="histograms")
            times.append(time.perf_counter() - began)
            process.kill()
            process.wait()
            process.stdout.close()
    return times


def shown(name, times, unit, target):
    median, worst = statistics.median(times), max(times)
    print(f"{name:52} median {median:7.1f} {unit}  worst {worst:7.1f} {unit}  target {target} {unit}", flush=True)
    return {"name": name, "median": median, "worst": worst, "unit": unit, "target": target}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drags", type=int, default=100)
    parser.add_argument("--starts", type=int, default=3)
    options = parser.parse_args()
    score = {"type": "score"}
    for size, target in (((30, 150, 12), 50), ((2_000, 10_000, 20), 200)):
        what = "{} bags, {} instances, {} rules".format(*size)
        for name, views in (
            ("bags", [score, {"type": "bags"}]),
            ("viewer", [score, {"type": "viewer", "bag": 0}]),
            ("validation", [score, {"type": "validation"}]),
            ("surface", [score, {"type": "surface", "x": "x1", "y": "x2"}]),
        ):
            shown(f"{what}: {name}", drags(*size, options.drags, views), "ms", target)
    shown("command to usable page", opening(options.starts), "s", 3)


if __name__ == "__main__":
    main()
