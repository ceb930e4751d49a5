"""From the measurements of single fits to means, counts and verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from fuzzymil._utils.statistics import PairedTest, corrected_t_test, holm
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments.planted.methods import OWN

__all__ = ["TOLERANCE", "correct", "mean", "verdict"]

TOLERANCE = 2.0  # percentage points below the best peer that still count as level


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the numbers, None if there are none.

    Examples
    --------
    >>> mean([1.0, None, 2.0]), mean([None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def verdict(accuracies: Mapping[str, Sequence[float]]) -> Results:
    """Compare the default with the best of its peers on the same datasets.

    The best peer is the one with the highest mean accuracy. That it is chosen by the results favors it: among equal
    methods, the best of several is ahead by luck.

    Parameters
    ----------
    accuracies : dict of str to sequence of float
        By method, one for each dataset.

    Returns
    -------
    dict
        ``own`` and ``best`` (mean accuracies), ``peer`` (its name), ``test`` (the paired difference in percentage
        points, with its 95% interval and the p-value of a t-test) and ``within`` (whether the default is at most
        `TOLERANCE` points below).

    Examples
    --------
    >>> found = verdict({OWN: [0.80, 0.90], "forest": [0.84, 0.88], "MILES": [0.5, 0.6]})
    >>> found["peer"], round(found["test"]["mean"], 6), found["within"]
    ('forest', -1.0, True)
    """
    means = {name: float(np.mean(values)) for name, values in accuracies.items()}
    # Rounded, because means of equal accuracies in another order differ in the last digit.
    peer = max((name for name in means if name != OWN), key=lambda name: round(means[name], 9))
    test = _paired(100 * (np.asarray(accuracies[OWN]) - np.asarray(accuracies[peer])))
    return {
        "peer": peer,
        "own": means[OWN],
        "best": means[peer],
        "test": dataclasses.asdict(test),
        "within": bool(round(test.mean, 9) >= -TOLERANCE),
    }


def _paired(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> PairedTest:
    """Test the mean of differences (n,); one dataset alone has no interval."""
    if len(differences) > 1:
        return corrected_t_test(differences, 0.0)  # every dataset is drawn anew: nothing is shared between them
    only = float(differences[0])
    return PairedTest(only, only, only, 1.0, 1)


def correct(verdicts: Mapping[str, Mapping[str, Results]]) -> None:
    """Add ``p`` to each verdict: the p-value after Holm's correction for all of them.

    Parameters
    ----------
    verdicts : dict of str to (dict of str to dict)
        By number of training bags and kind.
    """
    every = [found for by_kind in verdicts.values() for found in by_kind.values()]
    for found, p in zip(every, holm([found["test"]["p"] for found in every]), strict=True):
        found["p"] = float(p)
