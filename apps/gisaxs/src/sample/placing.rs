//! Where the solids of a particle lie: each in its layer, or cut at the interfaces that it crosses.

use super::optics::Materials;
use crate::GisaxsError;
use crate::form::{Shape, span_z};
use crate::sample::rotation::Rotation;
use crate::scattering::layers::Layer;
use crate::scattering::particle::Part;
use std::path::Path;

/// Share of its height by which a solid may reach into another layer, by rounding of its file.
const ROUNDING: f64 = 1e-6;

/// What particles are put into.
pub(super) struct Placing<'a> {
    /// Layers from the top.
    pub layers: &'a [Layer],
    /// Materials by name.
    pub materials: &'a Materials,
    /// Where relative paths start.
    pub dir: &'a Path,
    /// Whether a particle of this population was in its layer.
    pub inside: bool,
    /// The last core and shell, and the core's position, that were compared: most members of a distribution have the same.
    pub within: Vec<(Shape, Shape, [f64; 3])>,
    /// What the user should know, once of each population.
    pub note: Option<String>,
}

impl Placing<'_> {
    /// Depth of the lower interface of a layer under the surface, nm; of the substrate, of its upper interface.
    pub fn below(&self, layer: usize) -> f64 {
        let inner = self.layers.iter().skip(1).take(layer);
        inner.map(|l| l.thickness).sum()
    }

    /// Heights between which a layer lies, nm.
    fn span(&self, layer: usize) -> [f64; 2] {
        let last = layer + 1 == self.layers.len();
        [
            if last {
                f64::NEG_INFINITY
            } else {
                -self.below(layer)
            },
            match layer {
                0 => f64::INFINITY,
                _ => -self.below(layer - 1),
            },
        ]
    }

    /// The error of particles of a layer that are all in others.
    pub fn outside(&self, layer: usize) -> GisaxsError {
        let [bottom, top] = self.span(layer);
        format!(
            "layer = {layer} reaches from {} to {} nm above the surface, and no particle is in it: give the layer in which \
             they are, or a height in this one (above its lower interface; in the substrate above its upper one, so negative)",
            short(bottom),
            short(top)
        )
        .into()
    }

    /// The solids of a particle of a layer and a height of its base, nm, in their layers.
    ///
    /// # Errors
    /// A solid crosses an interface and has no closed form on either side of it.
    pub fn put(
        &mut self,
        parts: Vec<Part>,
        (layer, height): (usize, f64),
    ) -> Result<Vec<Part>, GisaxsError> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            let base = height + part.at[2];
            let [low, high] = span_z(&*part.form).map(|z| z + base);
            let shared: Vec<(usize, f64, f64)> = (0..self.layers.len())
                .map(|j| {
                    let [bottom, top] = self.span(j);
                    (j, low.max(bottom), high.min(top))
                })
                .filter(|(_, from, to)| to - from > ROUNDING * (high - low))
                .collect();
            self.inside |= shared.iter().any(|s| s.0 == layer);
            if let [(only, ..)] = shared[..] {
                out.push(Part {
                    layer: only,
                    ..part
                });
                continue;
            }
            let cut = shared[0].1;
            let across = || {
                format!(
                    "a solid reaches from {} to {} nm across the interface at {} nm between layers {} and {} (heights above the surface)",
                    short(low),
                    short(high),
                    short(cut),
                    shared[0].0,
                    shared[1].0
                )
            };
            let level = Rotation::new(0.0, 0.0, 0.0);
            for (j, from, to) in &shared {
                let slice = part.form.slice(&level, from - base, to - base);
                let Some((form, shift)) = slice else {
                    return Err(format!(
                        "{}: its shape, so tilted, has no form factor in closed form on either side; move it by height or at, \
                         remove the tilt, or use a mesh of it",
                        across()
                    )
                    .into());
                };
                out.push(Part {
                    form,
                    index: part.index,
                    around: part.around,
                    at: std::array::from_fn(|k| part.at[k] + shift[k]),
                    layer: *j,
                });
            }
            self.note
                .get_or_insert_with(|| format!("{}: it is cut there", across()));
        }
        Ok(out)
    }
}

/// A height without digits of rounding.
pub(super) fn short(x: f64) -> f64 {
    (x * 1e6).round() / 1e6 + 0.0
}
