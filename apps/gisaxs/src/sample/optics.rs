//! Refractive indices of layers and particles.

use crate::GisaxsError;
use crate::table::{self, Column, Layout};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A material: its refractive index, or a table over the energy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialText {
    /// δ of the refractive index n = 1 − δ + iβ.
    pub delta: Option<f64>,
    /// β of the refractive index n = 1 − δ + iβ.
    pub beta: Option<f64>,
    /// CSV table with columns energy (eV), delta, beta, instead of both numbers.
    pub file: Option<PathBuf>,
}

/// δ and β of each material by name, at the energy of the beam.
#[derive(Clone, Debug, Default)]
pub struct Materials(BTreeMap<String, (f64, f64)>);

impl Materials {
    /// The materials at a photon energy, eV; relative paths of tables start at `dir`.
    ///
    /// # Errors
    /// A table cannot be read or does not contain the energy, or a material is incomplete or invalid.
    pub fn new(
        text: &BTreeMap<String, MaterialText>,
        energy: f64,
        dir: &Path,
    ) -> Result<Self, GisaxsError> {
        let mut out = BTreeMap::new();
        for (name, m) in text {
            let wrong = |m: GisaxsError| GisaxsError::Sample(format!("material {name}: {m}"));
            let index = match (&m.file, m.delta) {
                (None, Some(delta)) => (delta, m.beta.unwrap_or(0.0)),
                (Some(file), None) if m.beta.is_none() => at(&dir.join(file), energy)?,
                _ => return Err(wrong("give delta and beta, or a file".into())),
            };
            out.insert(name.clone(), checked(index).map_err(wrong)?);
        }
        Ok(Self(out))
    }

    /// δ and β of a layer or a particle, from the name of a material or from its own numbers.
    ///
    /// # Errors
    /// The material is unknown, both are given, or the numbers are out of range.
    pub fn index(
        &self,
        name: Option<&str>,
        delta: Option<f64>,
        beta: Option<f64>,
    ) -> Result<(f64, f64), crate::GisaxsError> {
        match (name, delta, beta) {
            (Some(name), None, None) => self.0.get(name).copied().ok_or_else(|| {
                let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
                GisaxsError::from(format!(
                    "material \"{name}\" is unknown; [materials] has {}",
                    if known.is_empty() {
                        "none".into()
                    } else {
                        known.join(", ")
                    }
                ))
            }),
            (Some(_), ..) => Err("give a material, or delta and beta, not both".into()),
            (None, delta, beta) => checked((delta.unwrap_or(0.0), beta.unwrap_or(0.0))),
        }
    }
}

fn checked((delta, beta): (f64, f64)) -> Result<(f64, f64), crate::GisaxsError> {
    if delta.abs() < 1.0 && (0.0..=1.0).contains(&beta) {
        Ok((delta, beta))
    } else {
        Err(format!(
            "invalid refractive index: delta {delta}, beta {beta}; delta lies between -1 and 1, beta between 0 and 1"
        ).into())
    }
}

/// A table of a material.
const TABLE: Layout = Layout {
    columns: &[
        Column {
            names: &["energy", "e", "photonenergy"],
            units: table::EV,
            absent: None,
        },
        Column {
            names: &["delta", "δ"],
            units: table::PLAIN,
            absent: None,
        },
        Column {
            names: &["beta", "β"],
            units: table::PLAIN,
            absent: None,
        },
    ],
    unused: &[],
    more: false,
    gaps: false,
};

/// δ and β at an energy by interpolation between two rows of a table: between absorption edges they are powers of the
/// energy.
fn at(path: &Path, energy: f64) -> Result<(f64, f64), GisaxsError> {
    let rows = TABLE.read(path)?;
    let fail = |m: String| table::fail(path, m);
    let sorted = rows.windows(2).find(|w| w[0].1[0] >= w[1].1[0]);
    if let Some(w) = sorted {
        return Err(fail(format!("line {}: energies must rise", w[1].0)));
    }
    let after = rows.partition_point(|r| r.1[0] < energy);
    if let Some((_, r)) = rows.get(after).filter(|r| r.1[0] == energy) {
        return Ok((r[1], r[2]));
    }
    let (Some((_, b)), Some((_, a))) = (rows.get(after), after.checked_sub(1).map(|n| &rows[n]))
    else {
        return Err(fail(format!(
            "reaches from {} to {} eV, not to the beam's {energy:.1}",
            rows[0].1[0],
            rows[rows.len() - 1].1[0]
        )));
    };
    let share = (energy / a[0]).ln() / (b[0] / a[0]).ln();
    let between = |x: f64, y: f64| {
        if x > 0.0 && y > 0.0 {
            x * (y / x).powf(share)
        } else {
            x + (y - x) * share
        }
    };
    Ok((between(a[1], b[1]), between(a[2], b[2])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_between_their_rows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("si.csv");
        std::fs::write(
            &path,
            "energy,delta,beta\n8000,8e-6,2e-7\n16000,2e-6,1.25e-8\n",
        )
        .unwrap();
        let (delta, beta) = at(&path, 8000.0 * 2.0_f64.sqrt()).unwrap();
        assert!((delta / 4e-6 - 1.0).abs() < 1e-12 && (beta / 5e-8 - 1.0).abs() < 1e-12);
        assert_eq!(at(&path, 16000.0).unwrap(), (2e-6, 1.25e-8));
        assert!(at(&path, 7999.0).unwrap_err().to_string().contains("7999"));
        std::fs::write(&path, "8000,8e-6,2e-7\n7000,2e-6,1e-8\n").unwrap();
        assert!(
            at(&path, 7500.0)
                .unwrap_err()
                .to_string()
                .contains("line 2")
        );
    }

    /// As the Center for X-Ray Optics writes them.
    #[test]
    fn titles_and_headers_of_other_separators_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("si.dat");
        let rows = "  8000.000  7.67130E-06  1.77000E-07\n  16000.00  1.91000E-06  1.22000E-08\n";
        for (head, energy) in [
            (" Si Density=2.33\n Energy(eV), Delta, Beta\n", 8000.0),
            ("# energy beta delta\n# end\n", 8000.0),
            ("# energy (keV), delta, beta\n", 8e6),
        ] {
            std::fs::write(&path, format!("{head}{rows}")).unwrap();
            let (delta, beta) = at(&path, energy).unwrap();
            let want = if head.contains("beta delta") {
                (1.77e-7, 7.6713e-6)
            } else {
                (7.6713e-6, 1.77e-7)
            };
            assert_eq!((delta, beta), want, "{head}");
        }
        std::fs::write(&path, format!("# wavelength (eV) delta beta\n{rows}")).unwrap();
        let e = at(&path, 8000.0).unwrap_err().to_string();
        assert!(e.contains("line 1: \"wavelength (eV) delta beta\""), "{e}");
    }
}
