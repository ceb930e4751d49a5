"""Ground-penetrating radar: simulated alarms, and features and bags from simulated or measured cubes."""

from paper.radar.alarms import (
    CALIBRATION,
    AlarmSet,
    calibrate,
    draw_alarms,
    make_gpr_alarms,
)
from paper.radar.conditions import DIFFICULTIES, Conditions
from paper.radar.cubes import (
    FEATURES,
    GRID,
    Detectors,
    Grid,
    Measured,
    Prototypes,
    Screening,
    check_cube,
    features_of,
    learn_prototypes,
    measure,
    screen,
    windows,
)
from paper.radar.objects import CLUTTER, KINDS, MINES
from paper.radar.simulation import Alarm, draw_alarm, simulate_alarm

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
