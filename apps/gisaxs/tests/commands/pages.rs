//! Pages and figures of images and fits, with plain and with hostile inputs.

use super::bench::{Bench, error};
use serde_json::Value;
use std::fs;

/// Runs, and returns the summary.
fn json(bench: &Bench, args: &str) -> Value {
    let run = bench.run(&format!("{args} --json"));
    assert!(run.status.success(), "{args}: {}", error(&run));
    serde_json::from_slice(&run.stdout).unwrap()
}

fn page(bench: &Bench, name: &str) -> String {
    let html = fs::read_to_string(bench.at(name)).unwrap();
    // Not in coordinates, texts or sort keys; a picture's base64 may spell anything.
    for bad in ["\"NaN", ">NaN", "MNaN", " NaN"] {
        assert!(!html.contains(bad), "{name}: {bad}");
    }
    html
}

/// A fit of an image or cut, and its page.
fn fitted(bench: &Bench, data: &str, more: &str) -> (Value, String) {
    bench.put(
        "f.toml",
        &format!(
            "sample = 'small.toml'\ndata = '{data}'\nswarm = 6\nsteps = 4\nseed = 9\n{more}\n\
             [[parameters]]\npath = 'particles.0.form.height'\nfrom = 3.0\nto = 8.0\n\
             [[parameters]]\npath = 'beam.intensity'\nfrom = 1.0\nto = 1e12\nlog = true\n"
        ),
    );
    let j = json(bench, "fit f.toml -o f.html");
    (j, page(bench, "f.html"))
}

fn provenance(j: &Value) {
    let p = &j["provenance"];
    for key in [
        "date", "host", "kernel", "command", "version", "commit", "compiler",
    ] {
        assert!(!p[key].as_str().unwrap().is_empty(), "{key}: {p}");
    }
    assert!(p["command"].as_str().unwrap().starts_with("gisaxs "));
}

fn list(j: &Value) -> Vec<f64> {
    let all = j.as_array().unwrap().iter();
    all.map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn an_image_has_axes_of_q_units_cuts_and_provenance() {
    let bench = Bench::new();
    let j = json(
        &bench,
        "simulate small.toml -o s.html --cut alpha=0.5:0.1 --counts 4",
    );
    provenance(&j);
    assert_eq!(j["provenance"]["seed"], 4);
    assert!(j["provenance"]["durations_s"]["image"].as_f64().unwrap() >= 0.0);
    let html = page(&bench, "s.html");
    for words in [
        "q_y, nm⁻¹",
        "counts, photons",
        "α = 0.5 ± 0.1° (q_z = ",
        "<span class=\"quiet\">small.toml</span>",
        "Counted photons of <code>small.toml</code> in the distorted-wave Born approximation. Their noise has maxima too:",
        ">Yoneda<",
        "<dt>seed</dt><dd>4</dd>",
        "<dt>command</dt><dd>gisaxs simulate small.toml",
    ] {
        assert!(html.contains(words), "{words}");
    }
    for (flag, words) in [("detector", "φ, °"), ("pixels", "column, pixels")] {
        json(
            &bench,
            &format!("simulate small.toml -o s.svg --axes {flag}"),
        );
        let svg = fs::read_to_string(bench.at("s.svg")).unwrap();
        assert!(
            svg.contains(words) && svg.contains("<metadata>date: "),
            "{flag}"
        );
    }
}

/// Maxima have the words of their geometry, their own q and the length of that; counts, whose noise has maxima, have none.
#[test]
fn an_image_names_its_maxima() {
    let bench = Bench::new();
    bench.put(
        "flat.toml",
        "mode = 'saxs'\n[beam]\nwavelength = 0.1\n[detector]\nphi = { from = -2.0, to = 2.0, n = 41 }\n\
         alpha = { from = -2.0, to = 2.0, n = 41 }\n[[particles]]\nform = { shape = 'sphere', radius = 5.0 }\n\
         delta = 1e-6\ndensity = 0.01\n",
    );
    let show = |input: &str, flags: &str| {
        json(&bench, &format!("simulate {input} -o s.html {flags}"));
        page(&bench, "s.html")
    };
    for (input, place, length) in [
        (
            "small.toml --set particles.0.form.width_y=15.0",
            "off the plane of incidence",
            "2π/q_y",
        ),
        ("flat.toml", "away from the beam", "2π/|q|"),
    ] {
        let html = show(input, "");
        let sentence = format!("The strongest maximum {place} is at ");
        let rest = html.split(&sentence).nth(1).expect(input);
        let numbers: Vec<f64> = (rest
            .split("</p>")
            .next()
            .unwrap()
            .replace('−', "-")
            .split(' '))
        .filter_map(|w| w.parse().ok())
        .collect();
        let [y, z, nm] = numbers[..] else {
            panic!("{input}: {rest}");
        };
        let q = if length == "2π/q_y" {
            y.abs()
        } else {
            y.hypot(z)
        };
        assert!(
            (std::f64::consts::TAU / q / nm - 1.0).abs() < 0.02,
            "{input}: {q} {nm}"
        );
        let row = format!(">strongest maximum {place}<");
        for words in [&*row, length, "of a lattice, its distance", "--cut qy="] {
            assert!(html.contains(words), "{input}: {words}");
        }
        let html = show(input, "--counts 4");
        for words in [
            "strongest maximum",
            "brightest pixel",
            "brightest at",
            "--cut qy=",
        ] {
            assert!(!html.contains(words), "{input}: {words}");
        }
    }
}

#[test]
fn colours_span_what_is_asked_for() {
    let bench = Bench::new();
    let ticks = |flags: &str| -> Vec<String> {
        json(&bench, &format!("simulate small.toml -o s.svg {flags}"));
        let svg = fs::read_to_string(bench.at("s.svg")).unwrap();
        let bar = svg.split(">intensity, ").nth(1).unwrap().to_owned();
        bar.split("</text>")
            .filter_map(|t| Some(t.rsplit('>').next()?.to_owned()))
            .filter(|t| t.starts_with("10") || t.parse::<f64>().is_ok())
            .collect()
    };
    assert_eq!(
        ticks("--color-range 1e-9,1e-5")[..5],
        ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶", "10⁻⁵"]
    );
    assert_eq!(ticks("--color-range 2,300")[..2], ["10", "100"]);
    assert_eq!(ticks("--decades 2").len(), 2);
    for bad in [
        "--color-range nan,1",
        "--color-range 1,nan",
        "--color-range 5,1",
        "--color-range 0,1",
        "--decades 0",
        "--decades nan",
        "--decades 3 --color-range 1,2",
        "--axes up",
    ] {
        let run = bench.run(&format!("simulate small.toml -o no.svg {bad}"));
        assert!(
            !run.status.success() && !bench.at("no.svg").exists(),
            "{bad}"
        );
    }
}

#[test]
fn a_fit_tells_how_it_came_about() {
    let bench = Bench::new();
    let (j, html) = fitted(&bench, "data.csv", "starts = 3");
    provenance(&j);
    assert_eq!(j["provenance"]["seed"], 9);
    let errors: Vec<f64> = (0..2)
        .map(|k| j["parameters"][k]["error"].as_f64().unwrap())
        .collect();
    for (a, row) in j["covariance"].as_array().unwrap().iter().enumerate() {
        let correlations = list(&j["correlations"][a]);
        for (b, c) in list(row).into_iter().enumerate() {
            let want = correlations[b] * errors[a] * errors[b];
            assert!(
                (c - want).abs() <= 1e-9 * (errors[a] * errors[b]),
                "{a} {b}"
            );
        }
        assert!((correlations[a] - 1.0).abs() < 1e-12);
    }
    for p in j["parameters"].as_array().unwrap() {
        let number = |key: &str| p[key].as_f64().unwrap();
        for key in ["start", "after_swarm", "value"] {
            assert!(
                (number("from")..=number("to")).contains(&number(key)),
                "{key}: {p}"
            );
        }
    }
    assert_eq!(j["parameters"][0]["unit"], "nm");
    assert_eq!(j["parameters"][1]["unit"], "photons");
    let steps = j["convergence"].as_array().unwrap();
    let models: Vec<u64> = steps
        .iter()
        .map(|s| s["models"].as_u64().unwrap())
        .collect();
    assert!(models.windows(2).all(|w| w[0] < w[1]), "{models:?}");
    for stage in ["swarm", "robust", "final"] {
        assert!(steps.iter().any(|s| s["stage"] == stage), "{stage}");
    }
    // What is recorded last or before is what was found.
    let least = steps
        .iter()
        .map(|s| s["chi2"].as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    let chi2 = j["chi2"].as_f64().unwrap();
    assert!((least / chi2 - 1.0).abs() < 1e-6, "{least} {chi2}");
    let starts = list(&j["starts"]);
    assert_eq!(starts.len(), 3);
    assert_eq!(starts.iter().copied().fold(f64::INFINITY, f64::min), chi2);
    for words in [
        ">Data<",
        ">Model<",
        "Residual: (data − model)/σ",
        "Cut at q_z = ",
        "Cut at q_y = ",
        "Correlations of the parameters",
        "Convergence of the best start",
        "What each start reached",
        "Distribution of the residuals",
        "<span class=\"quiet\">f.toml</span>",
        "<span class=\"quiet\">./small.toml</span>",
        "The sample with the fitted values",
        "<span class=\"quiet\">Command</span><pre>gisaxs fit f.toml -o f.html --json</pre>",
        "after the swarm",
    ] {
        let found = html.contains(words) || html.contains(&words.replace("./", ""));
        assert!(found, "{words}");
    }
}

/// The answer of a fit: what converged, what is at a bound, what to do next; its numbers are those of the page.
#[test]
fn the_answer_of_a_fit_says_what_to_do() {
    let bench = Bench::new();
    let beam = "--set beam.intensity=1e10 --set particles.0.form.height=5";
    json(
        &bench,
        &format!("simulate small.toml {beam} -o m.npy --counts 3"),
    );
    let fit = |parameters: &str| {
        let text = format!(
            "sample = 'small.toml'\ndata = 'm.npy'\nswarm = 8\nsteps = 6\nseed = 9\n{parameters}"
        );
        bench.put("f.toml", &text);
        json(&bench, "fit f.toml -o f.html");
        page(&bench, "f.html")
    };
    let intensity = "[[parameters]]\npath = 'beam.intensity'\nfrom = 1e9\nto = 1e11\nlog = true\n";
    let height = |to: f64| {
        format!("[[parameters]]\npath = 'particles.0.form.height'\nfrom = 2.0\nto = {to}\n")
    };
    let html = fit(&(height(8.0) + intensity));
    let chi2 = html.split("Converged, χ²/ν ").nth(1).unwrap();
    let chi2 = chi2.split(".</p>").next().unwrap();
    assert!(
        html.contains(&format!("χ² per degree of freedom.</strong> {chi2}<")),
        "{chi2}"
    );
    for words in [
        "<code>height</code> and <code>intensity</code> correlate at ",
        "<dt>Next</dt>",
        "class=\"place\" style=\"--at:0.5",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let html = fit(&(height(4.0) + intensity));
    for words in [
        "<code>height</code> ends at a bound: its uncertainty has no meaning.",
        "Wider bounds of <code>height</code> in <code>f.toml</code>",
        ">4 nm, at a bound<",
    ] {
        assert!(html.contains(words), "{words}");
    }
    // The bound decides on correlations with it.
    assert!(!html.contains(" correlate at "));
    // Density and intensity are one factor: a bound, what is not determined, and a misfit are all named.
    let density =
        "[[parameters]]\npath = 'particles.0.density'\nfrom = 1e-4\nto = 1.0\nlog = true\n";
    let html = fit(&(height(4.0) + intensity + density));
    for words in [
        "<code>height</code> ends at a bound: its uncertainty has no meaning. The data do not determine ",
        "Counting noise gives χ²/ν 1: ",
    ] {
        assert!(html.contains(words), "{words}");
    }
    // One parameter: its value, as in the table.
    let html = fit(&intensity.replace("log = true\n", ""));
    let value = html.split("; <code>intensity</code> = ").nth(1).unwrap();
    let value = value
        .split(".<")
        .next()
        .unwrap()
        .split(".</p>")
        .next()
        .unwrap();
    assert!(
        value.ends_with(" photons") && html.contains(&format!(">{value}</td>")),
        "{value}"
    );
    assert!(!html.contains("Correlations of the parameters"));
}

#[test]
fn a_fit_of_a_cut_has_curves_and_a_table() {
    let bench = Bench::new();
    let cut: String = (0..40)
        .map(|k| format!("{},{}\n", -1.0 + 0.05 * f64::from(k), 1 + (k * k) % 17))
        .collect();
    bench.put("cut.csv", &cut);
    for noise in ["poisson", "relative", "uniform"] {
        let more = format!("cut = 'alpha=0.5'\nnoise = '{noise}'");
        let (j, html) = fitted(&bench, "cut.csv", &more);
        assert_eq!(j["points"], 40);
        let scale = j["noise_scale"].as_f64().unwrap();
        assert_eq!(scale == 1.0, noise == "poisson", "{scale}");
        assert!(html.contains("residual, σ") && html.contains("(data − model)/σ"));
        assert!(html.contains("Cut at α = 0.5° (q_z = ") && !html.contains(">Residual: "));
    }
    json(&bench, "fit f.toml -o f.pdf --style print --width 600");
    assert!(fs::read(bench.at("f.pdf")).unwrap().starts_with(b"%PDF"));
}

/// Constant, empty, with holes, over twelve decades, of one pixel: a page or a message, never a picture of nonsense.
#[test]
fn hostile_data_have_a_page_or_a_message() {
    let bench = Bench::new();
    let image = |name: &str, value: &dyn Fn(i32) -> f64| {
        let rows = (0..40).map(|r| {
            let row: Vec<String> = (0..40)
                .map(|c| format!("{:e}", value(40 * r + c)))
                .collect();
            row.join(",") + "\n"
        });
        bench.put(name, &rows.collect::<String>());
    };
    image("constant.csv", &|_| 7.0);
    image("zero.csv", &|_| 0.0);
    image("holes.csv", &|k| {
        if k % 3 == 0 { -1.0 } else { f64::from(k % 7) }
    });
    image("wide.csv", &|k| 10_f64.powf(12.0 * f64::from(k) / 1599.0));
    for (data, more) in [
        ("constant.csv", ""),
        ("zero.csv", ""),
        ("holes.csv", ""),
        ("wide.csv", "noise = 'relative'"),
        ("wide.csv", "noise = 'uniform'"),
        ("wide.csv", ""),
    ] {
        let (_, html) = fitted(&bench, data, more);
        assert!(
            html.contains("Residual: ") && html.contains("<image"),
            "{data}"
        );
        json(&bench, "fit f.toml -o f.png --width 400");
    }
    let (j, html) = fitted(&bench, "holes.csv", "");
    assert_eq!(j["points"], 1600 - 534);
    assert!(html.contains("534 of 1600 pixels are left out"));
    // One pixel, of which one number is determined at most.
    let small = fs::read_to_string(bench.at("small.toml")).unwrap();
    bench.put("small.toml", &small.replace("n = 40", "n = 1"));
    bench.put("one.csv", "5\n");
    let (j, _) = fitted(&bench, "one.csv", "");
    assert_eq!(j["points"], 1);
    json(&bench, "simulate small.toml -o one.html");
    assert!(page(&bench, "one.html").contains("q_y, nm⁻¹"));
    for (data, words) in [
        ("nan.csv", "no pixel with an intensity"),
        ("minus.csv", "no pixel with an intensity"),
    ] {
        bench.put("nan.csv", "nan\n");
        bench.put("minus.csv", "-1\n");
        bench.put(
            "bad.toml",
            &fs::read_to_string(bench.at("f.toml"))
                .unwrap()
                .replace("one.csv", data),
        );
        let run = bench.run("fit bad.toml -o bad.html");
        assert!(error(&run).contains(words), "{data}: {}", error(&run));
        assert!(!bench.at("bad.html").exists());
    }
}

#[test]
fn results_of_all_commands_name_where_they_come_from() {
    let bench = Bench::new();
    for args in [
        "reflectivity film.toml --angles angles.csv -o r.csv",
        "form-factor shape.toml --q q.csv -o f.csv",
        "study --method nufft --window 0.01 --sensor none",
    ] {
        provenance(&json(&bench, args));
    }
    json(
        &bench,
        "study --method nufft --window 0.01 --sensor none -o s.html",
    );
    let html = page(&bench, "s.html");
    assert!(html.contains("pairs per second") && html.contains("<dt>commit</dt>"));
    // The rate that ranks the cases is that of the table.
    let answer = html.split(" tri–q/s.</p>").next().unwrap();
    let (_, rate) = answer.rsplit_once(" at ").unwrap();
    assert!(html.contains(&format!(">{rate}</td>")), "{rate}");
    json(&bench, "simulate small.toml -o s.tif");
    let tif = fs::read(bench.at("s.tif")).unwrap();
    let words = b"command: gisaxs simulate";
    assert!(tif.windows(words.len()).any(|w| w == words));
}

#[test]
#[ignore = "needs Chromium"]
fn pages_are_readable_at_every_width() {
    use greenup_testing::browser::{Browser, WIDTHS};
    let bench = Bench::new();
    let example = |name: &str| format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    for name in ["paracrystal.toml", "fit.toml"] {
        fs::copy(example(name), bench.at(name)).unwrap();
    }
    json(
        &bench,
        "simulate paracrystal.toml --counts 1 -o measured.npy",
    );
    json(&bench, "fit fit.toml -o image.html");
    json(
        &bench,
        &format!(
            "simulate {} -o cell.html --cut up=20:2",
            example("unit_cell.toml")
        ),
    );
    json(
        &bench,
        "simulate paracrystal.toml -o angles.html --axes detector --color-range 1e-3,1e9",
    );
    json(
        &bench,
        "study --method nufft --window 0.01 --sensor none -o study.html",
    );
    let cut: String = (0..40)
        .map(|k| format!("{},{}\n", -0.975 + 0.05 * f64::from(k), 1 + (k * k) % 17))
        .collect();
    bench.put("cut.csv", &cut);
    fitted(&bench, "cut.csv", "cut = 'alpha=0.5'\nstarts = 2");
    let mut browser = Browser::start();
    for name in [
        "image.html",
        "cell.html",
        "angles.html",
        "study.html",
        "f.html",
    ] {
        for dark in [false, true] {
            let found = browser.examine(&bench.at(name), &WIDTHS, dark);
            assert!(found.is_empty(), "{name}, dark {dark}:\n{found}");
        }
    }
}
