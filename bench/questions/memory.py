"""(7) Peak memory of a fit, in a process of its own."""

from __future__ import annotations

from racing import Contestant, race
from tables import Row, quantity

from questions.common import Effort

TITLE = "Memory: peak resident set"
SIZE = {"n_instances": 1_000_000, "n_features": 25, "n_rules": 10}


def measure(effort: Effort) -> list[Row]:
    return [*_fit(effort), _stream(effort)]


def _once(contestant: Contestant, effort: Effort) -> tuple[float | None, str]:
    """Return one measurement in a fresh process: bytes, or the reason why there is none."""
    times = race([contestant], rounds=1, warm_up=False, say=effort.say)
    found = times.get((contestant.name, "peak")) or times[contestant.name, ""]
    return (None, found.absent) if found.absent else (found.values[0], "")


def _fit(effort: Effort) -> list[Row]:
    peak, reason = _once(Contestant("fit", "footprint:fit", SIZE), effort)
    if peak is None:
        return [Row("a fit of 1,000,000 instances", note=reason)]
    given, array = (SIZE["n_instances"] * width for width in (8 * SIZE["n_features"], 4 * SIZE["n_rules"]))
    note = f"beyond the input of {quantity(given, 'B')} (64 bit); 25 features, 10 rules, bags of ten"
    return [
        Row("a fit of 1,000,000 instances, beyond its input", peak, "B", note=note),
        Row("that memory in units of the input", figure=peak / given),
        Row(
            "that memory in arrays of (instances x rules), 32 bit",
            figure=peak / array,
            bar="<= 8",
            note="compiling included",
        ),
    ]


def _stream(effort: Effort) -> Row:
    gigabytes = effort.pick(0.4, 20)
    settings = {"gigabytes": gigabytes, "n_features": 25, "n_rules": 6}
    peak, reason = _once(Contestant("stream", "footprint:stream", settings), effort)
    what = f"a stream of {gigabytes} GB, one epoch, everything included"
    if peak is None:
        return Row(what, note=f"left out: {reason}")
    return Row(what, peak, "B", peak / 1e9, "<= 2", "figure in GB; parts of 20 MB made on the fly, steps of 100 bags")
