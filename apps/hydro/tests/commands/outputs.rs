//! What runs write.

use super::common::{hydro, numbers};
use greenup_testing::{text, wait_until};

#[test]
fn a_run_leaves_pictures_and_files_behind() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (png, csv, vtu) = (at("a.png"), at("a.csv"), at("fields"));
    let out = [
        "run",
        "--refine",
        "3",
        "--t-final",
        "0.3",
        "--png",
        &png,
        "--radial",
        &csv,
        "--vtu",
        &vtu,
        "--snapshots",
        "2",
    ];
    let run = hydro(&out).assert().success();
    let said = text(&run.get_output().stdout);
    assert!(said.contains("exact"), "{said}");
    let shock: f64 = said
        .split("shock at ")
        .nth(1)
        .and_then(|s| s.split(',').next())
        .and_then(|s| s.parse().ok())
        .unwrap();
    let exact: f64 = said
        .split("exact ")
        .nth(1)
        .and_then(|s| s.split(';').next())
        .and_then(|s| s.parse().ok())
        .unwrap();
    // Within half a zone.
    assert!((shock - exact).abs() < 0.5 / 16.0, "{shock} {exact}");
    for name in [
        "a.png",
        "a.radial.png",
        "fields/fields_0002.vtu",
        "fields/run.pvd",
    ] {
        let size = std::fs::metadata(dir.path().join(name)).unwrap().len();
        assert!(size > 200, "{name}: {size}");
    }
    let header = std::fs::read_to_string(&csv).unwrap();
    assert!(header.starts_with("r,density,pressure,speed,exact_density"));
}

#[test]
fn inverted_zones_end_with_a_dump() {
    // Cold matter that is torn apart: with so large steps its zones fold.
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("fold.toml");
    std::fs::write(
        &page,
        "viscosity = false\n[[material]]\ngamma = 1.4\ndensity = 1\nenergy = 1e-12\nvelocity = [\"sin(2*PI*x)*sin(2*PI*y)\", \"0\"]\n",
    )
    .unwrap();
    let kept = dir.path().join("fold.ckpt");
    std::fs::write(dir.path().join("fold.vtu"), "mine").unwrap();
    let run = hydro(&[
        "run",
        "--problem",
        page.to_str().unwrap(),
        "--t-final",
        "5",
        "--checkpoint",
        kept.to_str().unwrap(),
    ])
    .timeout(std::time::Duration::from_secs(120))
    .assert()
    .failure();
    let said = text(&run.get_output().stderr);
    assert!(
        said.contains("zones invert") && said.contains("Fix:"),
        "{said}"
    );
    assert!(dir.path().join("fold.ckpt.inverted.vtu").exists() && kept.exists());
    assert_eq!(
        std::fs::read_to_string(dir.path().join("fold.vtu")).unwrap(),
        "mine"
    );
}

/// Readers other than ParaView take signed indices alone.
#[test]
fn indices_of_vtu_files_are_signed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("v");
    numbers(&[
        "run",
        "--refine",
        "0",
        "--t-final",
        "0.01",
        "--vtu",
        folder.to_str().unwrap(),
    ]);
    let text = std::fs::read_to_string(folder.join("fields_0000.vtu")).unwrap();
    for name in ["connectivity", "offsets"] {
        assert!(
            text.contains(&format!("type=\"Int64\" Name=\"{name}\"")),
            "{name}"
        );
    }
    assert!(!text.contains("DataArray type=\"UInt64\""));
}

fn png(path: &str) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"), "{path}");
    bytes
}

fn count(bytes: &[u8], chunk: &[u8]) -> usize {
    bytes.windows(chunk.len()).filter(|w| *w == chunk).count()
}

#[test]
fn figures_have_their_size_style_and_format() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let size = |path: &str| {
        let b = png(path);
        u32::from_be_bytes(b[16..20].try_into().unwrap())
    };
    let run = ["run", "--refine", "0", "--t-final", "0.05"];
    let (light, svg, line) = (at("a.png"), at("a.svg"), at("l.csv"));
    let flags = [
        "--width",
        "400",
        "--dpi",
        "48",
        "--line-out",
        &line,
        "--png",
    ];
    hydro(&[&run[..], &flags, &[&light]].concat())
        .assert()
        .success();
    assert_eq!((size(&light), size(&at("l.line.png"))), (200, 200));
    assert!(std::fs::read_to_string(&line).unwrap().lines().count() > 400);
    let flags = [
        "--png",
        &svg,
        "--style",
        "dark",
        "--log-color",
        "--field",
        "energy",
        "--mesh-lines",
        "off",
    ];
    hydro(&[&run[..], &flags].concat()).assert().success();
    let text = std::fs::read_to_string(&svg).unwrap();
    assert!(text.contains("specific internal energy at t = 0.05") && text.contains("#161d24"));
    let line = ["run", "--problem", "2", "--t-final", "0.05", "--png", &svg];
    hydro(&line).assert().success();
    let text = std::fs::read_to_string(&svg).unwrap();
    assert!(text.contains(">exact<") && text.contains(">computed<"));
    let space = [
        "run",
        "--mesh",
        "2x2x2",
        "--refine",
        "0",
        "--t-final",
        "0.02",
        "--slice",
        "x=0.3",
        "--slice",
        "z=1",
        "--png",
        &svg,
    ];
    hydro(&space).assert().success();
    let text = std::fs::read_to_string(&svg).unwrap();
    assert!(text.contains("plane x = 0.3") && text.contains("plane z = 1"));
    assert!(!text.contains("outer faces"));
    let run = hydro(&[&space[..7], &["--png", &svg]].concat()).assert();
    run.success();
    assert!(
        std::fs::read_to_string(&svg)
            .unwrap()
            .contains("outer faces")
    );
}

#[test]
fn flags_of_figures_that_make_no_sense_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let png = at("a.png");
    for (flags, code, word) in [
        (&["--slice", "x=0.5"][..], 1, "three dimensions"),
        (&["--slice", "w=0.5"], 2, "use x=NUMBER"),
        (&["--slice", "x=2", "--mesh", "2x2x2"], 1, "from 0 to 1"),
        (&["--color-range", "2:1"], 2, "LO below HI"),
        (
            &["--color-range=-1:1", "--log-color"],
            1,
            "--color-range -1:1: logarithmic colours begin above 0",
        ),
        (&["--line", "x=0"], 2, "is a point"),
        (
            &["--line", "x=5:6", "--line-out", "l.csv"],
            1,
            "does not meet the mesh",
        ),
        (&["--animation-frames", "0"], 2, "1..=500"),
        (&["--animation", "a.webp"], 1, "known: .png, .gif, .mp4"),
        (&["--animation", &png], 1, "same name"),
        (&["--style", "blue"], 2, "light, dark or print"),
    ] {
        let run = [&["run", "--t-final", "1e6", "--png", &png][..], flags].concat();
        let run = hydro(&run).current_dir(&dir).assert().failure();
        assert_eq!(run.get_output().status.code(), Some(code), "{flags:?}");
        let said = text(&run.get_output().stderr);
        assert!(said.contains(word), "{flags:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn animations_have_their_frames() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let run = [
        "run",
        "--problem",
        "2",
        "--refine",
        "2",
        "--t-final",
        "0.2",
        "--width",
        "300",
        "--animation-frames",
        "4",
        "--animation",
    ];
    let file = at("a.png");
    hydro(&[&run[..], &[&file]].concat()).assert().success();
    let bytes = png(&file);
    assert_eq!((count(&bytes, b"acTL"), count(&bytes, b"fcTL")), (1, 5));
    // Without ffmpeg other formats are refused before the run.
    let gif = at("a.gif");
    let stop = hydro(&[&run[..], &[&gif, "--steps", "1"]].concat())
        .env("PATH", dir.path())
        .assert()
        .failure();
    let said = text(&stop.get_output().stderr);
    assert!(said.contains("ffmpeg") && said.contains("*.png"), "{said}");
    // One that is there gets the frames, and what it writes is the file.
    let tool = dir.path().join("ffmpeg");
    greenup_testing::program(
        &tool,
        "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\nfor last; do [ \"$before\" = -i ] && from=$last; before=$last; done\n\
         cp \"$from\" \"$last\"\n",
    );
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    hydro(&[&run[..], &[&gif]].concat())
        .env("PATH", &path)
        .assert()
        .success();
    assert_eq!(count(&std::fs::read(&gif).unwrap(), b"fcTL"), 5);
    greenup_testing::program(
        &tool,
        "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\necho broken >&2; exit 1\n",
    );
    std::fs::write(&gif, "mine").unwrap();
    let stop = hydro(&[&run[..], &[&gif]].concat())
        .env("PATH", &path)
        .assert()
        .failure();
    let said = text(&stop.get_output().stderr);
    assert!(said.contains("ffmpeg failed: broken"), "{said}");
    assert_eq!(std::fs::read_to_string(&gif).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

/// Ctrl-C leaves the frames up to then.
#[test]
fn a_stopped_run_leaves_its_animation() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.png");
    let kept = dir.path().join("a.ckpt");
    let mut run = super::common::started(&[
        "run",
        "--mesh",
        "4x4",
        "--t-final",
        "1e6",
        "--width",
        "300",
        "--animation",
        file.to_str().unwrap(),
        "--every",
        "1",
        "--checkpoint",
        kept.to_str().unwrap(),
    ]);
    // After a step there is a frame, that of the start.
    wait_until(&mut run, || kept.exists());
    // SAFETY: only sends a signal to a child that is not yet reaped.
    unsafe { libc::kill(run.id().cast_signed(), libc::SIGINT) };
    assert!(!run.wait().unwrap().success());
    assert_eq!(count(&png(file.to_str().unwrap()), b"acTL"), 1);
}
