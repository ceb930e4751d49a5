"""Level ground in which nothing is buried, so that tests see one echo at a time."""

from paper.radar.conditions import Conditions

EMPTY = Conditions(
    n_scatterers=(0, 0), n_decoys=(0, 0), n_layers=(0, 0), roughness=(0, 0), jitter=0.0, brightness=0.0, aim=0.0
)
