//! Values while a function runs, and what operators, functions and methods make of them.

pub mod functions;
mod index;
pub mod item;
pub mod methods;
mod operate;
