//! Reader of Gmsh's mesh formats 2.2 and 4.1 (text): straight zones of one shape. Physical groups are the attributes of
//! walls and materials. Sections come in any order; those without zones and groups are passed over.

use super::check::sorted;
use super::tokens::{Words, short};
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
    /// Its number in the file.
    number: usize,
    kind: usize,
    /// Its group in format 2.2, its entity in 4.1.
    tag: i64,
    nodes: Vec<usize>,
}

/// Physical groups of entities, by dimension and number.
type Groups = HashMap<(usize, i64), Vec<u32>>;

/// What the sections of a file hold; they may come in any order.
#[derive(Default)]
struct File {
    version: f64,
    positions: HashMap<usize, Place>,
    entries: Vec<Entry>,
    groups: Groups,
    notes: Vec<String>,
}

impl File {
    /// Physical groups of an element, without sign.
    fn groups(&self, e: &Entry) -> Vec<u32> {
        if self.version < 4.0 {
            return group(e.tag).into_iter().collect();
        }
        let dim = shape(e.kind).map_or(0, |(s, _)| s.dim());
        self.groups.get(&(dim, e.tag)).cloned().unwrap_or_default()
    }
}

/// The number of a physical group without its sign, which says that a curve or surface is reversed there; `None` for 0.
fn group(tag: i64) -> Option<u32> {
    u32::try_from(tag.unsigned_abs()).ok().filter(|n| *n > 0)
}

/// Parses a mesh; `name` appears in messages.
///
/// # Errors
/// The text is invalid or uses an unsupported feature; the message names the line.
pub fn read(name: &str, text: &str) -> Result<Mesh, HydroError> {
    let mut w = Words::new(name, text, None);
    let mut file = File::default();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(section) = w.peek() {
        // As Gmsh does, lines between sections are passed over.
        if !section.starts_with('$') {
            w.skip_line();
            continue;
        }
        w.word()?;
        let known = ["$MeshFormat", "$Entities", "$Nodes", "$Elements"].contains(&section);
        if known && section != "$MeshFormat" && file.version == 0.0 {
            return Err(w.wrong(&format!("`{section}` comes before `$MeshFormat`")));
        }
        if known && seen.contains(&section) {
            return Err(w.wrong(&format!("`{section}` occurs twice")));
        }
        seen.push(section);
        match section {
            "$MeshFormat" => format(&mut w, &mut file)?,
            "$Entities" => entities(&mut w, &mut file.groups)?,
            "$Nodes" if file.version < 4.0 => {
                for _ in 0..w.count("number of nodes")? {
                    node(&mut w, &mut file.positions, None)?;
                }
            }
            "$Nodes" => blocks_of_nodes(&mut w, &mut file.positions)?,
            "$Elements" if file.version < 4.0 => {
                for _ in 0..w.count("number of elements")? {
                    let number = w.number("element")?;
                    let kind = w.number("type")?;
                    let tags: usize = w.count("number of tags")?;
                    let mut tag = 0;
                    for t in 0..tags {
                        let next: i64 = w.number("tag")?;
                        if t == 0 {
                            tag = next;
                        }
                    }
                    let nodes = nodes(&mut w, kind)?;
                    file.entries.push(Entry {
                        number,
                        kind,
                        tag,
                        nodes,
                    });
                }
            }
            "$Elements" => blocks_of_elements(&mut w, &mut file.entries)?,
            "$NOD" | "$NOE" | "$ELM" => {
                return Err(w.wrong(&format!(
                    "`{section}`: this is Gmsh's format 1; text of formats 2.2 and 4.1 is read. Fix: convert it, `gmsh {name} -save -format msh41 -o new.msh`"
                )));
            }
            "$PartitionedEntities" => {
                return Err(
                    w.wrong("a partitioned mesh is not read. Fix: save it whole, `-part 0`")
                );
            }
            _ => {
                if section == "$Periodic" {
                    file.notes
                        .push("`$Periodic` is not read: all sides are walls or free".into());
                }
                let end = format!("$End{}", &section[1..]);
                if !w.skip_past(&end) {
                    return Err(w.wrong(&format!(
                        "the section `{}` has no `{}`",
                        short(section),
                        short(&end)
                    )));
                }
                continue;
            }
        }
        let end = w.word()?;
        if end[..].strip_prefix("$End") != section.strip_prefix('$') {
            return Err(w.wrong(&format!(
                "`{}` instead of `$End{}`: the section has more entries than it says",
                short(end),
                &section[1..]
            )));
        }
    }
    let known = |e: &&Entry| shape(e.kind).is_some();
    let Some((shape, _)) = file
        .entries
        .iter()
        .filter(known)
        .filter_map(|e| shape(e.kind))
        .max_by_key(|(s, _)| s.dim())
    else {
        return Err(w.wrong("there are no zones"));
    };
    assemble(shape, file).map_err(|e| HydroError::Mesh(format!("{name}: {e}")))
}

fn format(w: &mut Words, file: &mut File) -> Result<(), HydroError> {
    file.version = w.number("version")?;
    let binary: usize = w.number("file type")?;
    if binary != 0 || ![2.0, 2.1, 2.2, 4.1].contains(&file.version) {
        let kind = if binary == 0 { "text" } else { "binary data" };
        return Err(w.wrong(&format!(
            "this is {kind} of format {}; only text of formats 2.2 and 4.1 is read: write it by `gmsh -format msh41 -bin 0`",
            file.version
        )));
    }
    let _size_of_numbers: usize = w.number("data size")?;
    Ok(())
}

/// Elements that do not make a mesh.
#[derive(Debug, thiserror::Error)]
enum AssemblyError {
    #[error("zones are {0:?} and {1:?}: all must be of one shape")]
    Shapes(Shape, Shape),
    #[error("element {0} has node {1}, which does not exist")]
    Node(usize, usize),
    #[error(
        "the boundary element {0} is in the physical groups {1} and {2}: its wall can have one. Fix: leave one of them"
    )]
    TwoGroups(usize, u32, u32),
}

fn assemble(own_shape: Shape, file: File) -> Result<Mesh, AssemblyError> {
    let mut number: HashMap<usize, u32> = HashMap::new();
    let mut mesh = Mesh {
        shape: own_shape,
        vertices: Vec::new(),
        corners: Vec::new(),
        material: Vec::new(),
        boundary: HashMap::new(),
        curved: None,
        notes: file.notes.clone(),
    };
    let mut zones: HashMap<[u32; 8], usize> = HashMap::new();
    // Zones in several groups, and the groups of the first of them.
    let (mut several, mut example) = (0, Vec::new());
    for e in &file.entries {
        let Some((s, order)) = shape(e.kind) else {
            continue;
        };
        if s.dim() != own_shape.dim() {
            continue;
        }
        if s != own_shape {
            return Err(AssemblyError::Shapes(s, own_shape));
        }
        let mut own = Vec::with_capacity(order.len());
        for c in order {
            let node = e.nodes[*c];
            let position = file.positions.get(&node);
            let position = position.ok_or(AssemblyError::Node(e.number, node))?;
            let next = mesh.vertices.len() as u32;
            let v = *number.entry(node).or_insert(next);
            if v == next {
                mesh.vertices.push(*position);
            }
            own.push(v);
        }
        let groups = file.groups(e);
        let mut of_zone = groups.clone();
        // Format 2.2 has an element once for each of its groups.
        if let Some(before) = zones.get(&sorted(&own)) {
            of_zone.insert(0, mesh.material[*before]);
        } else {
            zones.insert(sorted(&own), mesh.material.len());
            mesh.corners.extend(own);
            mesh.material.push(groups.first().copied().unwrap_or(1));
        }
        if of_zone.len() > 1 {
            several += 1;
            if example.is_empty() {
                example = of_zone;
            }
        }
    }
    if several > 0 {
        mesh.notes.push(format!(
            "{several} zones are in several physical groups, the first of them in {example:?}: the first group is the attribute of a zone"
        ));
    }
    for e in &file.entries {
        let point = e.kind == 15 && own_shape.dim() == 1;
        let fits = shape(e.kind).is_some_and(|(s, _)| s.dim() + 1 == own_shape.dim());
        if !point && !fits {
            continue;
        }
        // Elements of no group have no attribute.
        let own: Option<Vec<u32>> = e.nodes.iter().map(|n| number.get(n).copied()).collect();
        for (own, group) in own.iter().cycle().zip(file.groups(e)) {
            let old = mesh.boundary.insert(face(own.iter().copied()), group);
            if let Some(old) = old.filter(|old| *old != group) {
                return Err(AssemblyError::TwoGroups(e.number, old, group));
            }
        }
    }
    Ok(mesh)
}

/// Reads a node with the number `number`, or with one that comes first.
fn node(
    w: &mut Words,
    positions: &mut HashMap<usize, Place>,
    number: Option<usize>,
) -> Result<(), HydroError> {
    let n = number.map_or_else(|| w.number("node"), Ok)?;
    if positions
        .insert(n, [w.real()?, w.real()?, w.real()?])
        .is_some()
    {
        return Err(w.wrong(&format!("node {n} occurs twice")));
    }
    Ok(())
}

fn blocks_of_elements(w: &mut Words, entries: &mut Vec<Entry>) -> Result<(), HydroError> {
    let blocks = w.count("number of blocks")?;
    let all: usize = w.number("number of elements")?;
    for _ in 0..2 {
        let _: usize = w.number("element")?;
    }
    for _ in 0..blocks {
        let (_dim, tag): (usize, i64) = (w.number("dimension")?, w.number("entity")?);
        let kind = w.number("type")?;
        for _ in 0..w.count("number of elements")? {
            let number = w.number("element")?;
            let nodes = nodes(w, kind)?;
            entries.push(Entry {
                number,
                kind,
                tag,
                nodes,
            });
        }
    }
    sums_up(w, entries.len(), all, "elements")
}

/// Checks that blocks have as many entries as their section says.
fn sums_up(w: &Words, sum: usize, all: usize, what: &str) -> Result<(), HydroError> {
    if sum == all {
        Ok(())
    } else {
        Err(w.wrong(&format!(
            "the blocks have {sum} {what}, but the section says {all}"
        )))
    }
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

fn entities(w: &mut Words, groups: &mut Groups) -> Result<(), HydroError> {
    let counts: Vec<usize> = (0..4)
        .map(|_| w.count("number of entities"))
        .collect::<Result<_, _>>()?;
    for (dim, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            let tag: i64 = w.number("entity")?;
            for _ in 0..if dim == 0 { 3 } else { 6 } {
                w.real()?;
            }
            for _ in 0..w.count("number of groups")? {
                let own = groups.entry((dim, tag)).or_default();
                own.extend(group(w.number("group")?).filter(|n| !own.contains(n)));
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
    let all: usize = w.number("number of nodes")?;
    for _ in 0..2 {
        let _: usize = w.number("node")?;
    }
    for _ in 0..blocks {
        let (dim, _entity): (usize, i64) = (w.number("dimension")?, w.number("entity")?);
        let parametric: usize = w.number("flag")?;
        let count = w.count("number of nodes")?;
        let tags: Vec<usize> = (0..count)
            .map(|_| w.number("node"))
            .collect::<Result<_, _>>()?;
        for t in tags {
            node(w, positions, Some(t))?;
            for _ in 0..parametric.saturating_mul(dim) {
                w.real()?;
            }
        }
    }
    sums_up(w, positions.len(), all, "nodes")
}
