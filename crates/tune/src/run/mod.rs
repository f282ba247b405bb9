//! Building, running, verifying and measuring configs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`] | what is said to the process in which kernels run, and what it says |
//! | [`build`] | configs to compiled kernels, several at a time |
//! | [`compile`] | a config to a shared library |
//! | [`cubin`] | a config to kernels of a GPU |
//! | [`shim`] | CUDA kernels as a library of the host, to see whether they are right |
//! | [`fault`] | faults of the environment, which are no trials |
//! | [`data`] | arguments: seeded data, guarded arrays |
//! | [`library`] | shared libraries, loaded at run time |
//! | [`host`] | kernels that run on the host |
//! | [`gpu`] | kernels that run on a GPU, and the arguments there |
//! | [`child`] | the process in which a kernel runs |
//! | [`parent`] | starts such processes, watches the time, reads the answer |
//! | [`plan`] | how a sweep is run |
//! | [`trial`] | one config: built, verified, measured |
//! | [`tuner`] | the loop: ask, build, measure, record |
//! | [`finals`] | the best measured again, in turns |
//! | [`counters`] | hardware counters and what their names are |
//! | [`profile`] | hardware counters of chosen configs |
//! | [`scaling`] | selected configs at other problem sizes |
//! | [`facts`] | what makes a sweep reproducible |

mod build;
pub mod child;
pub mod compile;
pub mod counters;
pub mod cubin;
pub mod data;
mod facts;
pub mod fault;
pub mod finals;
mod gpu;
mod host;
pub mod job;
pub mod library;
pub mod parent;
pub mod plan;
pub mod profile;
pub mod scaling;
pub mod shim;
mod trial;
pub mod tuner;
