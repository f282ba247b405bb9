//! Refractive indices of layers and particles.

use super::optical_table::at;
use crate::GisaxsError;
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
    /// Table over the energy or the wavelength, instead of both numbers.
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

/// The most that n differs from 1 for X-rays and in the extreme ultraviolet; more is a column of n taken for delta, or the reverse.
const DELTA: f64 = 0.5;

fn checked((delta, beta): (f64, f64)) -> Result<(f64, f64), crate::GisaxsError> {
    if delta.abs() <= DELTA && (0.0..=1.0).contains(&beta) {
        Ok((delta, beta))
    } else {
        Err(format!(
            "invalid refractive index: delta {delta}, beta {beta}; n = 1 - delta + i beta, where delta lies between -{DELTA} and {DELTA}, \
             beta between 0 and 1. Columns of n and k are named so in the header of a table: energy, n, k"
        ).into())
    }
}
