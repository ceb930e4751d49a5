"""Projections onto the plane: two features, or two principal components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array


class Projection(NamedTuple):
    """A linear map onto the plane: ``directions @ ((x - origin) / scale)``.

    ``origin`` and ``scale`` have shape (n_features,), ``directions`` (2, n_features).
    """

    origin: Array
    scale: Array
    directions: Array


def chosen_features(n_features: int, across: int, up: int) -> Projection:
    """Return the projection onto two features."""
    return Projection(np.zeros(n_features), np.ones(n_features), np.eye(n_features)[[across, up]])


def principal_components(instances: Array) -> tuple[Projection, Array]:
    """Return the projection of complete instances (i, d) onto two principal components, and their shares of variance.

    Features are standardized; constant ones do not take part. The greatest loading of a component is positive.
    """
    origin, deviation = instances.mean(axis=0), instances.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    standard = (instances - origin) / scale
    variances, vectors = np.linalg.eigh(standard.T @ standard)
    directions = vectors[:, ::-1][:, :2].T
    greatest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(2), greatest])[:, None]
    total = variances.sum()
    shares = np.clip(variances[::-1][:2], 0.0, None) / (total if total > 0 else 1.0)  # below 0 only by rounding
    return Projection(origin, scale, directions), shares


def project(projection: Projection, points: Array) -> Array:
    """Project points (n, n_features) onto the plane (n, 2); NaN if a feature that takes part is missing."""
    part = projection.directions.any(axis=0)
    standard = (points[:, part] - projection.origin[part]) / projection.scale[part]
    return np.asarray(standard @ projection.directions[:, part].T)


def project_ellipsoids(projection: Projection, centers: Array, widths: Array) -> tuple[Array, Array]:
    """Project ellipsoids with finite centers and widths (r, d) onto the plane: centers (r, 2) and matrices (r, 2, 2).

    The ellipsoid around ``c`` with half-axes ``s`` along the features projects onto the ellipse of all ``u`` with
    ``(u - Pc)' M^-1 (u - Pc) <= 1``, where ``P`` is the projection and ``M = P diag(s^2) P'``.
    """
    half_axes = widths[:, None, :] * (projection.directions / projection.scale)
    return project(projection, centers), np.asarray(half_axes @ half_axes.transpose(0, 2, 1))
