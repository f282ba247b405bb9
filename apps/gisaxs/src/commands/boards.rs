//! Time and energy on all GPUs of all ranks.

use crate::mesh_form_factor::MakeMeter;
use greenup_app::print::note;
use greenup_app::ranks::Boards;
use greenup_app::{Result, sensors};
use greenup_meter::{Measurement, Policy};
use greenup_ranks::Ranks;
use greenup_report::si::si;
use std::sync::Arc;

/// A meter for each GPU; a note where there is no energy sensor.
pub fn meters() -> Arc<MakeMeter> {
    Arc::new(|gpu| {
        let target = sensors::on_gpu(gpu).map_err(|e| e.message)?;
        let chosen = sensors::sensors(None, target, 0.3).map_err(|e| e.message)?;
        if let Some(why) = &chosen.missing {
            note(format!("no energy of GPU {}: {why}", gpu.ordinal));
        }
        // GPUs run at the same time for most of their windows.
        Ok(chosen.meter(Policy {
            max_warmups: 1,
            max_repeats: 3,
            ..Policy::quick()
        }))
    })
}

/// What the GPUs of all ranks measured, on the first; `None` on others.
pub fn measured(ranks: &dyn Ranks, own: &[Measurement]) -> Result<Option<Boards>> {
    let own = own.iter().map(|m| {
        let energy = m.energy_j.as_ref().map(|e| e.median);
        (m.time_s.median, energy)
    });
    Boards::of_all(ranks, &own.collect::<Vec<_>>())
}

/// In words, a line for each GPU.
pub fn text(boards: &Boards) -> String {
    let mut text = String::new();
    for (n, s) in boards.time_s.iter().enumerate() {
        let energy = boards.energy_j.as_ref().map(|e| e[n]);
        let energy = energy.map_or_else(String::new, |j| format!(", {}", si(j, "J")));
        text.push_str(&format!("\nGPU {n}: {}{energy}", si(*s, "s")));
    }
    if let (Some(j), true) = (boards.total_j, boards.time_s.len() > 1) {
        text.push_str(&format!("\nall GPUs: {}", si(j, "J")));
    }
    text
}

/// The longest time among the ranks.
pub fn longest(ranks: &dyn Ranks, seconds: f64) -> f64 {
    let mut all = [seconds];
    ranks.max(&mut all);
    all[0]
}

/// The numbers of all ranks, by rank, on the first; the others have none.
pub fn of_all(ranks: &dyn Ranks, own: &[f64]) -> Vec<f64> {
    let bytes: Vec<u8> = own.iter().flat_map(|x| x.to_le_bytes()).collect();
    let all = ranks.gather(&bytes).unwrap_or_default().concat();
    let (words, _) = all.as_chunks::<8>();
    words.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::threads;

    #[test]
    fn numbers_of_all_ranks_are_on_the_first() {
        let all = threads::run(3, |r| {
            let own: Vec<f64> = (0..r.rank()).map(|n| n as f64 + 0.5).collect();
            Ok::<_, ()>((of_all(&*r, &own), longest(&*r, r.rank() as f64)))
        });
        let all = all.unwrap();
        assert_eq!(all[0], (vec![0.5, 0.5, 1.5], 2.0));
        assert_eq!(all[1], (Vec::new(), 2.0));
    }

    #[test]
    fn joules_of_all_gpus_are_listed_and_added() {
        let two = Boards {
            time_s: vec![0.1, 0.2],
            energy_j: Some(vec![30.0, 40.0]),
            total_j: Some(70.0),
        };
        let all = text(&two);
        assert!(
            all.contains("GPU 1: 200 ms, 40.0 J") && all.ends_with("all GPUs: 70.0 J"),
            "{all}"
        );
        let none = Boards {
            energy_j: None,
            total_j: None,
            ..two
        };
        assert_eq!(text(&none), "\nGPU 0: 100 ms\nGPU 1: 200 ms");
    }
}
