//! Building, running, verifying and measuring configs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`compile`] | a config to a shared library |
//! | [`data`] | arguments: seeded data, guarded arrays |
//! | [`library`] | shared libraries, loaded at run time |
//! | [`child`] | the process in which a kernel runs, and what is said to it |
//! | [`parent`] | starts such processes, watches the time, reads the answer |
//! | [`plan`] | how a sweep is run |
//! | [`trial`] | one config: built, verified, measured |
//! | [`tuner`] | the loop: ask, build, measure, record |
//! | [`finals`] | the best measured again, in turns |
//! | [`scaling`] | selected configs at other problem sizes |
//! | [`facts`] | what makes a sweep reproducible |

pub mod child;
pub mod compile;
pub mod data;
mod facts;
pub mod finals;
pub mod library;
pub mod parent;
pub mod plan;
pub mod scaling;
mod trial;
pub mod tuner;
