//! Configs that another program requests: its search, measured here.

use super::{Ask, Proposal, Strategy};
use greenup_space::Value;
use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};

/// Proposes the configs of one line of its input after the other, until the input ends: JSON lists of values in the order of
/// the parameters, such as `[[16, "row"], [32, "row"]]`. Those of a line are built together.
pub struct Requested {
    input: Box<dyn BufRead + Send>,
    fault: RequestFault,
}

/// What was wrong with a request, which ended the search; shared with the one who started it.
#[derive(Clone, Debug, Default)]
pub struct RequestFault(Arc<Mutex<Option<String>>>);

impl RequestFault {
    /// What was wrong, if anything was.
    pub fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Requested {
    /// Reads requests from an input.
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        let fault = RequestFault::default();
        Self { input, fault }
    }

    /// Where a wrong request is found later.
    pub fn fault(&self) -> RequestFault {
        self.fault.clone()
    }

    fn line(&mut self, ask: &Ask) -> Result<Vec<Proposal>, String> {
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            let read = self.input.read_line(&mut line);
            if read.map_err(|e| format!("the requests cannot be read: {e}"))? == 0 {
                return Ok(Vec::new());
            }
        }
        let refused = |why: String| format!("a request is refused: {}: {why}", line.trim());
        let configs: Vec<Vec<Value>> =
            serde_json::from_str(&line).map_err(|e| refused(e.to_string()))?;
        let points = configs.iter().map(|config| {
            let values: Vec<String> = config.iter().map(ToString::to_string).collect();
            let missing = || refused(format!("({}) is not in the space", values.join(", ")));
            ask.points
                .position(config)
                .map(Proposal::from)
                .ok_or_else(missing)
        });
        points.collect()
    }
}

impl Strategy for Requested {
    fn carried_on(&self) -> bool {
        false
    }

    fn ask(&mut self, ask: &Ask, _: &mut fastrand::Rng) -> Vec<Proposal> {
        self.line(ask).unwrap_or_else(|fault| {
            *self.fault.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            Vec::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Table;
    use crate::search::Search;

    fn searched(requests: &'static str) -> (Vec<u64>, Option<String>) {
        let rows: Vec<Vec<Value>> = (0..9).map(|x| vec![Value::Int(x)]).collect();
        let line = Table::new(vec!["x".to_owned()], &rows);
        let mut requested = Requested::new(Box::new(requests.as_bytes()));
        let fault = requested.fault();
        let mut order = Vec::new();
        let mut search = Search::new(&mut requested, &line, 9, 1);
        while let Some(proposals) = search.ask() {
            for p in proposals {
                search.begin(&p);
                search.tell(p.point, Some(vec![1.0]), 1.0);
                order.push(p.point);
            }
        }
        (order, fault.get())
    }

    #[test]
    fn requests_are_measured_in_order_and_nothing_else() {
        let (order, fault) = searched("[[3], [1.0]]\n\n[[7]]\n[[3]]\n[[0]]");
        assert_eq!(order, [3, 1, 7, 0]);
        assert_eq!(fault, None);
    }

    #[test]
    fn a_wrong_request_ends_the_search_with_its_reason() {
        for (wrong, why) in [
            ("[[9]]", "(9) is not in the space"),
            ("[3]", "expected a sequence"),
        ] {
            let text = format!("[[2]]\n{wrong}\n[[4]]\n");
            let (order, fault) = searched(text.leak());
            assert_eq!(order, [2]);
            let fault = fault.unwrap_or_default();
            assert!(fault.contains(wrong) && fault.contains(why), "{fault}");
        }
    }
}
