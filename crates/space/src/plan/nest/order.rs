//! In which order the nest chooses the parameters: so that filters are decidable early and few
//! earlier values matter later.

/// A filter as the order sees it.
pub struct Link {
    /// Parameters it depends on.
    pub params: Vec<usize>,
    /// Guess of the share of points it keeps.
    pub keeps: f64,
}

/// Sizes at most this many parameters are ordered by cost; beyond, as declared.
const MOST: usize = 200;

/// Filters at most, likewise.
const MOST_LINKS: usize = 5_000;

/// The order of choice. `before[p]` must be chosen before `p`; `sizes[p]` guesses the number of
/// values.
///
/// # Errors
/// The parameters on a cycle of dependent values.
pub fn order(
    sizes: &[f64],
    before: &[Vec<usize>],
    links: &[Link],
) -> Result<Vec<usize>, Vec<usize>> {
    let declared = sort(sizes.len(), before, |open| open.first().copied())?;
    if sizes.len() > MOST || links.len() > MOST_LINKS {
        return Ok(declared);
    }
    let mut state = State::new(sizes, before, links);
    let greedy = sort(sizes.len(), before, |open| {
        let best = open
            .iter()
            .map(|&p| (state.with(p).1, p))
            .min_by(|a, b| a.0.total_cmp(&b.0))?
            .1;
        state.choose(best);
        Some(best)
    })?;
    let cost = |order: &[usize]| {
        let mut s = State::new(sizes, before, links);
        order
            .iter()
            .map(|&p| {
                let tested = s.with(p).0;
                s.choose(p);
                tested
            })
            .sum::<f64>()
    };
    // The author's order unless another is clearly better: a guess is a guess.
    Ok(if cost(&greedy) * 4.0 < cost(&declared) {
        greedy
    } else {
        declared
    })
}

/// Topological order, the next among the open ones by `choose`.
fn sort(
    n: usize,
    before: &[Vec<usize>],
    mut choose: impl FnMut(&[usize]) -> Option<usize>,
) -> Result<Vec<usize>, Vec<usize>> {
    let mut done = vec![false; n];
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let open: Vec<usize> = (0..n)
            .filter(|&p| !done[p] && before[p].iter().all(|&b| done[b]))
            .collect();
        match choose(&open) {
            Some(p) => {
                done[p] = true;
                out.push(p);
            }
            None => return Err((0..n).filter(|&p| !done[p]).collect()),
        }
    }
    Ok(out)
}

/// What is chosen so far, and how many prefixes survive by guess.
struct State<'a> {
    sizes: &'a [f64],
    links: &'a [Link],
    /// Filters, and dependent values, that hold a parameter in the frontier.
    of_param: Vec<Vec<usize>>,
    open: Vec<usize>,
    dependants: Vec<Vec<usize>>,
    chosen: Vec<bool>,
    survivors: f64,
}

impl<'a> State<'a> {
    fn new(sizes: &'a [f64], before: &[Vec<usize>], links: &'a [Link]) -> Self {
        let mut of_param = vec![Vec::new(); sizes.len()];
        for (l, link) in links.iter().enumerate() {
            for &p in &link.params {
                of_param[p].push(l);
            }
        }
        let mut dependants = vec![Vec::new(); sizes.len()];
        for (p, list) in before.iter().enumerate() {
            for &b in list {
                dependants[b].push(p);
            }
        }
        Self {
            sizes,
            links,
            of_param,
            open: links.iter().map(|l| l.params.len()).collect(),
            dependants,
            chosen: vec![false; sizes.len()],
            survivors: 1.0,
        }
    }

    /// Points tested when `p` comes next, and states that remain after it.
    fn with(&self, p: usize) -> (f64, f64) {
        let tested = self.survivors * self.sizes[p];
        let mut survivors = tested;
        for &l in &self.of_param[p] {
            if self.open[l] == 1 {
                survivors *= self.links[l].keeps;
            }
        }
        let matters = |q: usize| {
            let later = |r: usize| r != p && !self.chosen[r];
            self.dependants[q].iter().any(|&r| later(r))
                || self.of_param[q]
                    .iter()
                    .any(|&l| self.links[l].params.iter().any(|&r| later(r)))
        };
        let frontier: f64 = (0..self.sizes.len())
            .filter(|&q| (q == p || self.chosen[q]) && matters(q))
            .map(|q| self.sizes[q])
            .product();
        (tested, survivors.min(frontier))
    }

    fn choose(&mut self, p: usize) {
        self.survivors = self.with(p).1.max(1.0);
        self.chosen[p] = true;
        for &l in &self.of_param[p] {
            self.open[l] -= 1;
        }
    }
}
