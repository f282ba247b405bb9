//! Any bytes as a mesh of zones: the first says as which format (g: Gmsh, others: MFEM). It is read, checked and
//! refined, or refused.
#![no_main]

use greenup_fuzz::Folder;
use greenup_hydro::mesh::Mesh;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|data: &[u8]| {
    let Some((format, bytes)) = data.split_first() else {
        return;
    };
    let name = if *format == b'g' { "m.msh" } else { "m.mesh" };
    let path = FOLDER.put(name, bytes);
    let Some(path) = path.to_str() else {
        return;
    };
    if let Ok(mesh) = Mesh::open(path, 0)
        && mesh.zones() < 64
    {
        let refined = mesh.refined();
        for z in 0..refined.zones() {
            let _ = refined.nodes(z, 2);
        }
    }
});
