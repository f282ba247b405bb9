//! Intensities, form factors and fits against reference values.

mod accepted;
mod fit;
mod interfaces;
mod mesh_form_factor;
mod polyhedra;
mod reference;
mod scenes;
