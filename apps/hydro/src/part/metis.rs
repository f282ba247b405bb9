//! METIS, found at run time: parts of an irregular mesh with few faces between them.

use crate::HydroError;
use crate::mesh::Mesh;
use greenup_device::library::Library;
use greenup_setting::setting;
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names of the library.
const NAMES: [&str; 2] = ["libmetis.so.5", "libmetis.so"];
/// Names the library instead.
const VARIABLE: &str = "GREENUP_METIS";
/// Number of options, METIS_NOPTIONS.
const OPTIONS: usize = 40;
/// METIS_OK.
const OK: c_int = 1;

type SetDefaultOptions = unsafe extern "C" fn(*mut i32) -> c_int;
type PartMeshDual = unsafe extern "C" fn(
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut f32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
) -> c_int;

/// The rank of each zone of a mesh.
///
/// # Errors
/// There is no METIS, it fails, or a rank gets no zone.
pub fn partition(mesh: &Mesh, ranks: usize) -> Result<Vec<u32>, HydroError> {
    let library = library()?;
    let symbol = |name: &str| {
        library
            .symbol(name)
            .map_err(|e| HydroError::Setting(format!("METIS has no {name}: {e}")))
    };
    // SAFETY: METIS 5 declares it so; the width of its integers is checked below.
    let defaults: SetDefaultOptions =
        unsafe { std::mem::transmute(symbol("METIS_SetDefaultOptions")?) };
    // SAFETY: as above.
    let part: PartMeshDual = unsafe { std::mem::transmute(symbol("METIS_PartMeshDual")?) };
    // It writes all options: 40 integers, whose width it does not tell otherwise. There is room for those of 64 bits.
    let mut options = [0i32; 2 * OPTIONS];
    // SAFETY: see above.
    unsafe { defaults(options.as_mut_ptr()) };
    if options[OPTIONS..].iter().any(|o| *o != 0) {
        return Err(HydroError::Setting(format!(
            "this METIS has integers of 64 bits. Fix: one with 32 bits, as of `apt-get install libmetis5`, named by {VARIABLE}; or {}",
            bisection()
        )));
    }
    let (zones, corners) = (mesh.zones(), mesh.corners.len());
    let number = |n: usize| {
        i32::try_from(n).map_err(|_| {
            HydroError::Setting(format!(
                "{n} corners are too many for METIS. Fix: {}",
                bisection()
            ))
        })
    };
    let mut count = number(zones)?;
    let mut vertices = number(mesh.vertices.len())?;
    let each = number(corners)? / count.max(1);
    let mut begin: Vec<i32> = (0..=count).map(|z| z * each).collect();
    let mut corners = (mesh.corners.iter())
        .map(|v| number(*v as usize))
        .collect::<Result<Vec<i32>, _>>()?;
    // Zones are neighbours if they share a face.
    let mut common = match mesh.dim() {
        3 => 3,
        dim => dim as i32,
    };
    let (mut parts, mut cut) = (number(ranks)?, 0);
    let mut of_zones = vec![0; zones];
    let mut of_vertices = vec![0; mesh.vertices.len()];
    let none = std::ptr::null_mut();
    // It draws from the generator of the C library, which all threads share: one after another, all get the same parts.
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: lengths are those that METIS documents: `count` + 1 offsets, corners below `vertices`, a part of each zone and
    // vertex; null stands for equal weights.
    let status = unsafe {
        part(
            &mut count,
            &mut vertices,
            begin.as_mut_ptr(),
            corners.as_mut_ptr(),
            none,
            none,
            &mut common,
            &mut parts,
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            &mut cut,
            of_zones.as_mut_ptr(),
            of_vertices.as_mut_ptr(),
        )
    };
    drop(one);
    if status != OK {
        return Err(HydroError::Setting(format!(
            "METIS failed with status {status}. Fix: {}",
            bisection()
        )));
    }
    let of_zones: Vec<u32> = of_zones.into_iter().map(i32::unsigned_abs).collect();
    let mut has = vec![false; ranks];
    for r in &of_zones {
        if let Some(has) = has.get_mut(*r as usize) {
            *has = true;
        }
    }
    match has.iter().position(|h| !h) {
        Some(rank) => Err(HydroError::Setting(format!(
            "METIS gives rank {rank} none of {zones} zones. Fix: fewer ranks, a higher {}, or {}",
            setting("refine"),
            bisection()
        ))),
        None => Ok(of_zones),
    }
}

fn bisection() -> String {
    setting("partition").to("bisection")
}

fn library() -> Result<Library, HydroError> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let usual = NAMES.map(PathBuf::from).to_vec();
    let mut why = String::new();
    for path in named.map_or(usual, |n| vec![n]) {
        match Library::open(Path::new(&path)) {
            Ok(library) => return Ok(library),
            Err(e) => why = e.to_string(),
        }
    }
    Err(HydroError::Setting(format!(
        "METIS is not found ({why}). Fix: `apt-get install libmetis5`, or {VARIABLE} with the path of libmetis.so; or {}",
        bisection()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fem::element::Shape;
    use crate::part::Partition;

    /// Faces between zones of different ranks.
    fn cut(mesh: &Mesh, rank_of: &[u32]) -> usize {
        let mut sides: hashbrown::HashMap<[u32; 2], Vec<u32>> = hashbrown::HashMap::new();
        for (z, rank) in rank_of.iter().enumerate() {
            let v = mesh.zone(z);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let side = [v[a].min(v[b]), v[a].max(v[b])];
                sides.entry(side).or_default().push(*rank);
            }
        }
        sides
            .values()
            .filter(|r| r.len() == 2 && r[0] != r[1])
            .count()
    }

    /// Triangles of a ring, whose zones get smaller towards one side.
    fn ring(around: usize, across: usize) -> Mesh {
        let mut mesh = Mesh::open("square01_tri", 0).unwrap();
        mesh.shape = Shape::Triangle;
        mesh.boundary.clear();
        mesh.curved = None;
        let at = |i: usize, j: usize| {
            let t = (i as f64 / around as f64).powf(1.5) * std::f64::consts::TAU;
            let r = 1.0 + j as f64 / across as f64;
            [r * t.cos(), r * t.sin(), 0.0]
        };
        mesh.vertices = (0..around)
            .flat_map(|i| (0..=across).map(move |j| at(i, j)))
            .collect();
        let v = |i: usize, j: usize| (i % around * (across + 1) + j) as u32;
        mesh.corners = (0..around)
            .flat_map(|i| (0..across).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                let (a, b, c, d) = (v(i, j), v(i, j + 1), v(i + 1, j), v(i + 1, j + 1));
                [a, c, b, b, c, d]
            })
            .collect();
        mesh.material = vec![mesh.material[0]; mesh.corners.len() / 3];
        mesh
    }

    #[test]
    fn fewer_faces_are_cut_than_by_bisection() {
        let mesh = ring(96, 12);
        for ranks in [3, 4, 5, 7] {
            let metis = partition(&mesh, ranks).unwrap();
            let sizes: Vec<usize> = (0..ranks)
                .map(|r| metis.iter().filter(|x| **x as usize == r).count())
                .collect();
            let mean = mesh.zones() / ranks;
            assert!(sizes.iter().all(|n| *n * 20 < mean * 23), "{sizes:?}");
            let bisection = Partition::new(&mesh, ranks).unwrap().rank_of;
            let (own, other) = (cut(&mesh, &metis), cut(&mesh, &bisection));
            assert!(own <= other, "{ranks} ranks: {own}, bisection {other}");
            // The same again: results depend on it.
            assert!(partition(&mesh, ranks).unwrap() == metis, "{ranks} ranks");
        }
    }

    #[test]
    fn ranks_without_zones_are_named() {
        let mesh = Mesh::open("square01_tri", 0).unwrap();
        // METIS may leave a part of so few zones empty; never silently.
        for ranks in 2..=mesh.zones() {
            match partition(&mesh, ranks) {
                Ok(of) => assert!((0..ranks as u32).all(|r| of.contains(&r))),
                Err(e) => assert!(e.to_string().contains("fewer ranks"), "{e}"),
            }
        }
    }
}
