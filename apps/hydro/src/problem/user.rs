//! Problems of users: a TOML page with expressions of x, y, z and r.

use super::{Gas, Wall};
use crate::HydroError;
use exmex::{Express as _, Val};
use hashbrown::HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What a page holds; `run` is what flags may give instead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
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
    /// Where it is, by the centres of zones.
    #[serde(default, rename = "where")]
    place: Option<Text>,
    gamma: f64,
    #[serde(default)]
    stiffness: f64,
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
    Words(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum WallText {
    /// `"free"`, or the direction that it is normal to.
    Word(String),
    Given {
        velocity: Vec<toml::Value>,
    },
}

/// Whole numbers of expressions, whose overflow the library does not always check.
type Whole = i128;

/// An expression of the place.
#[derive(Clone, Debug)]
enum Field {
    Number(f64),
    Words(Box<exmex::FlatExVal<Whole, f64>>),
}

/// A material: its gas, where it is, its fields at the start.
#[derive(Clone, Debug)]
struct Material {
    attribute: Option<u32>,
    place: Option<Field>,
    gas: Gas,
    density: Field,
    pressure: Option<Field>,
    energy: Option<Field>,
    velocity: Vec<Field>,
}

/// A problem of a page.
#[derive(Clone, Debug)]
pub struct User {
    pub name: String,
    pub viscosity: bool,
    pub point_energy: Option<f64>,
    pub gravity: Option<[f64; 3]>,
    pub walls: HashMap<u32, Wall>,
    /// What flags may give instead.
    pub run: toml::Table,
    materials: Vec<Material>,
}

/// Characters and opening brackets of an expression.
const LONGEST: usize = 4096;
const MOST_BRACKETS: usize = 200;

const NAMES: [&str; 4] = ["r", "x", "y", "z"];

impl Field {
    fn new(text: &Text) -> Result<Self, String> {
        let words = match text {
            Text::Number(x) => return Ok(Self::Number(*x)),
            Text::Words(w) => w,
        };
        if words.len() > LONGEST {
            return Err(format!("an expression has at most {LONGEST} characters"));
        }
        // The parser calls itself for each.
        if words.matches('(').count() > MOST_BRACKETS {
            return Err(format!(
                "`{words}`: at most {MOST_BRACKETS} brackets in an expression"
            ));
        }
        // The library stops the program where these overflow.
        if let Some(sign) = ["%", "<<", ">>"].iter().find(|s| words.contains(*s)) {
            return Err(format!("`{words}`: `{sign}` is not known"));
        }
        let expression =
            exmex::parse_val::<Whole, f64>(words).map_err(|e| format!("`{words}`: {e}"))?;
        if let Some(name) = expression
            .var_names()
            .iter()
            .find(|n| !NAMES.contains(&n.as_str()))
        {
            return Err(format!(
                "`{words}`: `{name}` is not known: there are x, y, z and r, numbers, and functions such as sin, cos, exp, sqrt, abs; conditions are `1 if x < 0.5 else 2`"
            ));
        }
        let out = Self::Words(Box::new(expression));
        match out.value(&[0.4, 0.3, 0.2]) {
            Ok(_) => Ok(out),
            Err(e) => Err(format!("`{words}`: {e}")),
        }
    }

    fn value(&self, x: &[f64]) -> Result<f64, String> {
        let e = match self {
            Self::Number(x) => return Ok(*x),
            Self::Words(e) => e,
        };
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        let all: Vec<Val<Whole, f64>> = e
            .var_names()
            .iter()
            .map(|n| {
                Val::Float(match n.as_str() {
                    "x" => at(0),
                    "y" => at(1),
                    "z" => at(2),
                    _ => x.iter().map(|x| x * x).sum::<f64>().sqrt(),
                })
            })
            .collect();
        match e.eval(&all) {
            Ok(Val::Float(x)) => Ok(x),
            Ok(Val::Int(i)) => Ok(i as f64),
            Ok(Val::Bool(b)) => Ok(f64::from(u8::from(b))),
            Ok(other) => Err(format!("is no number but {other:?}")),
            Err(e) => Err(e.to_string()),
        }
    }

    /// NaN where there is no value, which the start refuses.
    fn at(&self, x: &[f64]) -> f64 {
        self.value(x).unwrap_or(f64::NAN)
    }
}

impl User {
    /// # Errors
    /// No page, unknown keys, expressions that are none.
    pub fn read(path: &Path) -> Result<Self, HydroError> {
        let text = greenup_files::read_text(path)?;
        Self::of(&text).map_err(|e| HydroError(format!("{}: {e}", path.display())))
    }

    /// # Errors
    /// As [`User::read`].
    pub fn of(text: &str) -> Result<Self, String> {
        let page: Page = toml::from_str(text).map_err(|e| e.to_string())?;
        if page.material.is_empty() {
            return Err("there is no [[material]]".into());
        }
        let mut materials = Vec::new();
        for (i, m) in page.material.iter().enumerate() {
            let wrong = |e: String| format!("material {}: {e}", i + 1);
            if !(m.gamma > 1.0 && m.gamma.is_finite()) {
                return Err(wrong(format!("gamma {}: it must be above 1", m.gamma)));
            }
            if !m.stiffness.is_finite() {
                return Err(wrong(format!("stiffness {}: not finite", m.stiffness)));
            }
            if m.pressure.is_some() == m.energy.is_some() {
                return Err(wrong("give either pressure or energy".into()));
            }
            let field = |t: &Text| Field::new(t).map_err(wrong);
            materials.push(Material {
                attribute: m.attribute,
                place: m.place.as_ref().map(field).transpose()?,
                gas: Gas {
                    gamma: m.gamma,
                    stiffness: m.stiffness,
                },
                density: field(&m.density)?,
                pressure: m.pressure.as_ref().map(field).transpose()?,
                energy: m.energy.as_ref().map(field).transpose()?,
                velocity: m.velocity.iter().map(field).collect::<Result<_, _>>()?,
            });
        }
        let mut walls = HashMap::new();
        for (number, w) in &page.walls {
            let n: u32 = number
                .parse()
                .map_err(|_| format!("walls: `{number}` is no attribute of the mesh"))?;
            walls.insert(n, wall(w).map_err(|e| format!("walls: {number}: {e}"))?);
        }
        let given = page.gravity.iter().flatten().chain(&page.point_energy);
        if let Some(x) = given.into_iter().find(|x| !x.is_finite()) {
            return Err(format!("gravity or point_energy: {x} is not finite"));
        }
        let mut gravity = None;
        if let Some(g) = &page.gravity {
            let mut out = [0.0; 3];
            for (to, x) in out.iter_mut().zip(g) {
                *to = *x;
            }
            gravity = Some(out);
        }
        Ok(Self {
            name: page.name.unwrap_or_else(|| "a problem".into()),
            viscosity: page.viscosity,
            point_energy: page.point_energy,
            gravity,
            walls,
            run: page.run,
            materials,
        })
    }

    /// The number of the material of a zone by its attribute and centre: the first that fits, or the last.
    pub fn material(&self, attribute: u32, centre: &[f64]) -> u32 {
        let fits = |m: &Material| {
            m.attribute.is_none_or(|a| a == attribute)
                && m.place.as_ref().is_none_or(|p| p.at(centre) != 0.0)
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

    pub fn gas(&self, material: u32) -> Gas {
        self.of_zone(material).gas
    }

    pub fn density(&self, material: u32, x: &[f64]) -> f64 {
        self.of_zone(material).density.at(x)
    }

    pub fn velocity(&self, material: u32, x: &[f64]) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (to, v) in out.iter_mut().zip(&self.of_zone(material).velocity) {
            *to = v.at(x);
        }
        out
    }

    pub fn energy(&self, material: u32, x: &[f64]) -> f64 {
        let m = self.of_zone(material);
        match (&m.energy, &m.pressure) {
            (Some(e), _) => e.at(x),
            (None, Some(p)) => {
                let Gas { gamma, stiffness } = m.gas;
                (p.at(x) + gamma * stiffness) / ((gamma - 1.0) * m.density.at(x))
            }
            (None, None) => f64::NAN,
        }
    }
}

fn wall(text: &WallText) -> Result<Wall, String> {
    match text {
        WallText::Word(w) => match w.as_str() {
            "free" => Ok(Wall::free()),
            "x" => Ok(Wall::normal(1)),
            "y" => Ok(Wall::normal(2)),
            "z" => Ok(Wall::normal(3)),
            "fixed" => Ok(Wall {
                held: [Some(0.0); 3],
                straight: false,
            }),
            _ => Err(format!(
                "`{w}`: a wall is \"x\", \"y\", \"z\", \"fixed\", \"free\" or {{ velocity = [...] }}"
            )),
        },
        WallText::Given { velocity } => {
            let mut held = [None; 3];
            for (to, v) in held.iter_mut().zip(velocity) {
                *to = match v {
                    toml::Value::Float(x) if x.is_finite() => Some(*x),
                    toml::Value::Integer(i) => Some(*i as f64),
                    toml::Value::String(s) if s == "free" => None,
                    _ => return Err("a velocity is made of finite numbers and \"free\"".into()),
                };
            }
            Ok(Wall {
                held,
                straight: false,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"
name = "a bubble"
[run]
mesh = "square01_quad"
t_final = 0.1
[[material]]
where = "(x-0.5)*(x-0.5) + (y-0.5)*(y-0.5) < 0.04"
gamma = 4.4
stiffness = 6
density = 1
pressure = "1 if x < 0.5 else 2"
[[material]]
gamma = 1.4
density = "0.1 + 0.1*sin(PI*x)"
energy = "exp(-r)"
velocity = ["y", "-x"]
[walls]
4 = { velocity = [1, "free"] }
5 = "free"
"#;

    #[test]
    fn pages_are_read() {
        let u = User::of(PAGE).unwrap();
        assert_eq!(
            (u.material(1, &[0.5, 0.6]), u.material(1, &[0.1, 0.1])),
            (0, 1)
        );
        assert!((u.energy(0, &[0.2, 0.5]) - (1.0 + 4.4 * 6.0) / 3.4).abs() < 1e-12);
        assert!((u.density(1, &[0.5, 0.0]) - 0.2).abs() < 1e-12);
        assert!((u.energy(1, &[3.0, 4.0]) - (-5.0_f64).exp()).abs() < 1e-15);
        assert_eq!(u.velocity(1, &[2.0, 3.0]), [3.0, -2.0, 0.0]);
        assert_eq!(u.walls[&4].held, [Some(1.0), None, None]);
        for (from, to, word) in [
            ("gamma = 1.4", "gamma = 0.5", "above 1"),
            ("\"exp(-r)\"", "\"exp(-q)\"", "`q` is not known"),
            ("\"exp(-r)\"", "\"exp(-r\"", "material 2"),
            ("viscous", "viscous", ""),
            ("name =", "nome =", "unknown field"),
            ("5 = \"free\"", "5 = \"loose\"", "a wall is"),
            (
                "energy =",
                "pressure = 1\nenergy =",
                "either pressure or energy",
            ),
        ] {
            let text = PAGE.replace(from, to);
            match User::of(&text) {
                Ok(_) => assert!(word.is_empty(), "{to} is accepted"),
                Err(e) => assert!(e.contains(word), "{to}: {e}"),
            }
        }
    }

    #[test]
    fn hostile_expressions_do_not_panic() {
        let nested = format!("{}x{}", "(".repeat(190), ")".repeat(190));
        let signs = "-".repeat(4000) + "x";
        let functions = "sin(".repeat(190) + "x";
        let sums = "x+".repeat(2000) + "x";
        let ifs = "1 if x<1 else ".repeat(200) + "2";
        for words in [
            "2147483647+1",
            "-2147483647-10",
            "2147483647*2",
            "(-2147483647-1)/(-1)",
            "(-2147483647-1)%(-1)",
            "1/0",
            "1%0",
            "2^100",
            "2^(-3)",
            "1<<100",
            "1<<(-1)",
            "1>>77",
            "fact(100)",
            "fact(-1)",
            "abs(-2147483647-1)",
            "to_int(1e300)",
            "to_int(x/0)",
            "[1,2,3]",
            "[1,2,3].7",
            "x.y",
            "length([1,2])",
            "",
            " ",
            "(",
            ")",
            "if",
            "1 if",
            "\u{1F600}",
            "x &&",
            "99999999999999999999",
            "1e999",
            &nested,
            &signs,
            &functions,
            &sums,
            &ifs,
        ] {
            if let Ok(f) = Field::new(&Text::Words(words.to_owned())) {
                f.at(&[1.0, f64::MAX, -0.0]);
            }
        }
    }
}
