"""Parameters of the simulation, and presets for three difficulties."""

from __future__ import annotations

import dataclasses

from fuzzymil._utils.errors import InputTypeError, ParameterError, described, known_name

__all__ = ["DIFFICULTIES", "Conditions", "conditions_of"]

Range = tuple[float, float]
Counts = tuple[int, int]

_LEAST: dict[str, tuple[float, str]] = {
    **{f"{of}permittivity": (1.0, "the permittivity of air") for of in ("", "plastic_", "rock_", "root_")},
    "attenuation": (0.0, "soil does not amplify"),
    "height": (0.1, "lower antennas would touch rough ground"),
    "noise": (0.0, "it is a standard deviation"),
    **dict.fromkeys(("n_scatterers", "n_decoys", "n_layers"), (0, "it is a count")),
}


@dataclasses.dataclass(frozen=True)
class Conditions:
    """Parameters of the simulation.

    A pair is a range from which a value is drawn uniformly; for counts (names that begin with ``n_``) both ends are
    included.

    Parameters
    ----------
    target_gain : float
        Factor on the echoes of the target, mine or clutter: the only parameter without a physical meaning.
    permittivity : pair
        Relative permittivity of the soil.
    attenuation : pair
        Attenuation of the soil in Np/m.
    height : pair
        Height of the antennas in m.
    frequency : pair
        Frequency of the Ricker wavelet in Hz.
    ringing : pair
        Amplitude of each copy of the pulse relative to the previous one.
    roughness : pair
        Root mean square height of the surface in m.
    roughness_length : float
        Correlation length of the surface in m.
    brightness : float
        Relative standard deviation of the surface echo across the surface.
    jitter : float
        Root mean square variation of the antenna height along the track in m.
    jitter_length : float
        Correlation length of the antenna height in m.
    noise : float
        Standard deviation of the noise; 1 is the echo of a mirror one meter away.
    aim : float
        Standard deviation of the target position around the center in m, down-track and cross-track.
    n_scatterers : pair
        Number of weak scatterers in the whole volume.
    scatterer_size : pair
        Scattering length of a weak scatterer in m.
    scatterer_depth : pair
        Depth of a weak scatterer in m.
    n_decoys : pair
        Number of other objects besides the target, of any kind except mine, layer and bare soil.
    decoy_gain : pair
        Factor on the echoes of a decoy.
    decoy_distance : float
        Maximum distance of a decoy from the center in m, down-track and cross-track.
    n_layers : pair
        Number of interfaces through the whole volume.
    layer_reflection : pair
        Reflection coefficient of an interface, of either sign.
    layer_depth : pair
        Mean depth of an interface in m.
    layer_relief : float
        Root mean square variation of its depth in m.
    layer_length : float
        Correlation length of its depth in m.
    mine_radius, mine_depth, mine_dome, mine_thickness : pair
        Radius of the disc, depth of its top, height of its dome and thickness of the mine in m.
    mine_rim : pair
        Diffraction at the rim relative to the echo of the dome.
    metal_reflection : pair
        Reflection coefficient of the top of a high-metal mine.
    plastic_permittivity : pair
        Relative permittivity of a low-metal mine.
    metal_part : pair
        Scattering length in m of the metal part that half of the low-metal mines have.
    rock_radius, rock_depth : pair
        Radius and depth of a rock in m.
    rock_permittivity : pair
        Relative permittivity of a rock.
    scrap_size, scrap_depth : pair
        Scattering length of a fragment and minimum depth of the fragments in m.
    scrap_spread : float
        Spread of fragments around their center in m; half as much in depth.
    root_radius, root_depth, root_reach : pair
        Radius, depth and half length of a root in m.
    root_permittivity : pair
        Relative permittivity of a root, often that of wet wood. A quarter of the roots are metal pipes instead.
    void_radius, void_depth : pair
        Radius and depth of a chamber in m.
    void_spread : float
        Spread of chambers around their center in m; half as much in depth.
    lens_curvature, lens_reach, lens_depth : pair
        Radius of curvature, extent and depth of a piece of a layer in m.
    lens_reflection : pair
        Reflection coefficient of a piece of a layer, of either sign.

    Examples
    --------
    >>> harder = dataclasses.replace(DIFFICULTIES["hard"], target_gain=0.3)
    """

    target_gain: float = 0.8
    permittivity: Range = (3.0, 14.0)
    attenuation: Range = (1.0, 5.0)
    height: Range = (0.15, 0.30)
    frequency: Range = (1.0e9, 1.5e9)
    ringing: Range = (0.05, 0.25)
    roughness: Range = (0.003, 0.012)
    roughness_length: float = 0.10
    brightness: float = 0.10
    jitter: float = 0.010
    jitter_length: float = 0.20
    noise: float = 0.004
    aim: float = 0.03
    n_scatterers: Counts = (40, 120)
    scatterer_size: Range = (0.002, 0.020)
    scatterer_depth: Range = (0.02, 0.60)
    n_decoys: Counts = (1, 4)
    decoy_gain: Range = (0.3, 1.0)
    decoy_distance: float = 0.50
    n_layers: Counts = (0, 2)
    layer_reflection: Range = (0.02, 0.10)
    layer_depth: Range = (0.05, 0.50)
    layer_relief: float = 0.015
    layer_length: float = 0.30
    mine_radius: Range = (0.12, 0.17)
    mine_depth: Range = (0.03, 0.30)
    mine_dome: Range = (0.02, 0.05)
    mine_thickness: Range = (0.07, 0.12)
    mine_rim: Range = (0.3, 0.6)
    metal_reflection: Range = (-1.0, -0.7)
    plastic_permittivity: Range = (2.6, 3.6)
    metal_part: Range = (0.01, 0.03)
    rock_radius: Range = (0.05, 0.20)
    rock_depth: Range = (0.02, 0.35)
    rock_permittivity: Range = (4.5, 9.0)
    scrap_size: Range = (0.04, 0.30)
    scrap_depth: Range = (0.02, 0.35)
    scrap_spread: float = 0.18
    root_radius: Range = (0.01, 0.04)
    root_depth: Range = (0.02, 0.35)
    root_reach: Range = (0.4, 1.2)
    root_permittivity: Range = (5.0, 25.0)
    void_radius: Range = (0.04, 0.12)
    void_depth: Range = (0.02, 0.35)
    void_spread: float = 0.18
    lens_curvature: Range = (3.0, 8.0)
    lens_reach: Range = (0.25, 0.60)
    lens_depth: Range = (0.02, 0.35)
    lens_reflection: Range = (0.05, 0.25)


DIFFICULTIES: dict[str, Conditions] = {
    "easy": Conditions(
        target_gain=1.2,
        noise=0.002,
        n_decoys=(0, 2),
        decoy_gain=(0.2, 0.6),
        scatterer_size=(0.001, 0.010),
        scrap_spread=0.25,
        void_spread=0.25,
    ),
    "medium": Conditions(),
    "hard": Conditions(
        target_gain=0.4,
        noise=0.008,
        n_decoys=(2, 5),
        decoy_gain=(0.4, 1.2),
        scatterer_size=(0.004, 0.030),
    ),
}
"""Presets for easy, medium and hard: they differ in target strength, noise and clutter."""


def conditions_of(difficulty: str | Conditions) -> Conditions:
    """Return the conditions of a difficulty; `Conditions` are validated and returned."""
    if isinstance(difficulty, Conditions):
        _check(difficulty)
        return difficulty
    if not isinstance(difficulty, str):
        raise InputTypeError(f"difficulty must be a name or Conditions, got {described(difficulty)}.")
    known_name("difficulty", difficulty, DIFFICULTIES)
    return DIFFICULTIES[difficulty]


def _check(conditions: Conditions) -> None:
    for name, value in dataclasses.asdict(conditions).items():
        low, high = value if isinstance(value, tuple) else (value, value)
        if not low <= high:
            raise ParameterError(f"The range of {name} must be ordered (low, high), got {value}.")
        least, what = _LEAST.get(name, (None, ""))
        if least is not None and low < least:
            raise ParameterError(f"{name} must be at least {least} ({what}), got {value}.")
