"""The numbers of the simulation, all in one value a difficulty."""

from __future__ import annotations

import dataclasses

from fuzzymil._utils.errors import InputTypeError, ParameterError, described, known_name

__all__ = ["DIFFICULTIES", "Conditions", "conditions_of"]

Range = tuple[float, float]
Counts = tuple[int, int]

_LEAST: dict[str, tuple[float, str]] = {
    "permittivity": (1.0, "that of air"),
    "plastic_permittivity": (1.0, "that of air"),
    "rock_permittivity": (1.0, "that of air"),
    "root_permittivity": (1.0, "that of air"),
    "attenuation": (0.0, "soil does not amplify"),
    "height": (0.1, "nearer antennas would touch rough ground"),
    "noise": (0.0, "it is a standard deviation"),
    "n_scatterers": (0, "it is a count"),
    "n_decoys": (0, "it is a count"),
    "n_layers": (0, "it is a count"),
}


@dataclasses.dataclass(frozen=True)
class Conditions:
    """Where and what is simulated.

    A pair is the range that a value is drawn from, uniformly; of counts (their names begin with ``n_``) both ends are
    included.

    Parameters
    ----------
    target_gain : float
        Factor on the echoes of what the alarm is about, mine or not: the one number without a physics of its own.
    permittivity : pair
        Relative, of the soil.
    attenuation : pair
        Np/m, of the soil.
    height : pair
        m, of the antennas.
    frequency : pair
        Hz, of the Ricker wavelet.
    ringing : pair
        Each copy of the pulse relative to the one before.
    roughness : pair
        m, root mean square of the surface.
    roughness_length : float
        m, correlation length of the surface.
    brightness : float
        Relative deviation of the surface's echo from place to place.
    jitter : float
        m, root mean square of the antennas' height along the track.
    jitter_length : float
        m, correlation length of the antennas' height.
    noise : float
        Standard deviation of a sample; 1 is the echo of a mirror one meter away.
    aim : float
        m, standard deviation of a target's place around the middle, down-track and cross-track.
    n_scatterers : pair
        Weak points in the whole volume.
    scatterer_size : pair
        m, scattering length of a weak point.
    scatterer_depth : pair
        m.
    n_decoys : pair
        Other objects beside the target, of any kind but mine, layer and bare soil.
    decoy_gain : pair
        Factor on the echoes of a decoy.
    decoy_distance : float
        m, greatest distance of a decoy from the middle, down-track and cross-track.
    n_layers : pair
        Interfaces through the whole volume.
    layer_reflection : pair
        Reflection coefficient of such an interface, of either sign.
    layer_depth : pair
        m, mean depth of such an interface.
    layer_relief : float
        m, root mean square of its depth around the mean.
    layer_length : float
        m, correlation length of its depth.
    mine_radius, mine_depth, mine_dome, mine_thickness : pair
        m: of the disc, of its top below the surface, of the dome on it, between its top and bottom.
    mine_rim : pair
        Diffraction at the rim, relative to the dome's echo straight above.
    metal_reflection : pair
        Of the top of a high-metal mine.
    plastic_permittivity : pair
        Relative, of a low-metal mine.
    metal_part : pair
        m, scattering length of the metal part that half of the low-metal mines have.
    rock_radius, rock_depth : pair
        m.
    rock_permittivity : pair
        Relative.
    scrap_size, scrap_depth : pair
        m: scattering length of a fragment, depth of the highest one at least.
    scrap_spread : float
        m, of fragments around their middle; half of it in depth.
    root_radius, root_depth, root_reach : pair
        m; the reach to both sides of the middle.
    root_permittivity : pair
        Relative; wet wood is near or above soil. A quarter of them are metal pipes.
    void_radius, void_depth : pair
        m, of a chamber.
    void_spread : float
        m, of chambers around their middle; half of it in depth.
    lens_curvature, lens_reach, lens_depth : pair
        m, of a piece of a layer.
    lens_reflection : pair
        Reflection coefficient, of either sign.

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
"""Easy, medium and hard: they differ in how strong the target is, how much else there is, and how it is strewn."""


def conditions_of(difficulty: str | Conditions) -> Conditions:
    """Return the conditions of a difficulty, or conditions as they are.

    Examples
    --------
    >>> conditions_of("medium") == Conditions()
    True
    """
    if isinstance(difficulty, Conditions):
        _check(difficulty)
        return difficulty
    if not isinstance(difficulty, str):
        raise InputTypeError(f"A difficulty is a name or Conditions, got {described(difficulty)}.")
    known_name("difficulty", difficulty, DIFFICULTIES)
    return DIFFICULTIES[difficulty]


def _check(conditions: Conditions) -> None:
    for name, value in dataclasses.asdict(conditions).items():
        low, high = value if isinstance(value, tuple) else (value, value)
        if not low <= high:
            raise ParameterError(f"The range of {name} must go from the lower to the higher value, got {value}.")
        least, what = _LEAST.get(name, (None, ""))
        if least is not None and low < least:
            raise ParameterError(f"{name} must be at least {least}: {what}; got {value}.")
