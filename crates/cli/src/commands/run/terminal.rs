//! Results on the terminal.

use super::columns::{label, ranked};
use super::conclusion;
use greenup_app::print;
use greenup_meter::Summary;
use greenup_meter::comparison::{CommandResult, InterleavedResult, LEAST_TO_TELL, differ};
use greenup_report::si::si;

pub fn print(all: &InterleavedResult) {
    for (i, r) in all.results.iter().enumerate() {
        if i > 0 {
            print::line("");
        }
        print::line(print::bold(&label(all, i)));
        print_one(r, all.sensor.as_deref());
    }
    for i in 1..all.results.len() {
        let Some(c) = all.against_baseline(i) else {
            continue;
        };
        print::line("");
        let (base, other) = (&all.results[0], &all.results[i]);
        // Energies of few blocks are not told apart either.
        let word = |s: &Summary, pair: Option<(&Summary, &Summary)>, better: &str, worse: &str| {
            let few = pair.is_none_or(|(a, b)| a.n.min(b.n) < LEAST_TO_TELL);
            let differs = pair.is_some_and(|(a, b)| differ(a, b));
            let verdict = match (s.lo > 1.0, s.hi < 1.0) {
                _ if few => "too few runs to tell: three are needed",
                (true, _) if differs => better,
                (_, true) if differs => worse,
                _ => "no difference beyond the noise",
            };
            format!("{:.3}  [{:.3} … {:.3}]  {verdict}", s.median, s.lo, s.hi)
        };
        print::line(format!(
            "{} against {}",
            print::bold(&label(all, i)),
            label(all, 0)
        ));
        print::line(format!(
            "  speedup  {}",
            word(
                &c.speedup,
                Some((&base.time_s, &other.time_s)),
                "faster",
                "slower"
            )
        ));
        if let Some(p) = &c.powerup {
            print::line(format!(
                "  powerup  {}",
                word(
                    p,
                    base.power_w.as_ref().zip(other.power_w.as_ref()),
                    "draws less power",
                    "draws more power"
                )
            ));
        }
        if let Some(g) = &c.greenup {
            let energies = base.energy_j.as_ref().zip(other.energy_j.as_ref());
            print::line(format!(
                "  greenup  {}",
                word(g, energies, "greener", "less green")
            ));
        }
    }
    if all.results.len() > 2 {
        ranking(all);
    }
    let sentences = conclusion::sentences(all);
    if !sentences.is_empty() {
        print::line("");
    }
    for sentence in sentences {
        print::line(print::bold(&sentence));
    }
}

/// All commands from the fastest to the slowest.
fn ranking(all: &InterleavedResult) {
    print::line(format!(
        "\nfrom the fastest, against {}",
        print::bold(&label(all, 0))
    ));
    let rows = all.ranking.iter().map(|&i| (i, &all.results[i]));
    print::table(&ranked(all).table("", rows));
    let tied = all.ranks.windows(2).any(|w| w[0] == w[1]);
    if tied {
        print::line("commands of one rank do not differ beyond the noise");
    }
}

fn print_one(r: &CommandResult, sensor: Option<&str>) {
    let s = |x: f64| si(x, "s");
    let t = &r.time_s;
    let energies = if sensor.is_some() && r.energy_runs < r.runs {
        format!(", {} with energy", r.energy_runs)
    } else {
        String::new()
    };
    print::line(format!(
        "  time    {:>10}  [{} … {}]   {} runs{energies}",
        s(t.median),
        s(t.lo),
        s(t.hi),
        t.n
    ));
    print::line(format!(
        "          mean {} ± {}, range {} … {}",
        s(t.mean),
        s(t.sd),
        s(t.min),
        s(t.max)
    ));
    let [user, system] = r.cpu_s();
    print::line(format!(
        "          user {}, system {}, run queue {}, peak memory {}, {} context switches",
        s(user),
        s(system),
        r.run_queue().map_or_else(|| "unknown".to_owned(), s),
        r.peak_memory()
            .map_or_else(|| "unknown".to_owned(), |b| si(b as f64, "B")),
        r.switches()
    ));
    match (&r.energy_j, &r.power_w) {
        (Some(e), Some(p)) => {
            print::line(format!(
                "  energy  {:>10}  [{} … {}]   {}",
                si(e.median, "J"),
                si(e.lo, "J"),
                si(e.hi, "J"),
                sensor.unwrap_or_default()
            ));
            print::line(format!(
                "  power   {:>10}  [{} … {}]",
                si(p.median, "W"),
                si(p.lo, "W"),
                si(p.hi, "W")
            ));
        }
        _ if sensor.is_some() => {
            print::line(format!(
                "  energy  unknown: {} of {} runs have one",
                r.energy_runs, r.runs
            ));
        }
        _ => {}
    }
}
