//! Tables I to III of the HipGISAXS paper on this machine: measured and predicted time, rate and energy of each
//! form-factor method.
//!
//! | module | contents |
//! |---|---|
//! | `work` | operations of each method |
//! | `row` | one row of the tables: the case, measured and predicted values |
//! | `page` | the HTML page |

mod page;
mod row;
mod work;

pub use page::{StudyPage, method};
pub use row::{Case, On, Row, run};
