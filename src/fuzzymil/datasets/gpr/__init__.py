"""Ground-penetrating radar: simulated alarms, and features and bags from simulated or measured cubes."""

from fuzzymil.datasets.gpr._objects import CLUTTER, KINDS, MINES
from fuzzymil.datasets.gpr.alarms import (
    CALIBRATION,
    AlarmSet,
    Detectors,
    calibrate,
    draw_alarms,
    features_of,
    make_gpr_alarms,
)
from fuzzymil.datasets.gpr.conditions import DIFFICULTIES, Conditions
from fuzzymil.datasets.gpr.features import FEATURES, Measured, measure, windows
from fuzzymil.datasets.gpr.geometry import GRID, Grid
from fuzzymil.datasets.gpr.neighbors import Prototypes, learn_prototypes
from fuzzymil.datasets.gpr.prescreener import Screening, check_cube, screen
from fuzzymil.datasets.gpr.simulation import Alarm, draw_alarm, simulate_alarm

__all__ = [
    "CALIBRATION",
    "CLUTTER",
    "DIFFICULTIES",
    "FEATURES",
    "GRID",
    "KINDS",
    "MINES",
    "Alarm",
    "AlarmSet",
    "Conditions",
    "Detectors",
    "Grid",
    "Measured",
    "Prototypes",
    "Screening",
    "calibrate",
    "check_cube",
    "draw_alarm",
    "draw_alarms",
    "features_of",
    "learn_prototypes",
    "make_gpr_alarms",
    "measure",
    "screen",
    "simulate_alarm",
    "windows",
]
