use super::*;
use crate::mesh::Mesh;
use crate::output::fields::Field;
use crate::output::line_out::{Line, line_out};
use crate::output::picture::raster::Levels;
use crate::output::profile::profile;
use crate::problem::Problem;
use crate::problem::initial_state::Orders;
use greenup_report::chart::{Chart, FileStyle, Style, What};

const SIZE: Pixels = Pixels {
    width: 400.0,
    scale: 0.3,
};

fn start(problem: &str, mesh: &str, refine: usize) -> (Hydro, State) {
    let o = Orders {
        kinematic: 3,
        energy: 2,
        ..Orders::default()
    };
    let mesh = Mesh::open(mesh, refine).unwrap();
    Hydro::new(&mesh, Problem::of(problem).unwrap(), &o, 1.0).unwrap()
}

fn view(field: Field) -> View {
    View {
        field,
        log: false,
        range: None,
        mesh_lines: MeshLines::Auto,
        slices: Vec::new(),
        surface: None,
        e0: 1.0,
    }
}

fn drawn(h: &Hydro, s: &State, v: &View) -> (Scene, Chart) {
    let scene = Scene::new(h, s, v, (0.1234, 56), SIZE);
    let common = Common::of(v, std::slice::from_ref(&scene));
    let chart = scene.chart(&common, Style::Light);
    for width in [300.0, 900.0] {
        assert_eq!(chart.faults(width), Vec::<String>::new(), "{width}");
    }
    let look = FileStyle {
        width: 300.0,
        dpi: 24.0,
        ..FileStyle::default()
    };
    assert!(chart.file("png", &look).is_ok());
    (scene, chart)
}

fn rasters(scene: &Scene) -> Vec<&Raster> {
    scene
        .panels
        .iter()
        .filter_map(|p| match p {
            Shown::Plane { raster, .. } | Shown::Surface { raster, .. } => Some(raster),
            Shown::Line { .. } => None,
        })
        .collect()
}

/// Texts of all problems in all dimensions are clear, and there is something to see.
#[test]
fn pictures_of_every_kind_of_mesh() {
    // The last numbers are panels: of the scene, and drawn of the density and the material. Planes that look alike are drawn once.
    for (problem, mesh, refine, (panels, density, material)) in [
        ("sod", "segment01", 3, (1, 1, 1)),
        ("sod", "1", 0, (1, 1, 1)),
        ("taylor-green", "square01_quad", 1, (1, 1, 1)),
        ("sedov", "square01_tri", 1, (1, 1, 1)),
        ("gresho", "square_gresho", 1, (1, 1, 1)),
        ("saltzman", "saltzman01_quad", 0, (1, 1, 1)),
        ("rayleigh-taylor", "rt2D", 0, (1, 1, 1)),
        ("sedov", "1x1", 0, (1, 1, 1)),
        ("sedov", "1x1x1", 0, (4, 2, 2)),
        ("taylor-green", "cube01_hex", 0, (4, 2, 2)),
        ("sod", "2x1x1", 0, (4, 3, 2)),
    ] {
        let (h, s) = start(problem, mesh, refine);
        for (field, expected) in [(Field::Density, density), (Field::Material, material)] {
            let (scene, chart) = drawn(&h, &s, &view(field));
            assert_eq!(scene.panels.len(), panels, "{problem} {mesh}");
            let drawn = chart.panels.len();
            assert_eq!(drawn, expected, "{problem} {mesh} {field:?}");
            assert!(
                chart.title.contains("t = 0.123, step 56"),
                "{}",
                chart.title
            );
            let all = rasters(&scene);
            // The domain is covered, but for the corners beside a view of the outer faces.
            for r in all.iter().take(3) {
                let n = r.values().count();
                let share = n as f64 / r.shades(&levels()).len() as f64;
                assert!(share > 0.999, "{problem} {mesh}: {share}");
            }
        }
    }
}

fn levels() -> raster::Levels {
    raster::Levels {
        lo: 0.0,
        hi: 1.0,
        log: false,
    }
}

/// Each plane is drawn, or named in the title of one that is and looks like it in all scenes.
#[test]
fn planes_are_drawn_or_named() {
    let plane = |title: &str, value: f64| {
        let mut raster = Raster::new((0.0, 1.0), (0.0, 1.0), 20.0);
        let corner = |at| raster::Corner {
            at,
            depth: 0.0,
            value,
        };
        let [a, b, c, d] = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(corner);
        raster.fill([a, b, c], 1.0);
        raster.fill([b, d, c], 1.0);
        Shown::Plane {
            title: title.into(),
            axes: (AXES[0], AXES[1]),
            raster,
        }
    };
    let titles = |field: Field, scenes: &[[f64; 3]]| {
        let scenes: Vec<Scene> = (scenes.iter())
            .map(|[a, b, c]| Scene {
                field,
                t: 0.0,
                step: 0,
                panels: vec![plane("a", *a), plane("b", *b), plane("c", *c)],
            })
            .collect();
        let v = View {
            range: Some((0.0, 100.0)),
            ..view(field)
        };
        let chart = scenes[0].chart(&Common::of(&v, &scenes), Style::Light);
        let all = chart.panels.into_iter().map(|p| p.title);
        all.collect::<Vec<String>>()
    };
    let density = |scenes: &[[f64; 3]]| titles(Field::Density, scenes);
    assert_eq!(density(&[[1.0, 2.0, 1.0]]), ["a, like b and c"]);
    // Likeness is not passed on.
    assert_eq!(density(&[[1.0, 2.5, 4.0]]), ["a, like b", "c"]);
    assert_eq!(
        density(&[[1.0, 1.0, 9.0], [1.0, 9.0, 9.0]]),
        ["a", "b", "c"]
    );
    assert_eq!(
        titles(Field::Material, &[[1.0, 2.0, 1.0]]),
        ["a, like c", "b"]
    );
}

/// A plane through the interior shows the field of its position.
#[test]
fn planes_cut_through_the_zones() {
    for (mesh, refine) in [("cube01_hex", 1), ("3x3x3", 0)] {
        let (h, s) = start("taylor-green", mesh, refine);
        for (axis, at) in [(0, 0.3), (1, 0.5), (2, 0.81), (0, 0.0), (2, 1.0)] {
            let v = View {
                slices: vec![Slice { axis, at }],
                mesh_lines: MeshLines::Off,
                ..view(Field::Energy)
            };
            let scene = Scene::new(&h, &s, &v, (0.0, 0), SIZE);
            let r = rasters(&scene)[0];
            let rows = r.shades(&levels()).len() / r.columns;
            let values: Vec<f64> = r.values().collect();
            assert_eq!(values.len(), rows * r.columns, "{mesh} {axis} {at}");
            for (i, v) in values.iter().enumerate() {
                let u = ((i % r.columns) as f64 + 0.5) / r.columns as f64;
                let w = 1.0 - ((i / r.columns) as f64 + 0.5) / rows as f64;
                let x = match axis {
                    0 => [at, u, w],
                    1 => [u, at, w],
                    _ => [u, w, at],
                };
                let want = h.problem.energy(1, &x);
                assert!(
                    (v - want).abs() < 0.1,
                    "{mesh} {axis} {at}: {x:?} {v} {want}"
                );
            }
        }
    }
}

#[test]
fn constant_fields_show_their_value_once() {
    let (h, s) = start("taylor-green", "square01_quad", 1);
    let (_, chart) = drawn(&h, &s, &view(Field::Density));
    assert!(chart.title.ends_with(": 1 everywhere"), "{}", chart.title);
    assert!(chart.panels[0].bar.is_none());
    let set = View {
        range: Some((0.0, 2.0)),
        ..view(Field::Density)
    };
    let (_, chart) = drawn(&h, &s, &set);
    assert!(chart.panels[0].bar.is_some() && chart.notes.is_empty());
}

#[test]
fn ranges_logarithms_and_what_is_not_finite() {
    let (h, mut s) = start("sedov", "square01_quad", 1);
    let log = View {
        log: true,
        ..view(Field::Energy)
    };
    let (_, chart) = drawn(&h, &s, &log);
    let bar = chart.panels[0].bar.as_ref().unwrap();
    assert!(bar.lo > 0.0 && bar.hi > bar.lo);
    // Interpolation of the point source undershoots.
    assert!(chart.notes[0].contains("Red"), "{:?}", chart.notes);
    // Nothing moves.
    let still = View {
        field: Field::Speed,
        ..log
    };
    let (_, chart) = drawn(&h, &s, &still);
    assert!(chart.notes[0].contains("No value is positive"));
    s.e[3] = f64::NAN;
    let (_, chart) = drawn(&h, &s, &view(Field::Energy));
    assert!(
        chart.notes.iter().any(|n| n.contains("Grey")),
        "{:?}",
        chart.notes
    );
    s.e.fill(f64::NAN);
    drawn(&h, &s, &view(Field::Energy));
    let (h, mut s) = start("sod", "segment01", 1);
    s.e.fill(f64::INFINITY);
    drawn(&h, &s, &view(Field::Energy));
}

/// Values without a logarithm have a colour that no value of the scale has, or leave gaps; both are named.
#[test]
fn values_below_zero_are_drawn_on_logarithmic_scales() {
    let log = View {
        log: true,
        ..view(Field::Energy)
    };
    for (mesh, word) in [("square01_quad", "Red"), ("segment01", "Gaps")] {
        let (h, mut s) = start("sod", mesh, 1);
        let n = h.space.element.energies;
        s.e[..n].fill(-1.0);
        let (scene, chart) = drawn(&h, &s, &log);
        assert_eq!(chart.notes.len(), 1, "{:?}", chart.notes);
        assert!(chart.notes[0].starts_with(word), "{:?}", chart.notes);
        for r in rasters(&scene) {
            let levels = Levels {
                log: true,
                ..levels()
            };
            let red = r.shades(&levels).into_iter().flatten();
            assert!(
                red.filter(|c| u32::from(c[0]) > 2 * u32::from(c[2]))
                    .count()
                    > 50
            );
        }
        let (_, chart) = drawn(&h, &s, &view(Field::Energy));
        assert_eq!(chart.notes, Vec::<String>::new());
    }
}

/// Marks of the bounding box stand at their values, on its edges.
#[test]
fn edges_of_the_outer_faces_have_marks() {
    let (h, s) = start("sedov", "cube01_hex", 1);
    let v = View {
        surface: Some(Surface::default()),
        ..view(Field::Density)
    };
    let scene = Scene::new(&h, &s, &v, (0.0, 0), SIZE);
    let shown = scene.panels.iter().find_map(|p| match p {
        Shown::Surface { edges, .. } => Some(edges),
        _ => None,
    });
    for e in shown.expect("the outer faces") {
        let [p, q] = e.ends;
        let mut values: Vec<f64> = Vec::new();
        for t in &e.ticks {
            let value: f64 = t.label.parse().expect("a number");
            let at = |f: fn((f64, f64)) -> f64| f(p) + value * (f(q) - f(p));
            let [begin, _] = t.ends;
            let off = (begin.0 - at(|p| p.0)).hypot(begin.1 - at(|p| p.1));
            assert!(off < 1e-9, "{}: {value} at {begin:?}", e.name);
            values.push(value);
        }
        assert!(
            values.len() >= 3 && values.contains(&0.0) && values.contains(&1.0),
            "{values:?}"
        );
    }
}

/// The axis holds what the exact solution has beyond the computed values; where that has no bound, computed values stay seen.
#[test]
fn axes_hold_the_exact_curve() {
    let top = |chart: &Chart| chart.panels[0].y.range.unwrap();
    let drawn_at = |field: Field, log: bool| {
        let (h, s) = start("sedov", "segment01", 3);
        let v = View { log, ..view(field) };
        let scene = Scene::new(&h, &s, &v, (0.1, 5), SIZE);
        let Shown::Line { computed, exact } = &scene.panels[0] else {
            panic!("a line");
        };
        let most = computed.iter().map(|p| p.1).filter(|v| v.is_finite());
        let most = most.fold(0.0, f64::max);
        let exact: Vec<f64> = exact.iter().map(|p| p.1).filter(|v| *v > 0.0).collect();
        let chart = scene.chart(&Common::of(&v, std::slice::from_ref(&scene)), Style::Light);
        (most, exact, chart)
    };
    for log in [false, true] {
        let (_, exact, chart) = drawn_at(Field::Density, log);
        let (lo, hi) = top(&chart);
        let seen = |v: &f64| (lo..=hi).contains(v) || log && *v < 1e-8 * hi;
        assert!(
            exact.iter().all(seen) && exact.iter().any(|v| *v > 5.0),
            "{log}: {lo} {hi}"
        );
    }
    let (most, _, chart) = drawn_at(Field::Energy, false);
    assert!(top(&chart).1 < 2.5 * most);
}

/// Both materials are in the legend in their own colours.
#[test]
fn materials_have_names() {
    let (h, s) = start("sedov", "square01_quad", 0);
    let mut h = h;
    for (z, m) in h.material.iter_mut().enumerate() {
        *m = 1 + (z % 2) as u32;
    }
    let (_, chart) = drawn(&h, &s, &view(Field::Material));
    let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["material 1", "material 2"]);
    let pictures = chart.panels[0].layers.iter();
    let pictures = pictures.filter(|l| matches!(l.what, What::Picture(_)));
    assert_eq!(pictures.count(), 2);
}

/// Frames of a run have the same axes and colours.
#[test]
fn scenes_share_their_axes() {
    let (h, s) = start("sedov", "square01_quad", 0);
    let mut later = s.clone();
    later.x.iter_mut().for_each(|x| *x *= 1.5);
    let v = view(Field::Density);
    let scenes = [s, later].map(|s| Scene::new(&h, &s, &v, (0.0, 0), SIZE));
    let common = Common::of(&v, &scenes);
    let charts = scenes.map(|s| s.chart(&common, Style::Light));
    let range = |c: &Chart| {
        (
            c.panels[0].x.range,
            c.panels[0].bar.as_ref().map(|b| (b.lo, b.hi)),
        )
    };
    assert_eq!(range(&charts[0]), range(&charts[1]));
    assert_eq!(charts[0].panels[0].x.range, Some((0.0, 1.5)));
}

#[test]
fn lines_through_the_mesh() {
    let (h, s) = start("sod", "square01_quad", 1);
    let lines: Vec<Line> = ["x=0:1,y=0.3", "x=-0.5:1.5,y=0.1:0.2"]
        .map(|l| l.parse().unwrap())
        .to_vec();
    let out = line_out(&h, &s, &lines, 0.0, 1.0);
    for width in [400.0, 900.0] {
        assert_eq!(out.chart().faults(width), Vec::<String>::new());
    }
    let csv = out.csv();
    let header = csv.lines().next().unwrap();
    assert!(header.starts_with("line,distance,x,y,density,pressure,velocity_x,velocity_y,speed"));
    let rows: Vec<Vec<f64>> = (csv.lines().skip(1))
        .map(|l| l.split(',').map(|v| v.parse().unwrap()).collect())
        .collect();
    // Outside of the mesh there are none.
    let count = |n: f64| rows.iter().filter(|r| r[0] == n).count();
    assert_eq!((count(1.0), count(2.0)), (500, 250));
    for r in rows.iter().filter(|r| (r[2] - 0.5).abs() > 1e-6) {
        let want = if r[2] < 0.5 { 1.0 } else { 0.1 };
        assert!(
            (r[4] - want).abs() < 1e-9 && (r[4] - r[10]).abs() < 1e-9,
            "{r:?}"
        );
    }
}

/// Also in curved zones a line meets every point that it should, with the field of its position.
#[test]
fn lines_meet_curved_zones() {
    for mesh in ["square01_quad", "square01_tri", "cube01_hex"] {
        let (h, mut s) = start("taylor-green", mesh, 1);
        let n = h.space.nodes;
        // Moved within the domain; densities change with the volume.
        for k in 0..n {
            let (x, y) = (s.x[k], s.x[n + k]);
            let bend = 0.07 * (std::f64::consts::PI * x).sin() * (std::f64::consts::PI * y).sin();
            s.x[k] += bend;
            s.x[n + k] -= bend;
        }
        let line: Line = "x=0:1,y=0.37,z=0.2".parse().unwrap();
        let line = if h.space.dim == 2 {
            "x=0:1,y=0.37".parse().unwrap()
        } else {
            line
        };
        let csv = line_out(&h, &s, &[line], 0.1, 1.0).csv();
        assert_eq!(csv.lines().count(), 501, "{mesh}");
        assert!(!csv.contains("NaN") && !csv.contains("exact"), "{mesh}");
    }
}

#[test]
fn lines_are_read_and_checked() {
    for bad in [
        "",
        "x",
        "x=0",
        "x=0:0",
        "x=0:1,x=2",
        "x=a:b",
        "y=1,z=2",
        "x=0:inf",
    ] {
        assert!(bad.parse::<Line>().is_err(), "{bad}");
    }
    let mesh = Mesh::open("square01_quad", 0).unwrap().bounds();
    let check = |l: &str| l.parse::<Line>().unwrap().check(&mesh);
    assert!(check("x=0:1,y=0.5").is_ok() && Line::through(&mesh).check(&mesh).is_ok());
    assert_eq!(Line::through(&mesh).to_string(), "x=0:1,y=0.5");
    let e = check("x=0:1,y=3").unwrap_err().to_string();
    assert!(e.contains("y from 0 to 1"), "{e}");
    let e = check("x=0:1,z=1").unwrap_err().to_string();
    assert!(e.contains("2 dimensions, without z"), "{e}");
}

#[test]
fn profiles_are_drawn_with_their_exact_solution() {
    let exact_lines = |c: &Chart| {
        let all = c.panels.iter().flat_map(|p| &p.layers);
        all.filter(|l| matches!(l.what, What::Line { .. })).count()
    };
    for (problem, mesh, known) in [
        ("sedov", "square01_quad", 3),
        ("sod", "segment01", 3),
        ("sod", "square01_quad", 0),
        ("taylor-green", "square01_quad", 0),
        ("sod", "1", 3),
    ] {
        let (h, s) = start(problem, mesh, 1);
        let c = profile(&h, &s, 0.1, 1.0).chart();
        assert_eq!(exact_lines(&c), known, "{problem} {mesh}");
        for width in [400.0, 900.0] {
            assert_eq!(c.faults(width), Vec::<String>::new());
        }
    }
}
