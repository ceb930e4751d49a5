"""One contestant in a separate process: prepares, reports that it is ready, and measures when it is its turn.

Started by `racing`: ``worker.py module:function '{"settings": ...}'``. The function returns its tasks by name; each is
a callable that measures once and returns a number. Answers are lines of JSON on standard output; whatever a library
prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    place, settings = sys.argv[1], json.loads(sys.argv[2])

    def answer(**words: object) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    try:
        cores = settings.pop("cores", None)
        if cores is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, cores)
        module, _, function = place.partition(":")
        tasks = getattr(importlib.import_module(f"contestants.{module}"), function)(**settings)
        answer(tasks=list(tasks))
        for line in sys.stdin:
            answer(value=tasks[line.strip()]())
    except ImportError as problem:
        answer(absent=f"not installed: {problem}")
    except RuntimeError as problem:
        answer(absent=str(problem))
    except Exception as problem:  # an error of a peer is shown in its row, and the others continue
        answer(absent=f"{type(problem).__name__}: {problem}")
        raise


if __name__ == "__main__":
    main()
