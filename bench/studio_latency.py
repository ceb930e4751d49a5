"""How fast the studio follows a drag: ``python bench/studio_latency.py``.

A set is dragged in a headless Chromium. The latency is the time from a movement of the mouse to the first frame in
which curve, numbers and score have changed; the first movements, in which programs are compiled, do not count. Then
the set is dragged without pause, and the frames of that second are counted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

CASES = {  # bags, instances of each, rules, target in ms
    "30 bags, 12 rules": (30, 5, 12, 50.0),
    "1,000 bags of 10 instances, 20 rules": (1000, 10, 20, 200.0),
}
N_FEATURES = 5
WARM, MEASURED = 10, 60

# Moves the handle step by step; after each, waits for the curve to change and for the next frame.
STEPS = """async ({ steps, warm }) => {
  const handle = document.querySelector("[data-key='handle-high-move']");
  const box = handle.querySelector(".handle-mark").getBoundingClientRect();
  let x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  const move = (to) => dispatchEvent(new PointerEvent("pointermove", { clientX: to, clientY: y, bubbles: true }));
  handle.dispatchEvent(new PointerEvent("pointerdown", { clientX: x, clientY: y, button: 0, bubbles: true }));
  const chart = document.querySelector(".set-chart");
  const board = document.querySelector(".scoreboard");
  const changed = (node, options) => new Promise((done) => {
    const observer = new MutationObserver(() => { observer.disconnect(); done(); });
    observer.observe(node, { subtree: true, childList: true, ...options });
  });
  const times = [];
  for (let step = 0; step < steps + warm; step++) {
    x += step % 40 < 20 ? -2 : 2;
    const drawn = Promise.all([changed(chart, { attributes: true, attributeFilter: ["d"] }), changed(board)]);
    const start = performance.now();
    move(x);
    await drawn;
    await new Promise(requestAnimationFrame);
    if (step >= warm) times.push(performance.now() - start);
  }
  let frames = 0;
  const begin = performance.now();
  while (performance.now() - begin < 2000) {
    x += frames % 40 < 20 ? -2 : 2;
    move(x);
    await new Promise(requestAnimationFrame);
    frames++;
  }
  const rate = frames / ((performance.now() - begin) / 1000);
  dispatchEvent(new PointerEvent("pointerup", { clientX: x, clientY: y, bubbles: true }));
  return { times, rate };
}"""


def write_case(folder: Path, n_bags: int, size: int, n_rules: int) -> None:
    """Write rules and bags with two informative features."""
    rng = np.random.default_rng(0)
    names = [f"f{d + 1}" for d in range(N_FEATURES)]
    labels = rng.integers(0, 2, n_bags)
    lines = [",".join(["bag", "label", *names])]
    for b, label in enumerate(labels):
        rows = rng.normal(0, 1, (size, N_FEATURES))
        rows[0, :2] += 1.5 * label
        lines += [f"b{b},{'yes' if label else 'no'}," + ",".join(f"{value:.4f}" for value in row) for row in rows]
    (folder / "bags.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    terms = "low = Gaussian(-1.2, 0.9), medium = Gaussian(0, 0.8), high = Gaussian(1.3, 0.9)"
    text = [f"VARIABLE {name} FROM -4 TO 4: {terms}" for name in names]
    text.append("IF f1 is high AND f2 is high THEN yes = 1")
    for _ in range(n_rules - 1):
        one, two = rng.choice(names, 2, replace=False)
        first, second = rng.choice(["low", "medium", "high"], 2)
        text.append(f"IF {one} is {first} AND {two} is {second} THEN yes = {rng.uniform(0, 0.6):.2f}")
    (folder / "expert.rules").write_text("\n".join(text) + "\n", encoding="utf-8")


def measure(n_bags: int, size: int, n_rules: int) -> dict[str, float]:
    """Return the time to a usable page in s, quantiles of the latency in ms, and frames per second."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        write_case(folder, n_bags, size, n_rules)
        arguments = ["expert.rules", "bags.csv", "--bag", "bag", "--label", "label", "--no-browser"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        start = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "fuzzymil", "studio", *arguments],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert server.stdout is not None
            page.goto(server.stdout.readline().strip())
            page.locator("[data-key='handle-high-move']").wait_for()
            usable = time.perf_counter() - start
            page.locator(".scoreboard .figure").wait_for()
            found = page.evaluate(STEPS, {"steps": MEASURED, "warm": WARM})
        finally:
            browser.close()
            server.terminate()
            server.wait()
    times = np.array(found["times"])
    return {
        "usable_s": usable,
        "median_ms": float(np.median(times)),
        "p95_ms": float(np.quantile(times, 0.95)),
        "frames_per_s": found["rate"],
    }


def main() -> None:
    """Measure all cases and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    results = {case: measure(*size) | {"target_ms": target} for case, (*size, target) in CASES.items()}
    if as_json:
        print(json.dumps(results, indent=1))
        return
    print("| | usable page | drag to picture, median | 95% | target | frames/s |\n|---|---:|---:|---:|---:|---:|")
    for case, found in results.items():
        print(
            f"| {case} | {found['usable_s']:.1f} s | {found['median_ms']:.0f} ms | {found['p95_ms']:.0f} ms "
            f"| {found['target_ms']:.0f} ms | {found['frames_per_s']:.0f} |"
        )


if __name__ == "__main__":
    main()
