//! Tables I to III of the HipGISAXS paper on this machine: measured and predicted time, rate and energy of each
//! form-factor method.
//!
//! | module | contents |
//! |---|---|
//! | `work` | operations of each method |
//! | `row` | one row of the tables: the case, measured and predicted values |
//! | `scaling` | a case on 1 to N GPUs |
//! | `threads` | a case on 1 to N threads |
//! | `page` | the HTML page |

mod page;
mod row;
mod scaling;
mod threads;
mod work;

pub use page::{StudyPage, method};
pub use row::{Case, On, Row, run};
pub use scaling::{Scaled, counts, scale};
pub use threads::{OnThreads, scale_threads};
