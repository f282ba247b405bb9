//! Building, running, verifying and measuring configs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`] | jobs of the process in which kernels run, and its answers |
//! | [`build`] | configs to compiled kernels, several at a time |
//! | [`compile`] | a config to a shared library |
//! | [`cubin`] | a config to kernels of a GPU |
//! | [`shim`] | CUDA kernels as a library of the host, to see whether they are right |
//! | [`data`] | arguments: seeded data, guarded arrays |
//! | [`block`] | memory of one array, with what is watched around it |
//! | [`memory`] | whether the arguments fit into memory |
//! | [`guards`] | which array a kernel ran out of |
//! | [`library`] | shared libraries, loaded at run time |
//! | [`host`] | kernels that run on the host |
//! | [`gpu`] | kernels that run on a GPU, and the arguments there |
//! | [`child`] | the process in which a kernel runs |
//! | [`stage`] | the inputs in it, and runs on them |
//! | [`channel`] | its end of the protocol, out of a kernel's reach |
//! | [`supervise`] | its watcher, which kills what kernels leave behind |
//! | [`fault`] | faults of the environment, which are no trials |
//! | [`parent`] | starts such processes, watches the time, reads the answer |
//! | [`plan`] | how a sweep is run |
//! | [`trial`] | one config: built, verified, measured |
//! | [`tuner`] | the loop: ask, build, measure, record |
//! | [`finals`] | the best measured again, in turns |
//! | [`counters`] | hardware counters and what their names are |
//! | [`profile`] | hardware counters of chosen configs |
//! | [`scaling`] | selected configs at other problem sizes |
//! | [`facts`] | what makes a sweep reproducible |

pub mod block;
mod build;
pub mod channel;
pub mod child;
pub mod compile;
pub mod counters;
pub mod cubin;
pub mod data;
mod facts;
pub mod fault;
pub mod finals;
mod gpu;
mod guards;
mod host;
pub mod job;
pub mod library;
pub mod memory;
pub mod parent;
pub mod plan;
pub mod profile;
pub mod scaling;
pub mod shim;
mod stage;
pub mod supervise;
mod trial;
pub mod tuner;
