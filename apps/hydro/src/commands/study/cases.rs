//! What `hydro study` measures.

use crate::engine::Part;
use crate::session::settings::Assembly;
use greenup_app::study;
use greenup_space::Value;

/// Kinds of work: whole steps and their parts.
pub const WORK: [(&str, Option<Part>); 3] = [
    ("step", None),
    ("corner", Some(Part::Corner)),
    ("solve", Some(Part::Solve)),
];

/// Both assemblies, in the order of their measurement.
pub const ASSEMBLIES: [Assembly; 2] = [Assembly::Full, Assembly::Partial];

/// Parameters of the sweep.
pub const PARAMETERS: [&str; 6] = ["mesh", "order", "assembly", "work", "device", "threads"];

/// Work on the Sedov problem at one order.
pub struct Case {
    /// Zones along each of its dimensions, as `--mesh` takes them.
    pub mesh: String,
    /// What computes it, as `--device` takes it.
    pub device: String,
    pub order: usize,
    pub assembly: Assembly,
    /// One of [`WORK`].
    pub work: &'static str,
    pub part: Option<Part>,
}

impl study::Case for Case {
    fn name(&self) -> String {
        format!("Q{} {} {}", self.order, self.assembly.name(), self.work)
    }

    fn configs(&self) -> Vec<Vec<Value>> {
        let number = |n: usize| Value::Int(n as i64);
        let text = |s: &str| Value::Str(s.to_owned());
        vec![vec![
            text(&self.mesh),
            number(self.order),
            text(self.assembly.name()),
            text(self.work),
            text(&self.device),
            number(rayon::current_num_threads()),
        ]]
    }
}
