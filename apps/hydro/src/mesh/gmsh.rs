//! Reader of Gmsh's mesh formats 2.2 and 4.1 (text): straight zones of one shape. Physical groups are the attributes of
//! walls and materials.

use super::tokens::Words;
use super::{Mesh, Place, face};
use crate::HydroError;
use crate::fem::element::Shape;
use hashbrown::HashMap;

/// Shape of Gmsh's element type and its corners in lexicographic order; `None` for types that are ignored.
fn shape(kind: usize) -> Option<(Shape, &'static [usize])> {
    Some(match kind {
        1 => (Shape::Segment, &[0, 1][..]),
        2 => (Shape::Triangle, &[0, 1, 2]),
        3 => (Shape::Quad, &[0, 1, 3, 2]),
        4 => (Shape::Tet, &[0, 1, 2, 3]),
        5 => (Shape::Hex, &[0, 1, 3, 2, 4, 5, 7, 6]),
        _ => return None,
    })
}

struct Entry {
    kind: usize,
    group: u32,
    nodes: Vec<usize>,
}

/// Parses a mesh; `name` appears in messages.
///
/// # Errors
/// The text is invalid or uses an unsupported feature; the message names the line.
pub fn read(name: &str, text: &str) -> Result<Mesh, HydroError> {
    let mut w = Words::new(name, text, None);
    let (mut version, mut positions) = (0.0, HashMap::<usize, Place>::new());
    let mut entries = Vec::new();
    // Physical groups of entities by dimension and number.
    let mut groups = HashMap::new();
    while let Some(section) = w.peek() {
        w.word()?;
        match section {
            "$MeshFormat" => {
                version = w.number("version")?;
                let binary: usize = w.number("file type")?;
                if binary != 0 || !(version == 2.2 || version == 4.1) {
                    return Err(w.wrong(
                        "only text of formats 2.2 and 4.1 is read: write it by `gmsh -format msh41`",
                    ));
                }
            }
            "$Entities" => entities(&mut w, &mut groups)?,
            "$Nodes" if version == 2.2 => {
                for _ in 0..w.count("number of nodes")? {
                    let n = w.number("node")?;
                    positions.insert(n, [w.real()?, w.real()?, w.real()?]);
                }
            }
            "$Nodes" => blocks_of_nodes(&mut w, &mut positions)?,
            "$Elements" if version == 2.2 => {
                for _ in 0..w.count("number of elements")? {
                    let _: usize = w.number("element")?;
                    let kind = w.number("type")?;
                    let tags: usize = w.count("number of tags")?;
                    let mut group = 0;
                    for t in 0..tags {
                        let tag: u32 = w.number("tag")?;
                        if t == 0 {
                            group = tag;
                        }
                    }
                    let nodes = nodes(&mut w, kind)?;
                    entries.push(Entry { kind, group, nodes });
                }
            }
            "$Elements" => {
                let blocks = w.count("number of blocks")?;
                for _ in 0..3 {
                    let _: usize = w.number("count")?;
                }
                for _ in 0..blocks {
                    let key: (usize, i64) = (w.number("dimension")?, w.number("entity")?);
                    let kind = w.number("type")?;
                    let group = groups.get(&key).copied().unwrap_or(0);
                    for _ in 0..w.count("number of elements")? {
                        let _: usize = w.number("element")?;
                        let nodes = nodes(&mut w, kind)?;
                        entries.push(Entry { kind, group, nodes });
                    }
                }
            }
            _ => {}
        }
    }
    let known = |e: &&Entry| shape(e.kind).is_some();
    let Some((shape, _)) = entries
        .iter()
        .filter(known)
        .filter_map(|e| shape(e.kind))
        .max_by_key(|(s, _)| s.dim())
    else {
        return Err(w.wrong("there are no zones"));
    };
    assemble(shape, &positions, &entries).map_err(|e| w.wrong(&e.to_string()))
}

/// Elements that do not make a mesh.
#[derive(Debug, thiserror::Error)]
enum AssemblyError {
    #[error("zones are {0:?} and {1:?}: all must be of one shape")]
    Shapes(Shape, Shape),
    #[error("missing node {0}")]
    Node(usize),
}

fn assemble(
    own_shape: Shape,
    positions: &HashMap<usize, Place>,
    entries: &[Entry],
) -> Result<Mesh, AssemblyError> {
    let mut number: HashMap<usize, u32> = HashMap::new();
    let mut mesh = Mesh {
        shape: own_shape,
        vertices: Vec::new(),
        corners: Vec::new(),
        material: Vec::new(),
        boundary: HashMap::new(),
        curved: None,
    };
    for e in entries {
        let Some((s, order)) = shape(e.kind) else {
            continue;
        };
        if s.dim() != own_shape.dim() {
            continue;
        }
        if s != own_shape {
            return Err(AssemblyError::Shapes(s, own_shape));
        }
        for c in order {
            let node = e.nodes[*c];
            let position = positions.get(&node).ok_or(AssemblyError::Node(node))?;
            let next = mesh.vertices.len() as u32;
            let v = *number.entry(node).or_insert(next);
            if v == next {
                mesh.vertices.push(*position);
            }
            mesh.corners.push(v);
        }
        mesh.material.push(e.group.max(1));
    }
    for e in entries {
        let point = e.kind == 15 && own_shape.dim() == 1;
        let fits = shape(e.kind).is_some_and(|(s, _)| s.dim() + 1 == own_shape.dim());
        if point || fits {
            let own: Option<Vec<u32>> = e.nodes.iter().map(|n| number.get(n).copied()).collect();
            if let Some(own) = own {
                mesh.boundary.insert(face(own.into_iter()), e.group);
            }
        }
    }
    Ok(mesh)
}

fn nodes(w: &mut Words, kind: usize) -> Result<Vec<usize>, HydroError> {
    let n = match kind {
        15 => 1,
        _ => shape(kind)
            .map(|s| s.1.len())
            .ok_or_else(|| w.wrong(&format!("elements of type {kind} are not read: only those of order 1 (`gmsh -order 1`), segments, triangles, quadrilaterals, tetrahedra, hexahedra")))?,
    };
    (0..n).map(|_| w.number("node")).collect()
}

fn entities(w: &mut Words, groups: &mut HashMap<(usize, i64), u32>) -> Result<(), HydroError> {
    let counts: Vec<usize> = (0..4)
        .map(|_| w.count("number of entities"))
        .collect::<Result<_, _>>()?;
    for (dim, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            let tag: i64 = w.number("entity")?;
            for _ in 0..if dim == 0 { 3 } else { 6 } {
                w.real()?;
            }
            for g in 0..w.count("number of groups")? {
                let group: i64 = w.number("group")?;
                if g == 0 {
                    groups.insert((dim, tag), group.unsigned_abs() as u32);
                }
            }
            if dim > 0 {
                for _ in 0..w.count("number of sides")? {
                    let _: i64 = w.number("side")?;
                }
            }
        }
    }
    Ok(())
}

fn blocks_of_nodes(w: &mut Words, positions: &mut HashMap<usize, Place>) -> Result<(), HydroError> {
    let blocks = w.count("number of blocks")?;
    for _ in 0..3 {
        let _: usize = w.number("count")?;
    }
    for _ in 0..blocks {
        let (dim, _entity): (usize, i64) = (w.number("dimension")?, w.number("entity")?);
        let parametric: usize = w.number("flag")?;
        let count = w.count("number of nodes")?;
        let tags: Vec<usize> = (0..count)
            .map(|_| w.number("node"))
            .collect::<Result<_, _>>()?;
        for t in tags {
            positions.insert(t, [w.real()?, w.real()?, w.real()?]);
            for _ in 0..parametric.saturating_mul(dim) {
                w.real()?;
            }
        }
    }
    Ok(())
}
