//! Any bytes as a surface: the first says as which format (s: STL, p: PLY, others: OBJ). It is read and checked, or
//! refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_gisaxs::mesh;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|data: &[u8]| {
    let Some((format, bytes)) = data.split_first() else {
        return;
    };
    let name = match format {
        b's' => "m.stl",
        b'p' => "m.ply",
        _ => "m.obj",
    };
    if let Ok(mesh) = mesh::read(&FOLDER.put(name, bytes))
        && mesh.check().is_ok()
    {
        assert!(mesh.volume().is_finite());
    }
});
