//! Tables of the refractive index over the energy or the wavelength, as databases write them: δ and β of n = 1 − δ + iβ (Center
//! for X-Ray Optics), or n and k of n + ik (refractiveindex.info), also as two tables below each other in one file.

use crate::GisaxsError;
use crate::table::{Column, EV, Layout, MICROMETRES, NM, PLAIN, Rows, fail};
use std::path::Path;

/// Wavelength times energy of a photon, nm eV.
pub(super) const HC: f64 = 1_239.841_984;

const fn column(names: &'static [&'static str], units: &'static [(&'static str, f64)]) -> Column {
    Column {
        names,
        units,
        absent: Some(f64::NAN),
    }
}

/// A table of a material; a header names some of the columns.
const TABLE: Layout = Layout {
    columns: &[
        column(&["energy", "e", "photonenergy"], EV),
        column(&["delta", "δ"], PLAIN),
        column(&["beta", "β"], PLAIN),
        column(&["wavelength", "lambda", "λ"], NM),
        column(&["wl"], MICROMETRES),
        column(&["n"], PLAIN),
        column(&["k", "κ", "kappa"], PLAIN),
        column(&["f1"], PLAIN),
        column(&["f2"], PLAIN),
    ],
    unused: &[],
    plain: 3,
    more: false,
    gaps: false,
};

/// δ and β at an energy, eV, by interpolation between two rows of a table: between absorption edges they are powers of the
/// energy.
///
/// # Errors
/// The file cannot be read, has other columns, energies that do not rise or fall throughout, or does not reach the energy.
pub(super) fn at(path: &Path, energy: f64) -> Result<(f64, f64), GisaxsError> {
    let text = greenup_files::read_text(path)?;
    let (first, second) = parts(&text);
    let mut rows = indices(path, &TABLE.read_text(path, &first)?)?;
    if let Some(second) = second {
        rows = both(
            path,
            &rows,
            &indices(path, &TABLE.read_text(path, &second)?)?,
        )?;
    }
    if let Some(r) = rows.iter().find(|r| r.delta.is_nan() || r.beta.is_nan()) {
        let missing = match (r.delta.is_nan(), r.wave) {
            (true, true) => "n",
            (true, false) => "delta",
            (false, true) => "k",
            (false, false) => "beta",
        };
        return Err(fail(path, format!("has no column {missing}: {COLUMNS}")));
    }
    if rows.len() > 1 && rows[0].energy > rows[1].energy {
        rows.reverse();
    }
    if let Some(w) = rows.windows(2).find(|w| w[0].energy >= w[1].energy) {
        let line = w[0].line.max(w[1].line);
        let message =
            format!("line {line}: energies or wavelengths must rise, or fall, throughout");
        return Err(fail(path, message));
    }
    between(path, &rows, energy)
}

/// What a table must have.
const COLUMNS: &str = "a table has energy (eV) or wavelength (nm), and delta and beta or n and k";

/// A row of a table; NaN where it has no such column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Index {
    line: usize,
    /// eV.
    energy: f64,
    delta: f64,
    beta: f64,
    /// Whether it was given as n and k.
    wave: bool,
}

/// The indices of rows, whose columns are the same in each.
fn indices(path: &Path, rows: &Rows) -> Result<Vec<Index>, GisaxsError> {
    let wrong = |m: &str| Err(fail(path, m));
    let has = |k: usize| !rows[0].1[k].is_nan();
    if has(7) || has(8) {
        return wrong(
            "f1 and f2 are scattering factors of atoms, from which δ and β follow only with a density. \
             Fix: take a table of the index of refraction, with delta and beta",
        );
    }
    if [0, 3, 4].into_iter().filter(|k| has(*k)).count() != 1
        || (has(1) || has(2)) == (has(5) || has(6))
    {
        return wrong(&format!("has other columns: {COLUMNS}"));
    }
    let wave = has(5) || has(6);
    rows.iter()
        .map(|(line, v)| {
            let length = if has(3) { v[3] } else { v[4] };
            let energy = if has(0) { v[0] } else { HC / length };
            if !(energy > 0.0 && energy.is_finite()) {
                return Err(fail(
                    path,
                    format!("line {line}: energies and wavelengths must be above 0"),
                ));
            }
            Ok(Index {
                line: *line,
                energy,
                delta: if wave { 1.0 - v[5] } else { v[1] },
                beta: if wave { v[6] } else { v[2] },
                wave,
            })
        })
        .collect()
}

/// A file that has a second header below its rows, as two texts whose lines have the numbers of the file.
fn parts(text: &str) -> (String, Option<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let is_number = |word: &str| word.trim_matches('"').parse::<f64>().is_ok();
    let first = |line: &str| {
        line.split([',', ';', '\t', ' '])
            .find(|w| !w.is_empty())
            .map(is_number)
    };
    let rows = lines
        .iter()
        .position(|l| first(l) == Some(true))
        .unwrap_or(0);
    let starts_with_letter = |l: &&str| l.trim_start_matches('"').starts_with(char::is_alphabetic);
    let header =
        (lines.iter().skip(rows)).position(|l| first(l) == Some(false) && starts_with_letter(l));
    match header.map(|k| rows + k) {
        Some(k) => {
            let below = "\n".repeat(k) + lines[k..].join("\n").as_str();
            (lines[..k].join("\n"), Some(below))
        }
        None => (text.to_owned(), None),
    }
}

/// Rows of two tables with the same energies, of which each has one of both numbers.
fn both(path: &Path, a: &[Index], b: &[Index]) -> Result<Vec<Index>, GisaxsError> {
    let of = |x: f64, y: f64| if x.is_nan() { y } else { x };
    let merged = |(a, b): (&Index, &Index)| {
        let twice = |x: f64, y: f64| !x.is_nan() && !y.is_nan();
        if (a.energy / b.energy - 1.0).abs() > 1e-9
            || twice(a.delta, b.delta)
            || twice(a.beta, b.beta)
        {
            return None;
        }
        Some(Index {
            delta: of(a.delta, b.delta),
            beta: of(a.beta, b.beta),
            ..*a
        })
    };
    let all: Option<Vec<Index>> = a.iter().zip(b).map(merged).collect();
    all.filter(|all| all.len() == a.len() && a.len() == b.len()).ok_or_else(|| {
        let message = format!(
            "line {}: a second table begins, which does not complete the first: both must have the same energies or wavelengths, \
             one n and the other k",
            b[0].line
        );
        fail(path, message)
    })
}

/// Between two rows of rising energies.
fn between(path: &Path, rows: &[Index], energy: f64) -> Result<(f64, f64), GisaxsError> {
    let after = rows.partition_point(|r| r.energy < energy);
    // Energies of wavelengths are rounded.
    let is_same = |r: &&Index| (r.energy / energy - 1.0).abs() < 1e-12;
    let near = [Some(after), after.checked_sub(1)].into_iter().flatten();
    if let Some(r) = near.filter_map(|n| rows.get(n)).find(is_same) {
        return Ok((r.delta, r.beta));
    }
    let (Some(b), Some(a)) = (rows.get(after), after.checked_sub(1).map(|n| &rows[n])) else {
        let (lo, hi) = (rows[0].energy, rows[rows.len() - 1].energy);
        return Err(fail(
            path,
            format!(
                "reaches from {lo} to {hi} eV (wavelengths {:.6} to {:.6} nm), not to the beam's {energy:.1} eV",
                HC / hi,
                HC / lo
            ),
        ));
    };
    let share = (energy / a.energy).ln() / (b.energy / a.energy).ln();
    let mix = |x: f64, y: f64| {
        if x > 0.0 && y > 0.0 {
            x * (y / x).powf(share)
        } else {
            x + (y - x) * share
        }
    };
    Ok((mix(a.delta, b.delta), mix(a.beta, b.beta)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, energy: f64) -> Result<(f64, f64), String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("si.dat");
        std::fs::write(&path, text).unwrap();
        at(&path, energy).map_err(|e| e.to_string())
    }

    #[test]
    fn tables_are_read_between_their_rows() {
        let table = "energy,delta,beta\n8000,8e-6,2e-7\n16000,2e-6,1.25e-8\n";
        let (delta, beta) = read(table, 8000.0 * 2.0_f64.sqrt()).unwrap();
        assert!((delta / 4e-6 - 1.0).abs() < 1e-12 && (beta / 5e-8 - 1.0).abs() < 1e-12);
        assert_eq!(read(table, 16000.0), Ok((2e-6, 1.25e-8)));
        assert!(read(table, 7999.0).unwrap_err().contains("7999"));
        // Falling energies are as good; those that turn are not.
        let falling = "8000,8e-6,2e-7\n7000,2e-6,1e-8\n";
        assert_eq!(read(falling, 7000.0), Ok((2e-6, 1e-8)));
        let e = read(&format!("{falling}7500,1e-6,1e-8\n"), 7500.0).unwrap_err();
        assert!(
            e.contains("line 3: energies or wavelengths must rise"),
            "{e}"
        );
    }

    /// As the Center for X-Ray Optics writes them.
    #[test]
    fn titles_and_headers_of_other_separators_are_read() {
        let rows = "  8000.000  7.67130E-06  1.77000E-07\n  16000.00  1.91000E-06  1.22000E-08\n";
        for (head, energy) in [
            (" Si Density=2.33\n Energy(eV), Delta, Beta\n", 8000.0),
            (
                " Si Density=2.33\n Wavelength(nm), Delta, Beta\n",
                HC / 8000.0,
            ),
            ("# energy beta delta\n# end\n", 8000.0),
            ("# energy (keV), delta, beta\n", 8e6),
            ("Wavelength (Å), delta, beta\n", HC / 800.0),
            ("wavelength [µm] n k\n", HC / 8e6),
        ] {
            let found = read(&format!("{head}{rows}"), energy);
            let want = match head {
                h if h.contains("beta delta") => (1.77e-7, 7.6713e-6),
                h if h.contains(" n k") => (1.0 - 7.6713e-6, 1.77e-7),
                _ => (7.6713e-6, 1.77e-7),
            };
            assert_eq!(found, Ok(want), "{head}");
        }
        let e = read(&format!("# wavelength (eV) delta beta\n{rows}"), 8000.0).unwrap_err();
        assert!(e.contains("line 1: \"wavelength (eV) delta beta\""), "{e}");
    }

    /// As refractiveindex.info writes them: µm, and k below n.
    #[test]
    fn tables_of_n_and_k_below_each_other_are_read() {
        let n = "wl,n\n1.0e-04,0.999990\n2.0e-04,0.999960\n";
        let k = "wl,k\n1.0e-04,1e-7\n2.0e-04,8e-7\n";
        let energy = HC / 0.2;
        for text in [
            format!("{n}\n{k}"),
            format!("{k}{n}").replace('\n', "\r\n"),
            "wl,n,k\n1.0e-04,0.999990,1e-7\n2.0e-04,0.999960,8e-7\n".to_owned(),
            "wl\tn\tk\n1.0e-04\t0.999990\t1e-7\n2.0e-04\t0.999960\t8e-7\n".to_owned(),
        ] {
            let (delta, beta) = read(&text, energy).unwrap();
            assert!((delta / 4e-5 - 1.0).abs() < 1e-9 && beta == 8e-7, "{text}");
        }
        for (text, why) in [
            (
                n.to_owned(),
                "has no column k: a table has energy (eV) or wavelength (nm), and",
            ),
            (format!("{n}{n}"), "line 5: a second table begins"),
            (
                format!("{n}{}", k.replace("2.0", "3.0")),
                "line 5: a second table begins",
            ),
            (
                "E(eV)\tf1\tf2\n10\t-9999.\t1\n".to_owned(),
                "scattering factors of atoms",
            ),
            ("n,k\n1,0\n".to_owned(), "has other columns"),
            (
                "energy,wavelength,n,k\n1,1,1,0\n".to_owned(),
                "has other columns",
            ),
            ("energy,delta,k\n1,1,0\n".to_owned(), "has other columns"),
            ("energy,delta\n1,1\n".to_owned(), "has no column beta"),
            (
                "wavelength (inch),n,k\n1,1,0\n".to_owned(),
                "the unit of \"wavelength (inch)\" is unknown",
            ),
            (
                "wavelength,n,k\n0,1,0\n".to_owned(),
                "line 2: energies and wavelengths must be above 0",
            ),
        ] {
            let e = read(&text, energy).unwrap_err();
            assert!(e.contains(why), "{text}: {e}");
        }
    }
}
