//! The text of a script to functions: lines of tokens, statements, and names as slots.

mod block;
mod header;
mod lines;
pub mod lower;
pub mod parse;
pub mod tree;
