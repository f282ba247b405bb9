//! Units of columns and their factors.

/// Units of angles, in degrees.
pub const DEGREES: &[(&str, f64)] = &[
    ("deg", 1.0),
    ("degree", 1.0),
    ("degrees", 1.0),
    ("°", 1.0),
    ("rad", 180.0 / std::f64::consts::PI),
    ("radian", 180.0 / std::f64::consts::PI),
    ("radians", 180.0 / std::f64::consts::PI),
    ("mrad", 0.18 / std::f64::consts::PI),
];

/// Units of q, in 1/nm.
pub const PER_NM: &[(&str, f64)] = &[
    ("1/nm", 1.0),
    ("nm-1", 1.0),
    ("nm^-1", 1.0),
    ("nm⁻¹", 1.0),
    ("1/a", 10.0),
    ("1/å", 10.0),
    ("a-1", 10.0),
    ("a^-1", 10.0),
    ("a⁻¹", 10.0),
    ("å-1", 10.0),
    ("å^-1", 10.0),
    ("å⁻¹", 10.0),
    ("1/angstrom", 10.0),
];

/// Units of energies of photons, in eV.
pub const EV: &[(&str, f64)] = &[("ev", 1.0), ("kev", 1e3)];

/// Units of wavelengths, in nm.
pub const NM: &[(&str, f64)] = &[
    ("nm", 1.0),
    ("å", 0.1),
    ("a", 0.1),
    ("angstrom", 0.1),
    ("ångström", 0.1),
    ("µm", 1e3),
    ("μm", 1e3),
    ("um", 1e3),
    ("micron", 1e3),
    ("microns", 1e3),
    ("m", 1e9),
];

/// The same, where a column without unit is in µm.
pub const MICROMETRES: &[(&str, f64)] = &[
    ("µm", 1e3),
    ("μm", 1e3),
    ("um", 1e3),
    ("nm", 1.0),
    ("å", 0.1),
    ("a", 0.1),
];

/// No unit.
pub const PLAIN: &[(&str, f64)] = &[("1", 1.0), ("", 1.0)];
