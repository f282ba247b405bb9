//! Meshes from files of other programs: read as they are, turned or flattened with a note, or refused with the true cause.

use super::common::{error, hydro, path};
use greenup_testing::text;
use serde_json::Value as J;

/// Nodes 1 to 9 of a square of 2 × 2 zones in Gmsh's format.
fn nodes(place: impl Fn(f64, f64) -> [f64; 3]) -> String {
    let all = (0..9).map(|n| {
        let [x, y, z] = place(0.5 * f64::from(n % 3), 0.5 * f64::from(n / 3));
        format!("{} {x} {y} {z}\n", n + 1)
    });
    format!("$Nodes\n9\n{}$EndNodes\n", all.collect::<String>())
}

const SIDES: [&str; 8] = [
    "1 2 2 1 1 2",
    "1 2 2 1 2 3",
    "1 2 2 1 7 8",
    "1 2 2 1 8 9",
    "1 2 1 1 1 4",
    "1 2 1 1 4 7",
    "1 2 1 1 3 6",
    "1 2 1 1 6 9",
];
const ZONES: [&str; 4] = ["1 2 5 4", "2 3 6 5", "4 5 8 7", "5 6 9 8"];

fn elements(group: i64, more: &[&str]) -> String {
    let zones = ZONES.map(|z| format!("3 2 {group} 1 {z}"));
    let all = SIDES
        .iter()
        .copied()
        .chain(more.iter().copied())
        .map(str::to_owned)
        .chain(zones);
    let all: Vec<String> = all
        .enumerate()
        .map(|(i, e)| format!("{} {e}\n", i + 1))
        .collect();
    format!("$Elements\n{}\n{}$EndElements\n", all.len(), all.concat())
}

const HEAD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";

fn flat(x: f64, y: f64) -> [f64; 3] {
    [x, y, 0.0]
}

/// The square in MFEM's format, each zone with these corners of its own: 0 1 3 2 runs counterclockwise.
fn mfem(version: &str, turn: [usize; 4], coordinates: &str) -> String {
    let zones = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]];
    let zones = zones.map(|z| {
        format!(
            "1 3 {} {} {} {}\n",
            z[turn[0]], z[turn[1]], z[turn[2]], z[turn[3]]
        )
    });
    format!(
        "{version}\n\ndimension\n2\n\nelements\n4\n{}\nboundary\n8\n2 1 0 1\n2 1 1 2\n2 1 6 7\n2 1 7 8\n1 1 0 3\n1 1 3 6\n1 1 2 5\n1 1 5 8\n\n{coordinates}",
        zones.concat()
    )
}

fn vertices(d: usize, z: impl Fn(f64) -> f64) -> String {
    let all = (0..9).map(|n| {
        let (x, y) = (0.5 * f64::from(n % 3), 0.5 * f64::from(n / 3));
        if d == 3 {
            format!("{x} {y} {}\n", z(y))
        } else {
            format!("{x} {y}\n")
        }
    });
    format!("vertices\n9\n{d}\n{}", all.collect::<String>())
}

struct Bench(tempfile::TempDir);

impl Bench {
    fn args(&self, name: &str, content: &str) -> Vec<String> {
        let file = path(&self.0, name);
        std::fs::write(&file, content).unwrap();
        [
            "run",
            "--problem",
            "0",
            "--t-final",
            "0.01",
            "--refine",
            "0",
            "--mesh",
            &file,
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// What a run prints: its JSON and its notes.
    fn run(&self, name: &str, content: &str) -> (J, String) {
        let run = hydro(&super::common::words(&self.args(name, content)))
            .arg("--json")
            .assert()
            .success();
        let out = run.get_output();
        (
            serde_json::from_slice(&out.stdout).unwrap(),
            text(&out.stderr),
        )
    }

    fn refused(&self, name: &str, content: &str, word: &str) {
        let e = error(&super::common::words(&self.args(name, content)));
        assert!(e.contains(word), "{word}: {e}");
    }
}

fn bench() -> Bench {
    Bench(tempfile::tempdir().unwrap())
}

#[test]
fn gmsh_files_are_read_or_refused_with_their_cause() {
    let b = bench();
    let (want, _) = b.run("a.msh", &[HEAD, &nodes(flat), &elements(10, &[])].concat());
    let same = |name: &str, content: String, note: &str| {
        let (got, said) = b.run(name, &content);
        for key in ["e_norm", "kinetic", "zones", "steps"] {
            assert_eq!(got[key], want[key], "{content}");
        }
        assert!(
            said.contains(note) && got["messages"].to_string().contains(note),
            "{said}"
        );
        assert!(!note.is_empty() || !said.contains("warning"), "{said}");
    };
    let n = nodes(flat);
    same("neg.msh", [HEAD, &n, &elements(-10, &[])].concat(), "");
    // Elements within the mesh, and zones in two groups, which the format has twice.
    same(
        "in.msh",
        [HEAD, &n, &elements(10, &["1 2 9 1 2 5", "1 2 9 1 5 8"])].concat(),
        "within the mesh",
    );
    same(
        "two.msh",
        [HEAD, &n, &elements(10, &["3 2 7 1 1 2 5 4"])].concat(),
        "several physical groups",
    );
    // Any order, names that look like sections, comments, the ends of lines of Windows, a byte-order mark.
    let names = "$PhysicalNames\n1\n2 10 \"the $Nodes of $Elements\"\n$EndPhysicalNames\n";
    let comments = "// a comment\n$Comments\n$Nodes 3 is said here\n$EndComments\n";
    same(
        "order.msh",
        [HEAD, names, &elements(10, &[]), comments, &n].concat(),
        "",
    );
    same(
        "crlf.msh",
        ["\u{feff}", HEAD, &n, &elements(10, &[])]
            .concat()
            .replace('\n', "\r\n"),
        "",
    );
    same(
        "high.msh",
        [HEAD, &nodes(|x, y| [x, y, 7.0]), &elements(10, &[])].concat(),
        "",
    );
    // Clockwise zones are turned.
    let turned = elements(10, &[]).replace("1 2 5 4\n", "1 4 5 2\n");
    same(
        "cw.msh",
        [HEAD, &n, &turned].concat(),
        "turned, as MFEM does",
    );

    let tilted = nodes(|x, y| [x, 0.8 * y, 0.6 * y]);
    b.refused(
        "tilt.msh",
        &[HEAD, &tilted, &elements(10, &[])].concat(),
        "leaves its plane: z runs from 0 to 0.6",
    );
    let upright = nodes(|x, y| [x, 0.0, y]);
    b.refused(
        "up.msh",
        &[HEAD, &upright, &elements(10, &[])].concat(),
        "leaves its plane",
    );
    for (what, from, to, word) in [
        (
            "count",
            "$Elements\n12",
            "$Elements\n11",
            "more entries than it says",
        ),
        ("order", HEAD, "", "comes before `$MeshFormat`"),
        ("twice", "2 0.5 0 0\n", "1 0.5 0 0\n", "node 1 occurs twice"),
        ("walls", "1 1 2 2 1 1 2\n", "1 1 2 3 1 1 2\n", "attribute 3"),
        (
            "no group",
            "1 1 2 2 1 1 2\n",
            "1 1 2 0 1 1 2\n",
            "physical group",
        ),
        (
            "two groups",
            "2 1 2 2 1 2 3\n",
            "2 1 2 1 1 1 2\n",
            "in the physical groups 2 and 1",
        ),
        (
            "node",
            "3 2 10 1 1 2 5 4\n",
            "3 2 10 1 1 2 50 4\n",
            "has node 50, which does not exist",
        ),
        ("binary", "2.2 0 8", "2.2 1 8", "binary"),
        (
            "section",
            "$EndMeshFormat\n",
            "$EndMeshFormat\n$Foo\n1\n",
            "has no `$EndFoo`",
        ),
    ] {
        let all = [HEAD, &n, &elements(10, &[])].concat();
        assert!(all.contains(from), "{what}");
        b.refused("bad.msh", &all.replacen(from, to, 1), word);
    }
}

#[test]
fn gmsh_4_files_are_read_or_refused_with_their_cause() {
    let b = bench();
    let entities = "$Entities\n0 2 1 0\n1 0 0 0 1 1 0 1 2 0\n2 0 0 0 1 1 0 1 1 0\n1 0 0 0 1 1 0 1 -10 0\n$EndEntities\n";
    let places = |tilt: f64| {
        let all = (0..9).map(|n| (0.5 * f64::from(n % 3), 0.5 * f64::from(n / 3)));
        let places: String = all
            .map(|(x, y)| format!("{x} {y} {}\n", tilt * y))
            .collect();
        format!("$Nodes\n1 9 1 9\n2 1 0 9\n1\n2\n3\n4\n5\n6\n7\n8\n9\n{places}$EndNodes\n")
    };
    let elements = "$Elements\n3 12 1 12\n1 1 1 4\n1 1 2\n2 2 3\n3 7 8\n4 8 9\n1 2 1 4\n5 1 4\n6 4 7\n7 3 6\n8 6 9\n2 1 3 4\n9 1 2 5 4\n10 2 3 6 5\n11 4 5 8 7\n12 5 6 9 8\n$EndElements\n";
    let head = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    let (want, _) = b.run(
        "a.msh",
        &[HEAD, &nodes(flat), &self::elements(10, &[])].concat(),
    );
    // Groups behind the elements that need them.
    for order in [
        [entities, &places(0.0), elements],
        [elements, &places(0.0), entities],
    ] {
        let (got, _) = b.run("4.msh", &[head, order[0], order[1], order[2]].concat());
        assert_eq!(got["e_norm"], want["e_norm"]);
    }
    b.refused(
        "tilt.msh",
        &[head, entities, &places(0.3), elements].concat(),
        "leaves its plane",
    );
    let more = elements.replace("3 12 1 12", "3 13 1 13");
    b.refused(
        "sum.msh",
        &[head, entities, &places(0.0), &more].concat(),
        "the section says 13",
    );
    let parts = "$PartitionedEntities\n$EndPartitionedEntities\n";
    b.refused(
        "part.msh",
        &[head, parts, &places(0.0), elements].concat(),
        "partitioned",
    );
}

#[test]
fn mfem_files_are_read_or_refused_with_their_cause() {
    let b = bench();
    let straight = [0, 1, 2, 3];
    let (want, _) = b.run(
        "a.mesh",
        &mfem("MFEM mesh v1.0", straight, &vertices(2, |_| 0.0)),
    );
    let same = |name: &str, content: &str, note: &str| {
        let (got, said) = b.run(name, content);
        assert_eq!(got["e_norm"], want["e_norm"], "{content}");
        assert!(said.contains(note), "{said}");
    };
    same(
        "cw.mesh",
        &mfem("MFEM mesh v1.0", [0, 3, 2, 1], &vertices(2, |_| 0.0)),
        "4 of 4 zones",
    );
    same(
        "12.mesh",
        &mfem("MFEM mesh v1.2", straight, &vertices(2, |_| 0.0)),
        "",
    );
    let sets = mfem("MFEM mesh v1.3", straight, &vertices(2, |_| 0.0)).replace(
        "boundary\n8",
        "attribute_sets\n1\n\"all of it\" 1 1\n\nboundary\n8",
    );
    same("13.mesh", &(sets + "\nmfem_mesh_end\n"), "");
    same(
        "3d.mesh",
        &mfem("MFEM mesh v1.0", straight, &vertices(3, |_| 2.0)),
        "",
    );
    let marked = mfem("\u{feff}MFEM mesh v1.0", straight, &vertices(2, |_| 0.0));
    same("bom.mesh", &marked.replace('\n', "\r\n"), "");
    b.refused(
        "t.mesh",
        &mfem("MFEM mesh v1.0", straight, &vertices(3, |y| y)),
        "leaves its plane",
    );
    for (version, word) in [
        ("MFEM INLINE mesh v1.0", "inline meshes"),
        ("MFEM NC mesh v1.0", "nonconforming"),
        ("MFEM mesh v1.1", "nonconforming"),
        ("MFEM NURBS mesh v1.0", "NURBS"),
        ("MFEM mesh v1.9", "versions 1.0, 1.2 and 1.3"),
        ("MeshVersionFormatted 2", "Medit"),
        ("# vtk DataFile Version 3.0", "VTK"),
    ] {
        b.refused(
            "v.mesh",
            &mfem(version, straight, &vertices(2, |_| 0.0)),
            word,
        );
    }
    let whole = mfem("MFEM mesh v1.2", straight, &vertices(2, |_| 0.0));
    b.refused(
        "p.mesh",
        &(whole.clone() + "\nmfem_serial_mesh_end\n"),
        "one rank of a parallel mesh",
    );
    b.refused(
        "x.vtk",
        "# vtk DataFile Version 3.0\n",
        "only meshes of MFEM",
    );
    b.refused(
        "two.mesh",
        &whole.replace("1 3 1 2 5 4", "1 3 0 1 4 3"),
        "the same corners",
    );
    b.refused(
        "over.mesh",
        &whole.replace("1 3 3 4 7 6", "1 3 1 4 7 6"),
        "",
    );
    let walls = whole.replace("boundary\n8", "boundary\n9\n1 1 0 1");
    b.refused("w.mesh", &walls, "attributes 1 and 2");
}

#[test]
fn a_tetrahedron_and_a_hexahedron_of_negative_volume_are_turned() {
    let b = bench();
    let run = |name: &str, content: &str| b.run(name, content);
    let tets = include_str!("../data/cube_tet.mesh");
    let (want, _) = run("tet.mesh", tets);
    let line = tets.lines().find(|l| l.starts_with("1 4 ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let swapped = format!("1 4 {} {} {} {}", words[3], words[2], words[4], words[5]);
    let (got, said) = run("neg.mesh", &tets.replace(line, &swapped));
    assert!(said.contains("1 of 6 zones"), "{said}");
    assert_eq!(got["e_norm"], want["e_norm"]);
    let hex = |zone: &str| {
        format!(
            "MFEM mesh v1.0\ndimension\n3\nelements\n1\n1 5 {zone}\nboundary\n6\n3 3 0 1 2 3\n3 3 4 5 6 7\n2 3 0 1 5 4\n2 3 3 2 6 7\n1 3 0 3 7 4\n1 3 1 2 6 5\nvertices\n8\n3\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
        )
    };
    let (want, _) = run("hex.mesh", &hex("0 1 2 3 4 5 6 7"));
    let (got, said) = run("xeh.mesh", &hex("4 5 6 7 0 1 2 3"));
    assert!(said.contains("turned"), "{said}");
    assert_eq!(got["e_norm"], want["e_norm"]);
}

/// The square with nodes of order 3, [zone][node] by their place within the zone.
fn curved(place: impl Fn(f64, f64) -> (f64, f64), turn: [usize; 4]) -> String {
    let inner = [0.0, 0.276_393_202_250_021_06, 0.723_606_797_749_979, 1.0];
    let mut all = String::from(
        "vertices\n9\n\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P3\nVDim: 2\nOrdering: 1\n\n",
    );
    for z in 0..4 {
        for n in 0..16 {
            let (x, y) = place(
                0.5 * (f64::from(z % 2) + inner[n % 4]),
                0.5 * (f64::from(z / 2) + inner[n / 4]),
            );
            all.push_str(&format!("{x} {y}\n"));
        }
    }
    mfem("MFEM mesh v1.0", turn, &all)
}

#[test]
fn a_mesh_of_higher_order_is_flattened_with_a_note() {
    let b = bench();
    // Sides stay straight; the nodes within move by a cubic, whose mean is 0 only in order 3.
    let bent = curved(
        |x, y| {
            let bump = |s: f64| s * (s - 0.25) * (s - 0.5) * 8.0;
            (x + 0.2 * bump(x % 0.5) * y * (1.0 - y), y)
        },
        [0, 1, 2, 3],
    );
    let file = b.args("q3.mesh", &bent);
    let said = |order: &str| {
        let run = hydro(&[&super::common::words(&file)[..], &["--order", order]].concat()).assert();
        text(&run.get_output().stderr)
    };
    assert!(!said("3").contains("order"), "{}", said("3"));
    // A corner circle: the area of a quarter of an annulus.
    let annulus = curved(
        |x, y| {
            let (r, a) = (0.5 + x, std::f64::consts::FRAC_PI_2 * y);
            (r * a.cos(), r * a.sin())
        },
        [0, 1, 2, 3],
    );
    // Its walls are round; the note precedes no wall, so the message is of the walls or the loss.
    let dir = tempfile::tempdir().unwrap();
    let problem = path(&dir, "p.toml");
    std::fs::write(&problem, "[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n[walls]\n1 = \"free\"\n2 = \"free\"\n").unwrap();
    let mesh = path(&dir, "annulus.mesh");
    std::fs::write(&mesh, annulus).unwrap();
    let run = [
        "run",
        "--problem",
        &problem,
        "--mesh",
        &mesh,
        "--refine",
        "0",
        "--t-final",
        "0.01",
        "--order",
        "1",
    ];
    let out = hydro(&run).arg("--json").assert().success();
    let (note, json) = (
        text(&out.get_output().stderr),
        text(&out.get_output().stdout),
    );
    assert!(
        note.contains("loses") && note.contains("of its area") && note.contains("--order 3"),
        "{note}"
    );
    assert!(json.contains("of its area"), "{json}");
    let two = hydro(&[&run[..10], &["2", "--ranks", "2"]].concat())
        .assert()
        .success();
    assert!(text(&two.get_output().stderr).contains("of its area"));
}

/// The energy of the Sedov problem is that of the space which the mesh covers: here all of it.
#[test]
fn sedov_around_the_origin_has_all_its_energy_on_any_number_of_ranks() {
    let b = bench();
    let places: String = (0..9)
        .map(|n| {
            format!(
                "{} {}\n",
                0.5 * f64::from(n % 3) - 0.5,
                0.5 * f64::from(n / 3) - 0.5
            )
        })
        .collect();
    let text = mfem(
        "MFEM mesh v1.0",
        [0, 1, 2, 3],
        &format!("vertices\n9\n2\n{places}"),
    );
    let file = path(&b.0, "around.mesh");
    std::fs::write(&file, text).unwrap();
    for ranks in ["1", "2", "3"] {
        let j = super::common::numbers(&[
            "run",
            "--problem",
            "1",
            "--mesh",
            &file,
            "--refine",
            "1",
            "--t-final",
            "0.02",
            "--ode",
            "rk2avg",
            "--ranks",
            ranks,
        ]);
        let total = j["internal"].as_f64().unwrap() + j["kinetic"].as_f64().unwrap();
        assert!((total - 1.0).abs() < 1e-10, "{ranks}: {j}");
    }
}
