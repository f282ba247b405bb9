//! Launches of one kernel with one grid, by how long they take: persistent kernels and tensors of several sizes share both.

/// Launches of one part take no longer than this times those next to them.
const GAP: f64 = 1.25;
/// Smallest share of the launches that is a part of its own, and smallest number of them.
const LEAST: (f64, usize) = (0.05, 3);

/// Where durations, sorted, jump: indices at which another part begins.
pub fn cuts(sorted: &[u64]) -> Vec<usize> {
    let least = LEAST.1.max((LEAST.0 * sorted.len() as f64).ceil() as usize);
    let mut out: Vec<usize> = Vec::new();
    for i in 1..sorted.len() {
        let from = out.last().copied().unwrap_or(0);
        let jumps = sorted[i] as f64 > GAP * sorted[i - 1].max(1) as f64;
        if jumps && i - from >= least && sorted.len() - i >= least {
            out.push(i);
        }
    }
    out
}

/// Which of these durations one is nearest to, by ratio. `None` if there is none, or it is no positive number.
pub fn nearest(durations: &[f64], one: f64) -> Option<usize> {
    let far = |d: &f64| (d / one).ln().abs();
    (durations.iter().enumerate())
        .filter(|(_, d)| far(d).is_finite())
        .min_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)))
        .map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clear_jumps_with_enough_launches_cut() {
        assert_eq!(cuts(&[10, 10, 11, 40, 41, 42]), [3]);
        // Outliers, and times that spread without a jump, do not.
        assert!(cuts(&[10, 10, 11, 12, 12, 40]).is_empty());
        assert!(cuts(&(0..40).map(|i| 1000 + 100 * i).collect::<Vec<_>>()).is_empty());
        assert!(cuts(&[]).is_empty() && cuts(&[0, 0, 0]).is_empty());
        let three: Vec<u64> = [[10; 20], [20; 20], [100; 20]].concat();
        assert_eq!(cuts(&three), [20, 40]);
    }

    #[test]
    fn a_duration_belongs_to_the_nearest_part() {
        assert_eq!(nearest(&[25.0, 98.0], 30.0), Some(0));
        assert_eq!(nearest(&[25.0, 98.0], 60.0), Some(1));
        assert_eq!((nearest(&[], 1.0), nearest(&[1.0], f64::NAN)), (None, None));
    }
}
