//! Counts of published search spaces.

use greenup_space::{Definition, Facts, Index, Limits, Space, Value, count, visit};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/spaces")
}

fn read(path: &Path) -> (Arc<Space>, String) {
    let text = std::fs::read_to_string(path).unwrap();
    let d = Definition::read(&text, &Facts::new()).unwrap();
    (Arc::new(Space::new(&d).unwrap()), text)
}

#[test]
fn every_published_count_is_right() {
    let mut seen = 0;
    for entry in std::fs::read_dir(data()).unwrap() {
        let path = entry.unwrap().path();
        let (space, text) = read(&path);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = json["expected_valid"].as_u64().unwrap();
        let limits = Limits::default();
        assert_eq!(
            count(&space, |_| true, &limits).unwrap(),
            u128::from(expected),
            "{}",
            path.display()
        );
        let index = Index::build(&space, &limits).unwrap();
        assert_eq!(index.len(), expected, "{}", path.display());
        // Numbers and points go both ways.
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..50.min(expected) {
            let i = rng.u64(..expected);
            assert_eq!(index.position(&index.get(i).unwrap()), Some(i));
        }
        if let Some(cartesian) = json["cartesian_size"].as_u64() {
            let all = greenup_space::count_unfiltered(&space, &limits).unwrap();
            assert_eq!(all, u128::from(cartesian), "{}", path.display());
        }
        seen += 1;
    }
    assert_eq!(seen, 14);
}

/// Rows of Table II of the BEAST paper: dim_m, dim_n, blk_m, blk_n, blk_k, m_a, n_a, m_b, n_b.
const TABLE_II: [[i64; 9]; 14] = [
    [16, 16, 64, 96, 16, 64, 4, 16, 16],
    [32, 16, 128, 128, 16, 32, 16, 8, 64],
    [16, 16, 128, 128, 8, 64, 4, 8, 32],
    [16, 16, 128, 128, 8, 32, 8, 4, 64],
    [16, 16, 64, 256, 8, 32, 8, 4, 64],
    [16, 16, 128, 128, 2, 128, 2, 2, 128],
    [16, 16, 64, 128, 4, 64, 4, 2, 128],
    [48, 16, 48, 96, 16, 48, 16, 8, 96],
    [64, 16, 64, 64, 16, 64, 16, 16, 64],
    [16, 48, 96, 48, 16, 48, 16, 16, 48],
    [64, 16, 64, 64, 48, 64, 16, 16, 64],
    [32, 16, 64, 64, 24, 64, 8, 8, 64],
    [16, 16, 64, 80, 16, 32, 8, 16, 16],
    [16, 16, 80, 80, 16, 16, 16, 16, 16],
];

fn beast() -> (Arc<Space>, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spaces/beast_dgemm_k20x.toml");
    read(&path)
}

#[test]
fn beast_as_printed_holds_table_two() {
    let (space, _) = beast();
    let index = Index::build(&space, &Limits::default()).unwrap();
    assert_eq!(index.len(), 1446);
    for row in TABLE_II {
        let mut point: Vec<Value> = row.iter().map(|&v| Value::Int(v)).collect();
        point.push(Value::Int(0));
        assert!(index.position(&point).is_some(), "{row:?}");
    }
    let scalar = |p: &[Value]| p[9] == Value::Int(0);
    let mut n = (0, 0);
    visit(&space, &mut |p| {
        if scalar(p) {
            n.0 += 1
        } else {
            n.1 += 1
        }
        true
    })
    .unwrap();
    assert_eq!(n, (1211, 235));
}

/// The scalar kernels that the launch model of a Kepler admits: modelled registers a thread in
/// granules of 256 a warp.
#[test]
fn beast_with_a_launch_model() {
    let (_, text) = beast();
    let with = |constant: i64| {
        let more = format!(
            "{text}\nlaunches = {{ keep = \"256 * ((32 * (2 * tm * tn + 2 * (tm + tn) + {constant}) + 255) // 256) * ((threads + 31) // 32) <= 65536\", because = \"the register file\" }}\n"
        )
        .replace("[derived]", "[derived]\ntm = \"blk_m // dim_m\"\ntn = \"blk_n // dim_n\"")
        .replace("simd = [0, 1]", "simd = [0]");
        let d = Definition::read(&more, &Facts::new()).unwrap();
        count(&Space::new(&d).unwrap(), |_| true, &Limits::default()).unwrap()
    };
    assert_eq!([19, 21, 23, 25, 27].map(with), [795, 779, 769, 767, 753]);
}

#[test]
fn beast_exhaustive_steps() {
    let (_, text) = beast();
    let text = text.replace("step = 16 ", "step = 1 ");
    let d = Definition::read(&text, &Facts::new()).unwrap();
    let space = Space::new(&d).unwrap();
    assert_eq!(count(&space, |_| true, &Limits::default()).unwrap(), 18_918);
}
