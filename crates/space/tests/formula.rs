//! Formulas of real variables: values, errors with their place, hostile text.

use greenup_space::expr::{Expression, ExpressionError};

fn at(text: &str, x: &[f64]) -> f64 {
    let names = ["x", "y", "z", "t", "r"];
    Expression::parse(text, &names[..x.len()])
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .eval_f64(x)
        .unwrap()
}

#[test]
fn values() {
    for (text, expected) in [
        ("1/2", 0.5),
        ("2^3", 8.0),
        ("2**-1", 0.5),
        ("-x^2", -9.0),
        ("2*x^2 + 1", 19.0),
        ("2^(-3)", 0.125),
        ("sqrt(x*x + y*y)", 5.0),
        ("hypot(x, y)", 5.0),
        ("min(x, y, 1)", 1.0),
        ("max(x, y)", 4.0),
        ("pow(x, 2)", 9.0),
        ("abs(-x)", 3.0),
        ("1 if x < 0.5 else 2", 2.0),
        ("10 if 2 < x <= 3 and not y < 1 else 0", 10.0),
        ("(x > 5) || y == 4", 1.0),
        ("x > 5 && y == 4", 0.0),
        ("-7 % 4", 1.0),
        ("7 // 2", 3.0),
        ("cos(PI)", -1.0),
        ("math.floor(2.7)", 2.0),
        ("int(-2.7)", -2.0),
        ("sign(-3)", -1.0),
        ("1/0", f64::INFINITY),
        ("9223372036854775807 + 1", 9_223_372_036_854_775_808.0),
    ] {
        assert_eq!(at(text, &[3.0, 4.0]), expected, "{text}");
    }
    assert!((at("0.1 + 0.1*sin(pi*x)", &[0.5]) - 0.2).abs() < 1e-15);
    assert!((at("ln(e)", &[]) - 1.0).abs() < 1e-15);
    assert_eq!(at("exp(-x)", &[5.0]), (-5.0_f64).exp());
    assert_eq!(at("tan(x)", &[0.3]), 0.3_f64.tan());
    assert!(at("sqrt(-1)", &[]).is_nan());
    // A variable hides the constant of its name.
    let e = Expression::parse("e", &["e"]).unwrap();
    assert_eq!(e.eval_f64(&[7.0]).unwrap(), 7.0);
}

#[test]
fn errors_name_the_place() {
    for (text, message, span) in [
        ("exp(-q)", "unknown variable `q`", (5, 6)),
        ("1 + sni(x)", "unknown function `sni`", (4, 10)),
        ("sin(x, 1)", "takes one value", (0, 9)),
        ("min(x)", "takes two or more values", (0, 6)),
        ("x & 1", "`&` cannot be used", (0, 5)),
        ("[1, 2]", "a list cannot be used", (0, 6)),
        ("'a'", "a string cannot be used", (0, 3)),
        ("exp(-x", "`)` is expected", (6, 6)),
    ] {
        let e = Expression::parse(text, &["x"]).unwrap_err();
        assert!(e.to_string().contains(message), "{text}: {e}");
        let at = e.span().unwrap();
        assert_eq!((at.from, at.to), span, "{text}: {e}");
    }
    let e = Expression::parse("x", &["x"]).unwrap();
    assert_eq!(
        e.eval_f64(&[]).unwrap_err(),
        ExpressionError::ValueCount {
            expected: 1,
            given: 0
        }
    );
}

#[test]
fn hostile_text_does_not_panic() {
    let nested = format!("{}x{}", "(".repeat(5000), ")".repeat(5000));
    let sums = "x+".repeat(20000) + "x";
    let signs = "-".repeat(4000) + "x";
    let ifs = "1 if x<1 else ".repeat(2000) + "2";
    for text in [
        "",
        " ",
        "(",
        ")",
        "if",
        "1 if",
        "\u{1F600}",
        "x &&",
        "1e999",
        "x.y",
        "99999999999999999999",
        "2^100",
        "0^(-1)",
        "1%0",
        &nested,
        &sums,
        &signs,
        &ifs,
    ] {
        if let Ok(e) = Expression::parse(text, &["x"]) {
            e.eval_f64(&[f64::MAX]).unwrap();
        }
    }
}
