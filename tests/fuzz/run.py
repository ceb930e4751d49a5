"""Mutate every kind of file, read it in child processes, and count what happens: `make fuzz N=1000 SEED=1`.

A mutated file may be refused with an exception that users are told about, or read. It must not crash or hang the
program, use more memory than the budget, raise anything else, or be read as something that it does not say. Children
handle many files each; one that crashes or hangs is replaced, and goes on with the next file. The exit status is 1 if
anything went wrong; failing files are kept in the folder that is printed.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
BUDGET = 300_000_000  # bytes that readers may ask for
HEADROOM = 3_000_000_000  # bytes of address space beyond what an idle child has
MOST_GROWTH = 1_000_000_000  # bytes of memory that a child may have grown by
STARTUP_SECONDS = 300
SECONDS = 60  # for one file; a machine with many tests at once is slow


def case(target, seed, number, contents):
    """Return a mutated file; always the same for the same numbers."""
    rng = random.Random(f"{seed} {target} {number}")
    from targets import TARGETS

    return TARGETS[target].mutate(rng, rng.choice(contents))


def outcome(target, content, folder):
    """Read a mutated file; return what happened, and the traceback of what should not happen."""
    from targets import REFUSALS, TARGETS, SilentDifferenceError

    try:
        return ("read" if TARGETS[target].check(content, folder) else "refused"), None
    except REFUSALS as problem:
        if str(problem).strip():
            return "refused", None
        return "internal", "an exception without a message"
    except SilentDifferenceError:
        return "difference", traceback.format_exc()
    except Exception:
        return "internal", traceback.format_exc()


def work(target, seed, first, last, folder):
    """Read cases ``first`` to ``last``, in a child."""
    import resource
    import warnings

    sys.path.insert(0, str(HERE))
    from targets import TARGETS

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as scratch:
        contents = TARGETS[target].seeds(Path(scratch))
        for content in contents:  # what is whole must be read; this also loads all that is loaded late
            found = outcome(target, content, Path(scratch))
            if found[0] != "read":
                raise SystemExit(f"{target}: a valid file gives {found}")
        if sys.platform == "linux":
            size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (size + HEADROOM, size + HEADROOM))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        os.environ["FUZZYMIL_MEMORY"] = str(BUDGET)
        with (folder / "cases").open("a", buffering=1) as log:
            for number in range(first, last):
                log.write(f"{json.dumps([number, 'began', None])}\n")
                kind, why = outcome(target, case(target, seed, number, contents), Path(scratch))
                grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
                if grown > MOST_GROWTH and target not in ("model", "rules.json"):  # compiled programs stay in memory
                    kind, why = "memory", f"grew by {grown:,} bytes"
                    before += grown // 1024
                log.write(f"{json.dumps([number, kind, why])}\n")


def run(target, n_cases, seed, folder, first=0):
    """Run cases in children; return how often each outcome occurred, and the failures by number."""
    folder.mkdir(parents=True, exist_ok=True)
    counts, failures = collections.Counter(), {}
    last = first + n_cases
    while first < last:
        log = folder / "cases"
        log.write_text("")
        command = [sys.executable, __file__, "--worker", target, str(seed), str(first), str(last), str(folder)]
        with (folder / "errors").open("w") as errors:
            child = subprocess.Popen(command, stdout=errors, stderr=errors, env=os.environ | {"JAX_PLATFORMS": "cpu"})
            hangs = not _watch(child, log)
        done = [json.loads(line) for line in log.read_text().splitlines()]
        for number, kind, why in done:
            if kind != "began":
                counts[kind] += 1
                first = number + 1
                if kind not in ("read", "refused"):
                    failures[number] = (kind, why)
        if child.returncode == 0:
            break
        if not done:
            raise SystemExit(f"{target}: no case was tried.\n{(folder / 'errors').read_text()[-2000:]}")
        if done[-1][1] == "began":
            first = done[-1][0]
            kind = "hang" if hangs else "crash"
            counts[kind] += 1
            failures[first] = (kind, f"exit status {child.returncode}\n{(folder / 'errors').read_text()[-2000:]}")
            first += 1
    return counts, failures


def _watch(child, log):
    """Wait for a child that makes progress; end it, and return False, once it does not."""
    size, since = 0, time.monotonic()
    while child.poll() is None:
        now = log.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > (SECONDS if size else STARTUP_SECONDS):
            child.kill()
            child.wait()
            return False
        time.sleep(0.05)
    return True


def main():
    """Run the targets that were asked for, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000, help="mutations of each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None, help="folder for failing files")
    parser.add_argument("targets", nargs="*", help="default: all")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    from targets import TARGETS

    output = options.output or Path(tempfile.mkdtemp(prefix="fuzz-"))
    failed = 0
    for target in options.targets or TARGETS:
        began = time.monotonic()
        counts, failures = run(target, options.n, options.seed, output / target)
        words = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
        print(f"{target:<12} {words} ({time.monotonic() - began:.0f} s)", flush=True)
        failed += len(failures)
        with tempfile.TemporaryDirectory() as scratch:
            contents = TARGETS[target].seeds(Path(scratch))
        for number, (kind, why) in failures.items():
            path = output / target / f"{options.seed}-{number}"
            path.write_bytes(case(target, options.seed, number, contents))
            print(f"  {kind}: {path}\n    " + (why or "").strip().replace("\n", "\n    ")[-1500:], flush=True)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), Path(sys.argv[6]))
    else:
        main()
