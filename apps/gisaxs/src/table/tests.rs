//! Tables that are read, and those that are refused.

use super::*;

const LAYOUT: Layout = Layout {
    columns: &[
        Column {
            names: &["alpha", "α"],
            units: DEGREES,
            absent: None,
        },
        Column {
            names: &["qx"],
            units: PER_NM,
            absent: Some(7.0),
        },
    ],
    unused: &["r"],
    plain: 2,
    more: false,
    gaps: false,
};

fn read(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let rows = LAYOUT.read(&path).map_err(|e| e.to_string())?;
    Ok(rows.into_iter().map(|r| r.1).collect())
}

#[test]
fn headers_decide_on_columns_and_units() {
    for text in [
        "1,2\n",
        "# a comment\n\n1, 2 # more\n",
        "alpha,qx\n1,2\n",
        "\u{feff}qx,R,alpha\r\n2,0.5,1\r\n",
        "\"qx\";\"α\"\n2;1\n",
        "alpha_deg qx_1/nm\n1 2\n",
        "qx [nm^-1],alpha (deg)\n2,1\n",
        "q_x (1/A),Alpha [degrees]\n0.2,1\n",
        "Qx/Å⁻¹\talpha\n0.2\t1\n",
        "alpha/deg,qx/nm-1\r1,2\r",
        "# made by hand\n# qx,alpha\n2,1\n",
        "# qx, made by hand\n1,2\n",
        "# qx alpha\n2,1\n",
        "# qx,alpha\n# data\n2,1\n",
        "# made on 2 May\n# alpha_deg,qx_1/nm # by hand\n1 2\n",
        "# qx (1/A) alpha (deg)\n0.2,1\n",
        "qx ( 1/nm ) alpha\n2 1\n",
        " Film Density=2.33\n Alpha(deg), Qx(1/nm)\n  1.0  2.0\n",
        "# α = 0.5\n# energy (eV): 8000\nalpha,qx\n1,2\n",
        "# alpha scan of a film, 8 keV\n1,2\n",
        "# divergence 0.1 mrad\n1,2\n",
        "# thin film, R factor\n1,2\n",
        // Titles above a header.
        "# alpha scan\nalpha,qx\n1,2\n",
        "alpha scan\nalpha,qx\n1,2\n",
        "# energy (eV) 8000\nalpha,qx\n1,2\n",
        "# alpha 0.2\nalpha,qx\n1,2\n",
        "# R factors\nalpha,qx\n1,2\n",
        "# energy (eV) 8000\n1,2\n",
    ] {
        assert_eq!(read(text), Ok(vec![vec![1.0, 2.0]]), "{text}");
    }
    let mrad = read("alpha_mrad\n1000\n").unwrap();
    assert!((mrad[0][0] - 1.0_f64.to_degrees()).abs() < 1e-12 && mrad[0][1] == 7.0);
    for text in [
        "alpha_rad\n1\n",
        "alpha (rad)\n1\n",
        "# alpha (rad)\n1\n",
        "# alpha [ rad ]\n# end\n1\n",
        "# alpha_rad R\n1,0.5\n",
        "alpha (rad) R (1)\n1 0.5\n",
    ] {
        assert_eq!(read(text).unwrap()[0][0], 1.0_f64.to_degrees(), "{text}");
    }
}

#[test]
fn what_is_not_understood_is_named() {
    for (text, message) in [
        (
            "alpha,qz\n1,2\n",
            "line 1: the column \"qz\" is unknown; the columns are alpha,qx",
        ),
        ("qx,r\n1,2\n", "line 1: the column alpha is missing"),
        ("alpha,α\n1,2\n", "line 1: the column alpha is there twice"),
        (
            "alpha (grad),qx\n1,2\n",
            "line 1: the unit of \"alpha (grad)\" is unknown; known are deg",
        ),
        ("alpha,qx (eV)\n1,2\n", "the unit of \"qx (eV)\""),
        ("1\n", "line 1: 1 columns; 2 are expected: alpha,qx"),
        ("1,2,3\n", "line 1: 3 columns; 2 are expected: alpha,qx"),
        (
            "alpha,qx\n1,2\n1\n",
            "line 3: 1 columns, but the header has 2",
        ),
        ("1,2\n1,x\n", "line 2: \"x\" is not a number"),
        ("1,O\n", "line 1: \"O\" is not a number"),
        ("1,\n", "line 1: a cell is empty"),
        ("1,2\n1,inf\n", "line 2: qx = inf is not finite"),
        ("1,2\nnan,2\n", "line 2: alpha = NaN is not finite"),
        ("alpha,qx\n", "has no numbers"),
        ("", "has no numbers"),
        (
            "# 2theta,R\n1,2\n",
            "line 1: \"2theta,R\" seems to name columns or units, but the column \"2theta\" is unknown",
        ),
        ("# 2theta R\n1,2\n", "the column \"2theta\" is unknown"),
        (
            "# qz (1/nm),R\n1,2\n",
            "the column \"qz (1/nm)\" is unknown",
        ),
        (
            "# alpha (grad),qx\n1,2\n",
            "the unit of \"alpha (grad)\" is unknown",
        ),
        (
            "# columns: alpha_mrad, qx\n1,2\n",
            "line 1: \"columns: alpha_mrad, qx\"",
        ),
        (
            "alpha,qx\n# mrad,1\n1,2\n",
            "line 2: \"mrad,1\" seems to name",
        ),
        (
            "alpha,qx\nmrad,a.u.\n1,2\n",
            "line 2: \"mrad,a.u.\" seems to name",
        ),
        ("# mrad,1\n1,2\n", "line 1: \"mrad,1\" seems to name"),
        ("# alpha R qx\n1,2\n", "the rows have 2 columns"),
        ("# angles in mrad\n1,2\n", "no header says what is in mrad"),
        (
            "# alpha,qx\n# alpha_mrad,qx\n1,2\n",
            "line 1: \"alpha,qx\" seems",
        ),
    ] {
        let e = read(text).unwrap_err();
        assert!(e.contains(message), "{text}: {e}");
    }
}

#[test]
fn decimal_commas_are_no_columns() {
    let layout = Layout {
        columns: &LAYOUT.columns[..1],
        plain: 1,
        more: true,
        ..LAYOUT
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let rows = layout.read(&path).map_err(|e| e.to_string())?;
        Ok::<_, String>(rows.into_iter().map(|r| r.1[0]).collect::<Vec<f64>>())
    };
    for text in [
        "0,2\n0,3\n",
        "-1,25\n",
        "0,2e-1\n",
        "0,2,1,5\n0,4,2,5\n",
        "0,2,1,5,7,0\n",
    ] {
        let e = read(text).unwrap_err();
        let known = e.contains("line 1: \"") && e.contains("name the columns in a header");
        assert!(known, "{text}: {e}");
    }
    for text in ["alpha;R\n0,5;1,5\n1;2\n", "0,5;1,5\n1,5;2,5\n"] {
        let e = read(text).unwrap_err();
        assert!(e.contains("decimals need a point"), "{text}: {e}");
    }
    for text in [
        "0,2\t1000,5\n0,4\t900,1\n",
        "0,2 1\n",
        "alpha R\n0,2 1000\n",
        "alpha\tR\n0,2\t1000\n",
        "# alpha R\n0,2 1000\n",
    ] {
        assert!(
            read(text).unwrap_err().contains("several numbers"),
            "{text}"
        );
    }
    assert_eq!(read("0,2\n0.5,3\n").unwrap(), [0.0, 0.5]);
    assert_eq!(read("alpha,R\n0,2\n1,3\n").unwrap(), [0.0, 1.0]);
    assert_eq!(read("0 2\n1 3\n").unwrap(), [0.0, 1.0]);
}
