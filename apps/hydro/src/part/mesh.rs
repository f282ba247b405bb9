//! The mesh of a part: the zones of a rank and those that touch them. Boxes are never built as a whole; meshes from files are
//! cut before most of their refinements.

use super::boxes::BoxPartition;
use super::partition::{Method, Partition};
use crate::HydroError;
use crate::fem::element::Shape;
use crate::mesh::{Bounds, Curved, Mesh, Source, boxes, face};
use greenup_ranks::Ranks;
use greenup_setting::setting;

/// Zones a rank in a mesh that is cut: parts then differ by less than a hundredth.
const ENOUGH: usize = 256;

/// The zones of a rank, and those that share a vertex with them.
pub struct PartMesh {
    /// The mesh of these zones. Zones and vertices have the order that they have in the whole.
    pub mesh: Mesh,
    /// Number in the whole of each zone, ascending.
    pub numbers: Vec<u32>,
    /// The rank of each zone.
    pub partition: Partition,
    /// Number of zones of the whole.
    pub all_zones: usize,
    /// Bounds of the whole.
    pub bounds: Bounds,
}

impl PartMesh {
    /// The part of this rank of a mesh, as [`Mesh::open_if`] opens it, by bisection. All ranks call it.
    ///
    /// # Errors
    /// As [`Mesh::open_if`], or there are fewer zones than ranks.
    pub fn open(
        name: &str,
        refine: usize,
        ranks: &dyn Ranks,
        fits: &mut dyn FnMut(Shape, f64) -> Result<(), HydroError>,
    ) -> Result<Self, HydroError> {
        Self::open_by(Method::Bisection, (name, refine), ranks, fits)
    }

    /// The same by any method, which cuts a mesh before most of its refinements.
    ///
    /// # Errors
    /// As [`PartMesh::open`] and [`Partition::by`]; a box is cut by bisection alone.
    pub fn open_by(
        method: Method,
        (name, refine): (&str, usize),
        ranks: &dyn Ranks,
        fits: &mut dyn FnMut(Shape, f64) -> Result<(), HydroError>,
    ) -> Result<Self, HydroError> {
        let mut out = match Mesh::source(name, refine, fits)? {
            Source::Box(_) if method != Method::Bisection => {
                return Err(HydroError::Setting(format!(
                    "{name} is a box, whose parts bisection cuts best, without the mesh of the whole. Fix: leave out {}",
                    setting("partition")
                )));
            }
            Source::Box(faces) => {
                let faces = boxes::refined(faces, refine);
                Self::of_box(&faces, ranks.size(), ranks.rank())?
            }
            Source::Mesh(mesh) => Self::of_mesh(method, mesh, refine, ranks)?,
        };
        let own = out.mesh.bounds();
        let mut ends = [own.high, own.low.map(|x| -x)].concat();
        ranks.max(&mut ends);
        out.bounds = Bounds {
            dim: own.dim,
            high: std::array::from_fn(|c| ends[c]),
            low: std::array::from_fn(|c| -ends[3 + c]),
        };
        Ok(out)
    }

    fn of_box(faces: &[Vec<f64>], ranks: usize, rank: usize) -> Result<Self, HydroError> {
        let cut = BoxPartition::new(faces, ranks)?;
        let own = cut.zones(rank);
        let mut numbers = own.clone();
        for z in own {
            cut.around(z as usize, |n| {
                if cut.rank_of(n) as usize != rank {
                    numbers.push(n as u32);
                }
            });
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mesh = boxes::part(faces, &numbers);
        Ok(Self {
            partition: Partition {
                rank_of: numbers.iter().map(|z| cut.rank_of(*z as usize)).collect(),
                ranks,
            },
            all_zones: faces.iter().map(|f| f.len() - 1).product(),
            bounds: mesh.bounds(),
            numbers,
            mesh,
        })
    }

    fn of_mesh(
        method: Method,
        mut mesh: Mesh,
        refine: usize,
        ranks: &dyn Ranks,
    ) -> Result<Self, HydroError> {
        let rank = ranks.rank();
        let mut left = refine;
        while left > 0 && mesh.zones() < ENOUGH * ranks.size() {
            mesh = mesh.refined();
            left -= 1;
        }
        let partition = Partition::by(method, &mesh, ranks)?;
        let children = 1 << mesh.dim();
        let mut out = Self {
            numbers: (0..mesh.zones() as u32).collect(),
            all_zones: mesh.zones() * (children as usize).pow(left as u32),
            bounds: mesh.bounds(),
            partition,
            mesh,
        };
        out.restrict(rank);
        for _ in 0..left {
            out.mesh = out.mesh.refined();
            // Children follow their parent.
            out.numbers = (out.numbers.iter())
                .flat_map(|n| (0..children).map(move |c| n * children + c))
                .collect();
            let ranks = out.partition.rank_of.iter();
            out.partition.rank_of = ranks
                .flat_map(|r| std::iter::repeat_n(*r, children as usize))
                .collect();
            out.restrict(rank);
        }
        Ok(out)
    }

    /// Leaves out the zones that share no vertex with those of a rank.
    fn restrict(&mut self, rank: usize) {
        let from = &self.mesh;
        let mut touched = vec![false; from.vertices.len()];
        for z in self.partition.zones(rank) {
            for v in from.zone(z) {
                touched[*v as usize] = true;
            }
        }
        let near = |z: &usize| from.zone(*z).iter().any(|v| touched[*v as usize]);
        let keep: Vec<usize> = (0..from.zones()).filter(near).collect();
        let mut local = vec![u32::MAX; from.vertices.len()];
        for v in keep.iter().flat_map(|z| from.zone(*z)) {
            local[*v as usize] = 0;
        }
        let mut vertices = Vec::new();
        for (v, to) in local.iter_mut().enumerate().filter(|(_, to)| **to == 0) {
            *to = vertices.len() as u32;
            vertices.push(from.vertices[v]);
        }
        let mut mesh = Mesh {
            shape: from.shape,
            vertices,
            corners: (keep.iter())
                .flat_map(|z| from.zone(*z).iter().map(|v| local[*v as usize]))
                .collect(),
            material: keep.iter().map(|z| from.material[*z]).collect(),
            boundary: hashbrown::HashMap::new(),
            curved: from.curved.as_ref().map(|c| {
                let each = from.dim() * from.shape.nodes(c.order);
                let of = |z: &usize| c.points[z * each..(z + 1) * each].iter().copied();
                Curved {
                    order: c.order,
                    points: keep.iter().flat_map(of).collect(),
                }
            }),
            notes: from.notes.clone(),
        };
        for z in &keep {
            for (f, corners) in from.shape.faces().iter().enumerate() {
                if let Some(number) = from.boundary.get(&from.face_of(*z, f)) {
                    let zone = from.zone(*z);
                    let key = face(corners.iter().map(|c| local[zone[*c] as usize]));
                    mesh.boundary.insert(key, *number);
                }
            }
        }
        self.numbers = keep.iter().map(|z| self.numbers[*z]).collect();
        self.partition.rank_of = keep.iter().map(|z| self.partition.rank_of[*z]).collect();
        self.mesh = mesh;
    }
}
