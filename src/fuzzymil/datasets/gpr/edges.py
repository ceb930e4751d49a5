"""Edge histogram descriptors: the directions of edges in a radar slice along the track.

The signature of a buried mine is a hyperbola: rising edges, a flat top, falling edges. The descriptor (after Frigui and
Gader, 2009) counts edges in four directions, and pixels without an edge, in seven overlapping parts of a slice: 35
numbers per depth window. EHDDT uses (down-track, depth) slices, EHDCT (cross-track, depth) slices.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fuzzymil._utils.arrays import Array

__all__ = ["EDGES", "HOP", "LENGTH", "N_WINDOWS", "PARTS", "cut", "edge_histograms", "edge_kinds"]

N_WINDOWS, LENGTH, HOP = 15, 20, 6
"""Number, length and hop of the depth windows of an aligned trace, in samples."""

PARTS, PART_LENGTH, PART_HOP = 7, 6, 3
"""Number, length and hop of the overlapping parts of a slice along the track."""

EDGES = ("vertical", "horizontal", "diagonal", "antidiagonal", "none")
"""Kinds of edges in the order of the descriptor. A diagonal edge becomes deeper along the track."""

THRESHOLD = 2.0
"""Minimum response of an edge, in standard deviations of the background."""

# Rows run along the track and columns along the depth; scaled so that white noise keeps its deviation of 1.
_OPERATORS = np.array(
    [
        [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
        [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
        [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]],
        [[2, 1, 0], [1, 0, -1], [0, -1, -2]],
    ]
) / np.sqrt(12.0)


def cut(values: Array) -> Array:
    """Return views of the depth windows, shape (..., N_WINDOWS, LENGTH), of aligned ``values`` (..., n_depths).

    Examples
    --------
    >>> cut(np.arange(104))[-1, [0, -1]].tolist()
    [84, 103]
    """
    return np.asarray(sliding_window_view(values, LENGTH, axis=-1)[..., ::HOP, :])


def edge_kinds(slices: Array) -> Array:
    """Return the kind of edge (a position in `EDGES`) at each pixel of slices (n_slices, n_places, n_depths).

    It is that of the operator with the strongest response, or none below the threshold. Border values are repeated. The
    slices are in standard deviations of the background.

    Examples
    --------
    >>> step = np.zeros((1, 6, 6))
    >>> step[:, :, 3:] = 10.0  # changes with depth, like a layer
    >>> EDGES[edge_kinds(step)[0, 2, 3]]
    'horizontal'
    """
    padded = np.pad(slices, ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = sliding_window_view(padded, (3, 3), axis=(1, 2))
    responses = np.abs(np.tensordot(around, _OPERATORS, axes=([3, 4], [1, 2])))  # (n, w, t, 4)
    return np.where(responses.max(axis=-1) >= THRESHOLD, responses.argmax(axis=-1), len(EDGES) - 1)


def edge_histograms(slices: Array) -> Array:
    """Compute edge histograms (N_WINDOWS, PARTS * len(EDGES)) of parallel slices like those of `edge_kinds`.

    It holds square roots of the shares of pixels, by part and then kind; the squares of a part sum to 1. The Euclidean
    distance of two descriptors is then the Hellinger distance of their histograms.

    Examples
    --------
    >>> quiet = edge_histograms(np.zeros((1, 24, 104)))
    >>> quiet.shape, quiet[0, :5].tolist()
    ((15, 35), [0.0, 0.0, 0.0, 0.0, 1.0])
    """
    kinds = edge_kinds(slices)
    share = (kinds[..., None, :] == np.arange(len(EDGES))[:, None]).mean(axis=0)  # (w, 5, t)
    by_window = cut(share).mean(axis=-1)  # (w, 5, n_windows)
    parts = sliding_window_view(by_window, PART_LENGTH, axis=0)[::PART_HOP].mean(axis=-1)  # (parts, 5, n_windows)
    return np.asarray(np.sqrt(parts.transpose(2, 0, 1).reshape(N_WINDOWS, -1)))
