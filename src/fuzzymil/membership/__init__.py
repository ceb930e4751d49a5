"""Families of fuzzy sets: Gaussian, bell, sigmoid, triangular, trapezoidal."""

from fuzzymil.membership._families import (
    FAMILIES,
    Bell,
    Gaussian,
    MembershipFunction,
    Sigmoid,
    Trapezoidal,
    Triangular,
    family,
)

__all__ = ["FAMILIES", "Bell", "Gaussian", "MembershipFunction", "Sigmoid", "Trapezoidal", "Triangular", "family"]
