//! Reader of MFEM's mesh formats 1.0, 1.2 and 1.3 (text): zones of one shape, with vertices or with nodes of a
//! finite-element space.

use super::check::{continuous, flat};
use super::tokens::{Words, short};
use super::{Curved, Mesh, Place, face};
use crate::HydroError;
use crate::fem::element::Shape;
use greenup_setting::setting;
use hashbrown::HashMap;

/// Permutation from lexicographic corners to MFEM's order.
fn order(shape: Shape) -> &'static [usize] {
    match shape {
        Shape::Quad => &[0, 1, 3, 2],
        Shape::Hex => &[0, 1, 3, 2, 4, 5, 7, 6],
        Shape::Segment => &[0, 1],
        Shape::Triangle => &[0, 1, 2],
        Shape::Tet => &[0, 1, 2, 3],
    }
}

/// Number of corners of MFEM's geometry type `kind`.
fn corners(kind: usize) -> Option<usize> {
    [1, 2, 3, 4, 4, 8].get(kind).copied()
}

/// Parses a mesh; `name` appears in messages.
///
/// # Errors
/// The text is invalid or uses an unsupported feature; the message names the line.
pub fn read(name: &str, text: &str) -> Result<Mesh, HydroError> {
    let mut w = Words::new(name, text, Some('#'));
    header(&mut w)?;
    let mut mesh = Mesh {
        shape: Shape::Segment,
        vertices: Vec::new(),
        corners: Vec::new(),
        material: Vec::new(),
        boundary: HashMap::new(),
        curved: None,
        notes: Vec::new(),
    };
    let (mut dim, mut count) = (0, 0);
    let mut seen: Vec<&str> = Vec::new();
    while let Some(section) = w.peek() {
        w.word()?;
        if seen.contains(&section) {
            return Err(w.wrong(&format!("the section `{}` occurs twice", short(section))));
        }
        seen.push(section);
        match section {
            "dimension" => {
                dim = w.number("dimension")?;
                if !(1..=3).contains(&dim) {
                    return Err(w.wrong(&format!("{dim} dimensions: there are 1 to 3")));
                }
            }
            "attribute_sets" | "bdr_attribute_sets" => attribute_sets(&mut w)?,
            "mfem_mesh_end" => break,
            "mfem_serial_mesh_end" | "communication_groups" => {
                return Err(w.wrong("this is the part of one rank of a parallel mesh. Fix: save the whole, `Mesh::Save` or `ParMesh::PrintAsSerial`"));
            }
            "elements" => elements(&mut w, &mut mesh, dim)?,
            "boundary" => boundary(&mut w, &mut mesh)?,
            "vertices" => {
                count = w.number("number of vertices")?;
                let by_nodes = w.peek() == Some("nodes");
                // Without coordinates a large number costs a file nothing.
                if by_nodes && count > mesh.corners.len() {
                    return Err(w.wrong(&format!(
                        "{count} vertices, but zones have {} corners",
                        mesh.corners.len()
                    )));
                }
                if !by_nodes {
                    let d: usize = w.number("dimension")?;
                    if !(dim..=3).contains(&d) {
                        return Err(w.wrong(&format!("{d} coordinates in {dim} dimensions")));
                    }
                    for _ in 0..count {
                        let mut x: Place = [0.0; 3];
                        for to in x.iter_mut().take(d) {
                            *to = w.real()?;
                        }
                        mesh.vertices.push(x);
                    }
                }
            }
            "nodes" => nodes(&mut w, &mut mesh, count)?,
            other => {
                return Err(w.wrong(&format!("unknown section `{}`", short(other))));
            }
        }
    }
    if mesh.corners.is_empty() || mesh.vertices.is_empty() {
        return Err(w.wrong("there are no zones, or no coordinates of their corners"));
    }
    Ok(mesh)
}

/// Reads the first line.
fn header(w: &mut Words) -> Result<(), HydroError> {
    w.peek();
    let line = w.skip_line().split('#').next().unwrap_or("");
    let words: Vec<&str> = line.split_whitespace().collect();
    let head = words.join(" ");
    let cause = match words[..] {
        ["MFEM", "mesh", "v1.0" | "v1.2" | "v1.3"] => return Ok(()),
        ["MFEM", "mesh", "v1.1"] | ["MFEM", "NC", ..] => {
            "nonconforming meshes are not read: zones must meet at whole faces"
        }
        ["MFEM", "NURBS", ..] => {
            "NURBS meshes are not read. Fix: save it with nodes of H1_ or L2_T1_"
        }
        ["MFEM", "INLINE", ..] => &format!(
            "inline meshes are not read. Fix: use the zones of a unit box, such as `{}`, or save it by MFEM as a mesh",
            setting("mesh").to("4x4")
        ),
        ["MFEM", "mesh", ..] => "versions 1.0, 1.2 and 1.3 of MFEM's meshes are read",
        _ => "a mesh of MFEM begins with `MFEM mesh v1.0`, one of Gmsh with `$MeshFormat`",
    };
    Err(w.wrong(&format!("`{}`: {cause}", short(&head))))
}

/// Passes over names of sets of attributes.
fn attribute_sets(w: &mut Words) -> Result<(), HydroError> {
    for _ in 0..w.count("number of sets")? {
        w.quoted()?;
        for _ in 0..w.count("number of attributes")? {
            let _: u32 = w.number("attribute")?;
        }
    }
    Ok(())
}

fn elements(w: &mut Words, mesh: &mut Mesh, dim: usize) -> Result<(), HydroError> {
    for n in 0..w.count("number of elements")? {
        let (material, kind): (u32, usize) = (w.number("attribute")?, w.number("type")?);
        let shape = match kind {
            1 => Shape::Segment,
            2 => Shape::Triangle,
            3 => Shape::Quad,
            4 => Shape::Tet,
            5 => Shape::Hex,
            _ => return Err(w.wrong(&format!("zones of type {kind} are not known"))),
        };
        if shape.dim() != dim || n > 0 && shape != mesh.shape {
            return Err(w.wrong(&format!(
                "element {n} is a {shape:?}: all zones must be of one shape, and of dimension {dim}"
            )));
        }
        mesh.shape = shape;
        mesh.material.push(material);
        let own: Vec<u32> = (0..shape.corners())
            .map(|_| w.number("vertex"))
            .collect::<Result<_, _>>()?;
        mesh.corners.extend(order(shape).iter().map(|c| own[*c]));
    }
    Ok(())
}

fn boundary(w: &mut Words, mesh: &mut Mesh) -> Result<(), HydroError> {
    for _ in 0..w.count("number of boundary elements")? {
        let (number, kind): (u32, usize) = (w.number("attribute")?, w.number("type")?);
        let n =
            corners(kind).ok_or_else(|| w.wrong(&format!("type {kind} is none of a boundary")))?;
        let own: Vec<u32> = (0..n)
            .map(|_| w.number("vertex"))
            .collect::<Result<_, _>>()?;
        let old = mesh.boundary.insert(face(own.iter().copied()), number);
        if let Some(old) = old.filter(|old| *old != number) {
            return Err(w.wrong(&format!(
                "the boundary element {own:?} has the attributes {old} and {number}: it can have one"
            )));
        }
    }
    Ok(())
}

/// Reads the section `nodes`: positions of the vertices, or of all nodes of curved zones.
fn nodes(w: &mut Words, mesh: &mut Mesh, vertices: usize) -> Result<(), HydroError> {
    if mesh.corners.is_empty() {
        return Err(w.wrong("`nodes` comes before `elements`"));
    }
    if let Some(v) = mesh.corners.iter().find(|v| **v as usize >= vertices) {
        return Err(w.wrong(&format!(
            "a zone has corner {v}, but there are {vertices} vertices"
        )));
    }
    let (mut kind, mut components, mut by_place) = ("", 0, 0);
    while let Some(word) = w.peek() {
        match word {
            "FiniteElementSpace" => {
                w.word()?;
            }
            "FiniteElementCollection:" => {
                w.word()?;
                kind = w.word()?;
            }
            "VDim:" => {
                w.word()?;
                components = w.number("number of components")?;
            }
            "Ordering:" => {
                w.word()?;
                by_place = w.number::<usize>("ordering")?;
                break;
            }
            _ => {
                return Err(w.wrong(&format!(
                    "`{}` is unknown in a FiniteElementSpace",
                    short(word)
                )));
            }
        }
    }
    let (shape, dim) = (mesh.shape, mesh.dim());
    if !(dim..=3).contains(&components) {
        return Err(w.wrong(&format!("{components} components in {dim} dimensions")));
    }
    let degree = |k: &str| {
        k.rsplit_once('P')
            .and_then(|(_, n)| n.parse::<usize>().ok())
    };
    let (degree, shared) = match kind {
        "Linear" => (1, true),
        "Quadratic" => (2, true),
        k if k.starts_with("L2_T1_") => (degree(k).unwrap_or(0), false),
        k if k.starts_with("H1_") => (degree(k).unwrap_or(0), true),
        k => {
            return Err(w.wrong(&format!(
                "nodes of `{}` are not read: H1_ and L2_T1_ are",
                short(k)
            )));
        }
    };
    if !(1..=8).contains(&degree) {
        return Err(w.wrong(&format!("the order of `{}` is not 1 to 8", short(kind))));
    }
    // Nodes of each zone alone; each coordinate takes at least a digit and a space.
    let least = if !shared {
        shape.nodes(degree)
    } else if shape.tensor() {
        (degree - 1).pow(dim as u32)
    } else {
        0
    };
    if 2 * mesh.zones() * least * components > w.rest() + 2 {
        return Err(w.wrong("the file ends before the last node"));
    }
    let (local, count) = if shared {
        shared_nodes(mesh, degree, vertices).ok_or_else(|| {
            w.wrong(&format!(
                "`{}` on a {shape:?}: use L2_T1_ nodes",
                short(kind)
            ))
        })?
    } else {
        let n = mesh.zones() * shape.nodes(degree);
        ((0..n).collect(), n)
    };
    if 2 * count * components > w.rest() + 2 {
        return Err(w.wrong("the file ends before the last node"));
    }
    let mut all = vec![[0.0; 3]; count];
    for i in 0..count * components {
        let (n, c) = if by_place == 1 {
            (i / components, i % components)
        } else {
            (i % count, i / count)
        };
        all[n][c] = w.real()?;
    }
    // Nodes at vertices of no zone do not count.
    let of_zones: Vec<Place> = local.iter().map(|i| all[*i]).collect();
    flat(dim, &of_zones).map_err(|e| w.wrong(&e.to_string()))?;
    let n = shape.nodes(degree);
    let mut points = Vec::with_capacity(mesh.zones() * dim * n);
    for own in local.chunks(n) {
        points.extend((0..dim).flat_map(|c| own.iter().map(|i| all[*i][c]).collect::<Vec<_>>()));
    }
    mesh.curved = Some(Curved {
        order: degree,
        points,
    });
    // Corners of the zones are positions of their nodes.
    mesh.vertices = vec![[0.0; 3]; vertices];
    if !shared {
        continuous(mesh, degree, &of_zones).map_err(|e| w.wrong(&e.to_string()))?;
    }
    for z in 0..mesh.zones() {
        for c in 0..shape.corners() {
            let position = mesh.map(z, &shape.corner(c));
            let v = mesh.zone(z)[c] as usize;
            if v < vertices {
                mesh.vertices[v] = position;
            }
        }
    }
    if degree == 1 && shape.tensor() {
        mesh.curved = None;
    }
    Ok(())
}

/// Node numbers of each zone in MFEM's continuous space: vertices, then edges in the order in which the zones visit
/// them (from the smaller vertex), then faces (at most one node each), then interiors.
fn shared_nodes(mesh: &Mesh, k: usize, vertices: usize) -> Option<(Vec<usize>, usize)> {
    let (shape, zones) = (mesh.shape, mesh.zones());
    if k > 2 && (!shape.tensor() || shape == Shape::Hex) {
        return None;
    }
    // Edges around a zone in the format's order.
    let edges: &[(usize, usize)] = match shape {
        Shape::Segment => &[],
        Shape::Triangle => &[(0, 1), (1, 2), (2, 0)],
        Shape::Quad => &[(0, 1), (1, 3), (3, 2), (2, 0)],
        Shape::Tet => &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        Shape::Hex => &[
            (0, 1),
            (1, 3),
            (2, 3),
            (0, 2),
            (4, 5),
            (5, 7),
            (6, 7),
            (4, 6),
            (0, 4),
            (1, 5),
            (3, 7),
            (2, 6),
        ],
    };
    let hex_faces: &[usize] = if shape == Shape::Hex {
        &[0, 2, 5, 3, 4, 1]
    } else {
        &[]
    };
    let (mut edge_of, mut face_of) = (HashMap::new(), HashMap::new());
    for z in 0..zones {
        let own = mesh.zone(z);
        for (a, b) in edges {
            let n = edge_of.len();
            edge_of
                .entry(face([own[*a], own[*b]].into_iter()))
                .or_insert(n);
        }
        for f in hex_faces {
            let n = face_of.len();
            face_of.entry(mesh.face_of(z, *f)).or_insert(n);
        }
    }
    let on_edge = k - 1;
    let first_face = vertices + edge_of.len() * on_edge;
    let on_face = if shape == Shape::Hex {
        on_edge.pow(2)
    } else {
        0
    };
    let first_inside = first_face + face_of.len() * on_face;
    let inside = if shape.tensor() {
        on_edge.pow(shape.dim() as u32)
    } else {
        0
    };
    let mut out = Vec::new();
    for z in 0..zones {
        let own = mesh.zone(z);
        let mut inner = 0;
        for at in crate::fem::node_lattice::integer_positions(shape, k) {
            let on = crate::fem::node_lattice::entity(shape, k, &at);
            let number = match on[..] {
                [c] => own[c] as usize,
                [a, b] => {
                    let from_a = crate::fem::node_lattice::distance(shape, a, &at, k);
                    let i = if own[a] < own[b] { from_a } else { k - from_a };
                    let key = face([own[a], own[b]].into_iter());
                    if shape == Shape::Segment {
                        // A segment's inside runs its own way.
                        inner += 1;
                        first_inside + z * inside + inner - 1
                    } else {
                        vertices + edge_of[&key] * on_edge + i - 1
                    }
                }
                _ if shape == Shape::Hex && on.len() == 4 => {
                    first_face + face_of[&face(on.iter().map(|c| own[*c]))] * on_face
                }
                _ => {
                    inner += 1;
                    first_inside + z * inside + inner - 1
                }
            };
            out.push(number);
        }
    }
    Some((out, first_inside + zones * inside))
}
