//! User-defined problems: TOML files with expressions of x, y, z and r.

mod error;
mod wall;

pub use error::{MaterialError, ProblemFileError};

use super::{Gas, Wall};
use crate::HydroError;
use greenup_space::expr::Expression;
use hashbrown::HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use wall::{WallText, wall};

/// The contents of a problem file; `run` holds settings that flags override.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    #[serde(default)]
    name: Option<String>,
    #[serde(default = "yes")]
    viscosity: bool,
    #[serde(default)]
    point_energy: Option<f64>,
    #[serde(default)]
    gravity: Option<Vec<f64>>,
    #[serde(default)]
    run: toml::Table,
    material: Vec<MaterialText>,
    #[serde(default)]
    walls: BTreeMap<String, WallText>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaterialText {
    /// Attribute of its zones in the mesh.
    #[serde(default)]
    attribute: Option<u32>,
    /// Zones of the material: where the expression is nonzero at the zone centre.
    #[serde(default, rename = "where")]
    position: Option<Text>,
    gamma: f64,
    /// Pressure p∞ of a stiffened gas.
    #[serde(default)]
    p_inf: f64,
    density: Text,
    #[serde(default)]
    pressure: Option<Text>,
    #[serde(default)]
    energy: Option<Text>,
    #[serde(default)]
    velocity: Vec<Text>,
}

/// A number or an expression.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Number(f64),
    Expression(String),
}

/// A number, or an expression of the position.
#[derive(Clone, Debug)]
enum Field {
    Number(f64),
    Expression(Box<Expression>),
}

/// A material: its gas, its zones, its initial fields.
#[derive(Clone, Debug)]
struct Material {
    attribute: Option<u32>,
    position: Option<Field>,
    gas: Gas,
    density: Field,
    pressure: Option<Field>,
    energy: Option<Field>,
    velocity: Vec<Field>,
}

/// A problem from a file.
#[derive(Clone, Debug)]
pub struct User {
    /// Title of the problem, if the file gives one.
    pub name: Option<String>,
    /// Whether there is artificial viscosity.
    pub viscosity: bool,
    /// Energy of a point source at the origin, in the whole space.
    pub point_energy: Option<f64>,
    /// Gravitational acceleration, uniform.
    pub gravity: Option<[f64; 3]>,
    /// Boundary conditions by attribute.
    pub walls: HashMap<u32, Wall>,
    /// Settings of the run, which flags override.
    pub run: toml::Table,
    materials: Vec<Material>,
}

/// Variables of the expressions: coordinates and the distance from the origin.
const VARIABLES: [&str; 4] = ["x", "y", "z", "r"];

impl Field {
    fn new(text: &Text) -> Result<Self, MaterialError> {
        match text {
            Text::Number(x) => Ok(Self::Number(*x)),
            Text::Expression(e) => match Expression::parse(e, &VARIABLES) {
                Ok(parsed) => Ok(Self::Expression(Box::new(parsed))),
                Err(cause) => Err(MaterialError::Expression {
                    text: e.clone(),
                    cause,
                }),
            },
        }
    }

    /// Value at a position; NaN if there is none: no match in `where`, and rejected by the initial state.
    fn at(&self, x: &[f64]) -> f64 {
        let e = match self {
            Self::Number(x) => return *x,
            Self::Expression(e) => e,
        };
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        e.eval_f64(&[at(0), at(1), at(2), r]).unwrap_or(f64::NAN)
    }
}

impl User {
    /// Reads a problem file.
    ///
    /// # Errors
    /// The file cannot be read, has unknown keys, or an expression is invalid.
    pub fn read(path: &Path) -> Result<Self, HydroError> {
        let text = greenup_files::read_text(path)?;
        Self::of(&text).map_err(|e| HydroError::Problem(format!("{}: {e}", path.display())))
    }

    /// Parses the text of a problem file.
    ///
    /// # Errors
    /// The text has unknown keys, or a value or an expression is invalid.
    pub fn of(text: &str) -> Result<Self, ProblemFileError> {
        let file: ProblemFile = toml::from_str(text)?;
        if file.material.is_empty() {
            return Err(ProblemFileError::NoMaterial);
        }
        let mut materials = Vec::new();
        for (i, m) in file.material.iter().enumerate() {
            let wrong = |cause| ProblemFileError::Material {
                number: i + 1,
                cause,
            };
            if !(m.gamma > 1.0 && m.gamma.is_finite()) {
                return Err(wrong(MaterialError::Gamma(m.gamma)));
            }
            if !m.p_inf.is_finite() {
                return Err(wrong(MaterialError::PInf(m.p_inf)));
            }
            if m.pressure.is_some() == m.energy.is_some() {
                return Err(wrong(MaterialError::PressureOrEnergy));
            }
            for (key, t) in m.fields() {
                if let Text::Number(value) = t
                    && !value.is_finite()
                {
                    let value = *value;
                    return Err(wrong(MaterialError::NotFinite { key, value }));
                }
            }
            let field = |t: &Text| Field::new(t).map_err(wrong);
            materials.push(Material {
                attribute: m.attribute,
                position: m.position.as_ref().map(field).transpose()?,
                gas: Gas {
                    gamma: m.gamma,
                    p_inf: m.p_inf,
                },
                density: field(&m.density)?,
                pressure: m.pressure.as_ref().map(field).transpose()?,
                energy: m.energy.as_ref().map(field).transpose()?,
                velocity: m.velocity.iter().map(field).collect::<Result<_, _>>()?,
            });
        }
        let mut walls = HashMap::new();
        let mut keys: HashMap<u32, &String> = HashMap::new();
        for (number, w) in &file.walls {
            let n: u32 = number
                .parse()
                .map_err(|_| ProblemFileError::Attribute(number.clone()))?;
            if let Some(other) = keys.insert(n, number) {
                let keys = [other.clone(), number.clone()];
                return Err(ProblemFileError::WallTwice { number: n, keys });
            }
            walls.insert(n, wall(n, w)?);
        }
        let given = file.gravity.iter().flatten().chain(&file.point_energy);
        if let Some(x) = given.into_iter().find(|x| !x.is_finite()) {
            return Err(ProblemFileError::NotFinite(*x));
        }
        if let Some(e) = file.point_energy.filter(|e| *e < 0.0) {
            return Err(ProblemFileError::PointEnergy(e));
        }
        let lengths = (file.walls.values())
            .map(|w| ("velocity", w.components()))
            .chain(file.material.iter().map(|m| ("velocity", m.velocity.len())))
            .chain(file.gravity.iter().map(|g| ("gravity", g.len())));
        if let Some((key, _)) = lengths.into_iter().find(|(_, n)| *n > 3) {
            return Err(ProblemFileError::Components(key));
        }
        let mut gravity = None;
        if let Some(g) = &file.gravity {
            let mut out = [0.0; 3];
            for (to, x) in out.iter_mut().zip(g) {
                *to = *x;
            }
            gravity = Some(out);
        }
        Ok(Self {
            name: file.name,
            viscosity: file.viscosity,
            point_energy: file.point_energy,
            gravity,
            walls,
            run: file.run,
            materials,
        })
    }

    /// Checks that walls and gravity have no components beyond the dimension of a mesh, which would change nothing.
    ///
    /// # Errors
    /// A wall is normal to an absent direction, or a velocity or gravity is not 0 along one.
    pub fn fits_dimension(&self, dim: usize) -> Result<(), ProblemFileError> {
        let beyond = |what: String, axis: usize| ProblemFileError::Beyond {
            what,
            axis: VARIABLES[axis],
            dim,
        };
        let mut walls: Vec<(&u32, &Wall)> = self.walls.iter().collect();
        walls.sort_unstable_by_key(|w| w.0);
        for (number, w) in walls {
            let acts = |c: &usize| w.constrained[*c].is_some_and(|v| w.straight || v != 0.0);
            if let Some(axis) = (dim..3).find(acts) {
                return Err(beyond(format!("walls: {number}"), axis));
            }
        }
        let gravity = self.gravity.unwrap_or_default();
        match (dim..3).find(|c| gravity[*c] != 0.0) {
            Some(axis) => Err(beyond("gravity".into(), axis)),
            None => Ok(()),
        }
    }

    /// Number of materials.
    pub fn materials(&self) -> usize {
        self.materials.len()
    }

    /// Which of density, pressure and energy of a material is infinite or has no value at a position, and its value.
    pub fn not_finite(&self, material: u32, x: &[f64]) -> Option<(&'static str, f64)> {
        let m = self.of_zone(material);
        let fields = [
            ("density", Some(&m.density)),
            ("pressure", m.pressure.as_ref()),
            ("energy", m.energy.as_ref()),
        ];
        let mut values = fields
            .into_iter()
            .filter_map(|(key, f)| Some((key, f?.at(x))));
        values.find(|(_, value)| !value.is_finite())
    }

    /// Checks that a material is defined for a zone with a mesh attribute and a centre.
    ///
    /// # Errors
    /// No material fits, or a `where` has no value there.
    pub fn fits(&self, attribute: u32, centre: &[f64]) -> Result<(), MaterialError> {
        for (i, m) in self.materials.iter().enumerate() {
            if m.attribute.is_some_and(|a| a != attribute) {
                continue;
            }
            match m.position.as_ref().map_or(1.0, |p| p.at(centre)) {
                v if v.is_nan() => {
                    return Err(MaterialError::NoValue {
                        number: i + 1,
                        centre: centre.to_vec(),
                    });
                }
                0.0 => {}
                _ => return Ok(()),
            }
        }
        Err(MaterialError::NoneFits {
            attribute,
            centre: centre.to_vec(),
        })
    }

    /// Material number of a zone with a mesh attribute and a centre: the first material that fits, or the last.
    pub fn material(&self, attribute: u32, centre: &[f64]) -> u32 {
        let fits = |m: &Material| {
            m.attribute.is_none_or(|a| a == attribute)
                && m.position.as_ref().is_none_or(|p| {
                    let v = p.at(centre);
                    v != 0.0 && !v.is_nan()
                })
        };
        let n = self
            .materials
            .iter()
            .position(fits)
            .unwrap_or(self.materials.len() - 1);
        n as u32
    }

    fn of_zone(&self, material: u32) -> &Material {
        &self.materials[(material as usize).min(self.materials.len() - 1)]
    }

    /// Gas of a material.
    pub fn gas(&self, material: u32) -> Gas {
        self.of_zone(material).gas
    }

    /// Initial density of a material at a position; NaN if the expression has no value.
    pub fn density(&self, material: u32, x: &[f64]) -> f64 {
        self.of_zone(material).density.at(x)
    }

    /// Initial velocity of a material at a position; NaN if the expression has no value.
    pub fn velocity(&self, material: u32, x: &[f64]) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (to, v) in out.iter_mut().zip(&self.of_zone(material).velocity) {
            *to = v.at(x);
        }
        out
    }

    /// Initial specific internal energy of a material at a position, from its energy or its pressure.
    pub fn energy(&self, material: u32, x: &[f64]) -> f64 {
        let m = self.of_zone(material);
        match (&m.energy, &m.pressure) {
            (Some(e), _) => e.at(x),
            (None, Some(p)) => {
                let Gas { gamma, p_inf } = m.gas;
                (p.at(x) + gamma * p_inf) / ((gamma - 1.0) * m.density.at(x))
            }
            (None, None) => f64::NAN,
        }
    }
}

impl MaterialText {
    /// Its fields with their keys.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &Text)> {
        let own = [
            ("where", self.position.as_ref()),
            ("density", Some(&self.density)),
            ("pressure", self.pressure.as_ref()),
            ("energy", self.energy.as_ref()),
        ];
        (own.into_iter())
            .filter_map(|(key, t)| Some((key, t?)))
            .chain(self.velocity.iter().map(|t| ("velocity", t)))
    }
}

#[cfg(test)]
mod tests;
