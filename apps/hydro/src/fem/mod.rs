//! Finite elements: bases, quadrature, reference zones, node numbering, matrices.
//!
//! | module | contents |
//! |---|---|
//! | [`basis`] | polynomial bases and Gauss quadrature on segments |
//! | [`element`] | reference zones of every shape |
//! | [`fe_space`] | node numbering, shared and constrained degrees of freedom |
//! | [`node_lattice`] | integer positions of nodes, and the vertex, edge or face of each |
//! | [`mass_matrix`] | the assembled mass matrix (CSR) |
//! | [`quadrature`] | quadrature on simplices |
//! | [`simplex`] | Bernstein polynomials on simplices |
//! | [`small_matrix`] | matrices up to 3 × 3 |

pub mod basis;
pub mod element;
pub mod fe_space;
pub mod mass_matrix;
pub mod node_lattice;
pub mod quadrature;
pub mod simplex;
pub mod small_matrix;
