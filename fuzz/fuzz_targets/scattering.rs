//! Any text as a sample: it is read, and its scene built, or it is refused. Scenes of a few pixels and particles are
//! also computed: their intensities are numbers.
#![no_main]

use greenup_fuzz::Folder;
use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::sample::Sample;
use greenup_gisaxs::scattering::layers;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    Folder::new(&[
        ("box.obj", include_bytes!("../seeds/surface/box.obj")),
        (
            "glass.csv",
            b"energy,delta,beta\n1000,1e-5,1e-7\n100000,1e-6,1e-8\n",
        ),
    ])
});

/// Most particles' sizes and pixels of a scene that is computed.
const MAX: u64 = 64;

fuzz_target!(|text: &str| {
    let path = FOLDER.put("sample.toml", text.as_bytes());
    let Ok(sample) = Sample::read(&path) else {
        return;
    };
    if let (Ok(layers), Ok(k0)) = (sample.stack(FOLDER.path()), sample.wave_number()) {
        let _ = layers::reflectivity(&layers, k0, 0.01);
    }
    let Ok(scene) = sample.scene(FOLDER.path()) else {
        return;
    };
    if scene.steps() > MAX || scene.detector.rows() * scene.detector.columns() > 16 {
        return;
    }
    let quiet = |_: u64| {};
    let watch = Watch {
        progress: &quiet,
        stop: &AtomicBool::new(false),
    };
    if let Ok(Some(pixels)) = scene.image(&watch) {
        assert!(pixels.iter().all(|p| p.is_finite()), "{pixels:?}");
    }
});
