//! Meters with faults: what they print, in simulated time.

mod live;
mod trace;

/// Time between two lines, s.
const PERIOD_S: f64 = 0.02;
/// Time between a sample and its line, s.
const DELAY_S: f64 = 0.001;
const END_S: f64 = 14.0;

/// True power, W: two loads, and a slow wave.
fn watts(t: f64) -> f64 {
    let load = if t % 5.0 < 3.0 { 50.0 } else { 65.0 };
    load + 5.0 * (t / 1.7).sin()
}

/// Its integral from 0, J.
fn joules(t: f64) -> f64 {
    let periods = (t / 5.0).floor();
    let rest = t - 5.0 * periods;
    let load = periods * 280.0 + 50.0 * rest.min(3.0) + 65.0 * (rest - 3.0).max(0.0);
    load + 5.0 * 1.7 * (1.0 - (t / 1.7).cos())
}

/// What the meter prints: arrival and text.
type Printed = Vec<(f64, String)>;

fn each(line: impl Fn(usize, f64) -> Option<String>) -> Printed {
    let n = (END_S / PERIOD_S) as usize;
    (0..n)
        .filter_map(|i| {
            let t = i as f64 * PERIOD_S;
            Some((t + DELAY_S, line(i, t)?))
        })
        .collect()
}

/// By a clock, with plain lines.
fn clock(of: impl Fn(f64) -> f64) -> Printed {
    each(|_, t| Some(format!("{:.4},{:.3}", of(t), watts(t))))
}

/// One line among the others replaced.
fn instead(line: &str) -> Printed {
    each(|i, t| {
        Some(match i % 290 {
            130 => line.replace("TIME", &format!("{t:.4}")),
            _ => format!("{t:.4},{:.3}", watts(t)),
        })
    })
}

fn smi(t: f64) -> String {
    // Over midnight.
    let (h, s) = if t < 2.2 {
        ("2026/11/27 23:59", 57.8 + t)
    } else {
        ("2026/11/28 00:00", t - 2.2)
    };
    format!("{h}:{s:06.3}")
}

/// The faults by name.
fn faults() -> Vec<(&'static str, Printed)> {
    let bursts = |by: f64| -> Printed {
        let late = |(at, line): (f64, String)| ((at / by).ceil() * by, line);
        clock(|t| t).into_iter().map(late).collect()
    };
    let mut swapped = clock(|t| t);
    for i in (100..swapped.len()).step_by(120) {
        let one = swapped[i].1.clone();
        swapped[i].1 = std::mem::replace(&mut swapped[i - 1].1, one);
    }
    vec![
        ("none", clock(|t| t)),
        (
            "clock set back by 0.5 s",
            clock(|t| if t < 2.2 { 1e4 + t } else { 9999.5 + t }),
        ),
        (
            "clock set back by an hour",
            clock(|t| if t < 2.2 { 1e4 + t } else { 6400.0 + t }),
        ),
        (
            "clock set forward by an hour",
            clock(|t| if t < 2.2 { 1e4 + t } else { 13600.0 + t }),
        ),
        (
            "clock starts anew at 0",
            clock(|t| if t < 2.2 { 1e4 + t } else { t - 2.2 }),
        ),
        ("clock 0.1 % slow", clock(|t| 0.999 * t)),
        ("clock at half the rate", clock(|t| 0.5 * t)),
        ("clock 50 times as fast", clock(|t| 50.0 * t)),
        (
            "clock 10 times as fast, a line every 0.1 s",
            each(|i, t| {
                i.is_multiple_of(5)
                    .then(|| format!("{:.3},{:.3}", 10.0 * t, watts(t)))
            }),
        ),
        (
            "a clock at half the rate, a line every 0.6 s",
            each(|i, t| {
                i.is_multiple_of(30)
                    .then(|| format!("{:.3},{:.3}", 0.5 * t, watts(t)))
            }),
        ),
        (
            "sample numbers as times",
            each(|i, t| Some(format!("{i},{:.3}", watts(t)))),
        ),
        ("times in ms without a unit", clock(|t| 1e12 + 1e3 * t)),
        (
            "times in ms, named in the header",
            each(|i, t| {
                let head = if i == 0 { "time_ms,watts\n" } else { "" };
                Some(format!("{head}{:.0},{:.3}", 1e3 * t, watts(t)))
            }),
        ),
        (
            "times of 0.1 s: five lines each",
            clock(|t| (t * 10.0 + 1e-6).floor() / 10.0),
        ),
        ("a value of nan", instead("TIME,nan")),
        ("a value of -0.01", instead("TIME,-0.01")),
        ("a torn line", instead("TIM0.250,5")),
        ("a time of 1e9", instead("1e9,50")),
        ("lines out of order", swapped),
        (
            "milliwatts with their unit",
            each(|_, t| Some(format!("{t:.4}, {:.0} mW", 1e3 * watts(t)))),
        ),
        (
            "milliwatts without a unit",
            each(|_, t| Some(format!("{t:.4},{:.0}", 1e3 * watts(t)))),
        ),
        (
            "decimal commas",
            each(|_, t| Some(format!("{t:.4};{:.3}", watts(t)).replace('.', ","))),
        ),
        (
            "decimal commas between blanks, with units",
            each(|_, t| Some(format!("{t:.4} {:.3} W", watts(t)).replace('.', ","))),
        ),
        (
            "a separator at the end of each line",
            clock(|t| t)
                .into_iter()
                .map(|(at, line)| (at, line + ","))
                .collect(),
        ),
        (
            "decimal commas, times missing",
            each(|_, t| Some(format!("{:.2}", watts(t)).replace('.', ","))),
        ),
        (
            "nvidia-smi over midnight",
            each(|i, t| {
                let value = if i % 50 == 49 {
                    "[N/A]".into()
                } else {
                    format!("{:.2} W", watts(t))
                };
                Some(format!("{}, {value}", smi(t)))
            }),
        ),
        (
            "a counter of joules that starts anew",
            each(|_, t| {
                let from = if t < 3.1 { 0.0 } else { joules(3.1) };
                Some(format!("{t:.4}, {:.4} J", joules(t) - from))
            }),
        ),
        ("lines in bursts of 0.5 s", bursts(0.5)),
        ("lines in bursts of 4 s", bursts(4.0)),
        (
            "late start: 1.5 s",
            each(|_, t| (t > 1.5).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "stops for 5 s",
            each(|_, t| (!(4.0..9.0).contains(&t)).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "hangs from 3 s on",
            each(|_, t| (t < 3.0).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "repeats its last value from 2 s on",
            clock(|t| t)
                .into_iter()
                .map(|(at, line)| {
                    let value = if at < 2.0 { watts(at - DELAY_S) } else { 57.5 };
                    (
                        at,
                        format!("{},{value:.3}", line.split(',').next().unwrap_or_default()),
                    )
                })
                .collect(),
        ),
        ("repeats its last line from 4 s on", {
            let mut all = clock(|t| t);
            let stop = all[200].1.clone();
            all[200..].iter_mut().for_each(|l| l.1.clone_from(&stop));
            all
        }),
        (
            "two devices in one stream",
            each(|i, _| {
                let t = (i / 2) as f64 * 2.0 * PERIOD_S;
                Some(format!(
                    "{t:.4},{:.3}",
                    watts(t) * if i % 2 == 0 { 1.0 } else { 3.0 }
                ))
            }),
        ),
    ]
}
