//! Ranges and units of the numbers in an input file. A number out of range is an error that names the key, before any
//! work.

use toml::{Table, Value};

/// Lengths of shapes.
const LENGTH: Limit = ("nm", 1e-4, 1e6);
/// Angles of rotation.
const ANY_ANGLE: Limit = ("degrees", -1e6, 1e6);
/// Coordinates of particles.
const PLACE: Limit = ("nm", -1e9, 1e9);
/// Numbers of pixels or cells, and indices.
const COUNT: Limit = ("", 0.0, 1e9);

/// Unit, minimum and maximum.
type Limit = (&'static str, f64, f64);

/// The limits of a key in a table; `None` if the number need only be finite. Conditions on several numbers are checked
/// where they are used.
fn limit(table: &str, key: &str) -> Option<Limit> {
    Some(match (table, key) {
        (_, "wavelength") => ("nm", 1e-4, 1e3),
        (_, "energy") => ("eV", 1.0, 1e7),
        (_, "intensity") => ("photons", 1e-30, 1e30),
        (_, "background") => ("counts", 0.0, 1e30),
        ("phi", "from" | "to" | "edges") => ("degrees", -180.0, 180.0),
        ("alpha", "from" | "to" | "edges") => ("degrees", -90.0, 90.0),
        ("flat", "distance") => ("mm", 1e-3, 1e9),
        ("flat", "pixel") => ("mm", 1e-6, 1e6),
        ("flat", "centre") => ("pixels", -1e9, 1e9),
        (_, "columns" | "rows" | "n" | "layer" | "cells") => COUNT,
        ("resolution", "across" | "up") => ("degrees or mm", 0.0, 1e9),
        (_, "thickness") => ("nm", 0.0, 1e9),
        (_, "roughness") => ("nm", 0.0, 1e4),
        ("form", "scale") => ("", 1e-9, 1e9),
        ("form", "below") => ("nm", 0.0, 1e6),
        ("form", "base_angle") => ("degrees", 0.0, 90.0),
        ("form", "radius" | "height" | "length_x" | "width_y" | "edge" | "cut") => LENGTH,
        (_, "at" | "height") => PLACE,
        (_, "turn" | "tilt" | "rotation") => ANY_ANGLE,
        (_, "density") => ("on a nm²", 1e-30, 1e6),
        (_, "a" | "b" | "distance") => ("nm", 1e-3, 1e9),
        (_, "spread") => ("nm", 0.0, 1e6),
        (_, "width") => ("", 0.0, 1e6),
        (_, "samples") => ("", 1.0, 1e4),
        _ => return None,
    })
}

/// The unit of the number at a path of an input file, such as `particles.0.form.radius`; empty for a plain number.
pub fn unit(path: &str) -> &'static str {
    // A list's items have the name of the list.
    let names: Vec<&str> = path
        .split('.')
        .filter(|name| name.parse::<usize>().is_err())
        .collect();
    let Some((key, tables)) = names.split_last() else {
        return "";
    };
    match limit(tables.last().unwrap_or(&""), key) {
        Some(("degrees", ..)) => "°",
        Some(("on a nm²", ..)) => "nm⁻²",
        Some(("counts", ..)) => "photons per pixel",
        Some((unit, ..)) => unit,
        None => "",
    }
}

/// Checks all numbers of an input file.
///
/// # Errors
/// A number is not finite or out of its range; the error names the first one by its path.
pub(super) fn check(table: &Table) -> Result<(), crate::GisaxsError> {
    table
        .iter()
        .try_for_each(|(key, value)| walk(value, key, "", key))
}

/// Checks the numbers of a shape in a file of its own.
///
/// # Errors
/// As [`check`].
pub(crate) fn shape(table: &Table) -> Result<(), crate::GisaxsError> {
    table
        .iter()
        .try_for_each(|(key, value)| walk(value, key, "form", key))
}

fn walk(value: &Value, path: &str, table: &str, key: &str) -> Result<(), crate::GisaxsError> {
    match value {
        Value::Table(t) => t
            .iter()
            .try_for_each(|(k, v)| walk(v, &format!("{path}.{k}"), key, k)),
        Value::Array(a) => a.iter().enumerate().try_for_each(|(n, v)| {
            let path = format!("{path}.{n}");
            match v {
                Value::Table(_) => walk(v, &path, key, key),
                _ => walk(v, &path, table, key),
            }
        }),
        Value::Float(x) => number(*x, path, table, key),
        Value::Integer(n) => number(*n as f64, path, table, key),
        _ => Ok(()),
    }
}

fn number(x: f64, path: &str, table: &str, key: &str) -> Result<(), crate::GisaxsError> {
    // The refractive index is checked as a whole; an infinite domain is valid.
    if matches!(key, "delta" | "beta") || (key == "domain" && x == f64::INFINITY) {
        return Ok(());
    }
    let Some((unit, least, most)) = limit(table, key) else {
        return if x.is_finite() {
            Ok(())
        } else {
            Err(format!("{path} = {x}: it must be a finite number").into())
        };
    };
    if (least..=most).contains(&x) {
        return Ok(());
    }
    let above = if least > 0.0 && x <= 0.0 {
        "it must be above 0, "
    } else {
        "it must lie "
    };
    let space = if unit.is_empty() { "" } else { " " };
    Err(format!(
        "{path} = {}: {above}between {} and {}{space}{unit}",
        short(x),
        short(least),
        short(most)
    )
    .into())
}

/// A number without many zeros: in scientific notation if small or large.
fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-4..1e7).contains(&size) {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_is_wrong_is_named() {
        let fault = |text: &str| check(&toml::from_str(text).unwrap()).unwrap_err();
        for (text, words) in [
            (
                "[[particles]]\nform = { radius = inf }",
                "particles.0.form.radius = inf: it must lie between 0.0001 and 1000000 nm",
            ),
            (
                "[[particles]]\ncore = { form = { height = -1 } }",
                "particles.0.core.form.height = -1: it must be above 0",
            ),
            (
                "[[particles]]\nparacrystal = { a = inf }",
                "particles.0.paracrystal.a = inf",
            ),
            ("[[particles]]\nat = [0, nan, 0]", "particles.0.at.1 = NaN"),
            (
                "[detector]\nalpha = { to = 1e12 }",
                "detector.alpha.to = 1e12: it must lie between -90 and 90 degrees",
            ),
            (
                "[detector]\nphi = { edges = [0, 1, inf] }",
                "detector.phi.edges.2",
            ),
            ("other = inf", "other = inf: it must be a finite number"),
        ] {
            let said = fault(text);
            assert!(said.to_string().contains(words), "{said}");
        }
        let good =
            "[[particles]]\nform = { radius = 5 }\nheight = -3.0\nparacrystal = { domain = inf }";
        check(&toml::from_str(good).unwrap()).unwrap();
    }
}
