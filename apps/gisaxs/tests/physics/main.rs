//! Intensities, form factors and fits against reference values.

mod fit;
mod mesh_form_factor;
mod polyhedra;
mod reference;
mod scenes;
