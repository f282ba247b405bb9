use super::*;

const PAGE: &str = r#"
name = "a bubble"
[run]
mesh = "square01_quad"
t_final = 0.1
[[material]]
where = "(x-0.5)*(x-0.5) + (y-0.5)*(y-0.5) < 0.04"
gamma = 4.4
p_inf = 6
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
    assert_eq!(u.walls[&4].constrained, [Some(1.0), None, None]);
    for (from, to, word) in [
        ("gamma = 1.4", "gamma = 0.5", "above 1"),
        ("\"exp(-r)\"", "\"exp(-q)\"", "unknown variable `q`"),
        ("\"exp(-r)\"", "\"exp(-r\"", "material 2"),
        ("name =", "nome =", "unknown field"),
        ("5 = \"free\"", "5 = \"loose\"", "a wall is"),
        ("5 = \"free\"", "04 = \"free\"", "both attribute 4"),
        (
            "name =",
            "point_energy = -1\nname =",
            "point_energy -1: it must be 0 or more",
        ),
        (
            "energy = \"exp(-r)\"",
            "energy = inf",
            "material 2: energy = inf: it must be finite",
        ),
        (
            "pressure = \"1 if x < 0.5 else 2\"",
            "pressure = inf",
            "material 1: pressure = inf: it must be finite",
        ),
        ("density = 1\n", "density = nan\n", "density = NaN"),
        ("\"-x\"]", "inf]", "velocity = inf"),
        (
            "name =",
            "gravity = [0, -1, 0, 7]\nname =",
            "more than 3 components",
        ),
        (
            "energy =",
            "pressure = 1\nenergy =",
            "either pressure or energy",
        ),
    ] {
        let text = PAGE.replace(from, to);
        assert_ne!(text, PAGE);
        let e = User::of(&text).unwrap_err().to_string();
        assert!(e.contains(word), "{to}: {e}");
    }
}

#[test]
fn components_beyond_the_dimension_are_refused() {
    for (from, to, dims, word) in [
        (
            "5 = \"free\"",
            "5 = \"z\"",
            [false, false, true],
            "walls: 5",
        ),
        ("5 = \"free\"", "5 = \"y\"", [false, true, true], "walls: 5"),
        ("5 = \"free\"", "5 = \"fixed\"", [true; 3], ""),
        ("[1, \"free\"]", "[1, 0, 0]", [true; 3], ""),
        (
            "[1, \"free\"]",
            "[1, \"free\", 2]",
            [false, false, true],
            "walls: 4",
        ),
        (
            "name =",
            "gravity = [0, 0, -9]\nname =",
            [false, false, true],
            "gravity",
        ),
        (
            "name =",
            "gravity = [0, -9, 0]\nname =",
            [false, true, true],
            "gravity",
        ),
    ] {
        let text = PAGE.replace(from, to);
        assert_ne!(text, PAGE);
        let u = User::of(&text).unwrap();
        for (dim, fits) in (1..).zip(dims) {
            match u.fits_dimension(dim) {
                Ok(()) => assert!(fits, "{to} in {dim}"),
                Err(e) => assert!(!fits && e.to_string().contains(word), "{to} in {dim}: {e}"),
            }
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
        if let Ok(f) = Field::new(&Text::Expression(words.to_owned())) {
            f.at(&[1.0, f64::MAX, -0.0]);
        }
    }
}
