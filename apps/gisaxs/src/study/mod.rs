//! Tables I to III of the HipGISAXS paper on this machine: measured and predicted time, rate and energy of each
//! form-factor method.
//!
//! | module | contents |
//! |---|---|
//! | `work` | operations of each method |
//! | `row` | one row of the tables: the case, measured and predicted values |
//! | `scaling` | a case on 1 to N GPUs or threads |
//! | [`scaled_table`] | its table |
//! | `page` | the HTML page |

mod page;
mod row;
pub mod scaled_table;
mod scaling;
mod work;

pub use page::{CAPTION, StudyPage, columns};
pub use row::{Case, On, Row, run};
pub use scaling::{Devices, OnGpus, OnThreads, Scaled, Team, scale};
