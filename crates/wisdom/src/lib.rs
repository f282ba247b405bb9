//! Wisdom: the best known config of each kernel on each device, and which of them to use on a device without its own.
//!
//! | module | contents |
//! |---|---|
//! | [`entry`] | a config with its problem, device, result and origin |
//! | [`device`] | the facts of a device that decide which configs suit it |
//! | [`distance`] | how far two devices are apart: on the map of machines, else by their facts |
//! | [`store`] | a file of entries, which several processes may change |
//! | [`merge`] | entries of another store: new, better, worse |
//! | [`lookup`] | the entry for a device: its own, one of its architecture, the nearest |
//! | [`fits`] | whether a device can run a config, by the filters of its search space |
//! | [`shipped`] | the entries of the sweeps that come with the program |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod device;
pub mod distance;
pub mod entry;
pub mod fits;
pub mod lookup;
pub mod merge;
pub mod shipped;
pub mod store;

pub use device::{Device, DeviceKind};
pub use distance::{Distance, Map};
pub use entry::{Entry, Provenance};
pub use lookup::{Choice, Origin, Query, Wisdom};
pub use store::{Store, StoreError};
