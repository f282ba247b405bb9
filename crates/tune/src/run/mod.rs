//! Building, running, verifying and measuring configs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`compile`] | a config to a shared library |
//! | [`data`] | arguments: seeded data, guarded arrays |
//! | [`child`] | the process in which a kernel runs, and what is said to it |
//! | [`parent`] | starts such processes, watches the time, reads the answer |
//! | [`tuner`] | the loop: ask, build, measure, record |

pub mod child;
pub mod compile;
pub mod data;
pub mod parent;
pub mod tuner;
