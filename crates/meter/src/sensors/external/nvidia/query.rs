//! `nvidia-smi -q -d POWER -l 1`: blocks of names and values, each after its time.

use crate::sensors::BusId;
use crate::sensors::external::line::{Numbered, lines};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Names of the power, the first of them taken.
const POWERS: [&str; 3] = [
    "Instantaneous Power Draw",
    "Power Draw",
    "Average Power Draw",
];

/// `Sat Nov 28 08:59:29 2026` as a date that is read.
fn date(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, clock, year] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|m| *m == month)? + 1;
    let day: u32 = day.parse().ok()?;
    Some(format!("{year}-{month:02}-{day:02} {clock}"))
}

/// The GPU of a block, by its line `GPU 00000000:65:00.0`.
fn gpu(line: &str) -> Option<&str> {
    let bus = line.strip_prefix("GPU ")?.trim();
    bus.parse::<BusId>().ok().map(|_| bus)
}

/// The power of a block until now: its place in [`POWERS`], line, and text.
type Power = Option<(usize, usize, String)>;

pub fn rewritten(text: &str) -> Option<Numbered> {
    let is_it = lines(text).any(|l| gpu(l).is_some()) && text.contains("Power Draw");
    if !is_it {
        return None;
    }
    let mut out: Numbered = vec![(1, "timestamp,gpu,power.draw [W]".into())];
    let (mut when, mut device) = (String::new(), String::new());
    let (mut module, mut power): (bool, Power) = (false, None);
    let mut close = |power: &mut Power, when: &str, device: &str| {
        if let Some((_, line, watts)) = power.take() {
            out.push((line, format!("{when},{device},{watts}")));
        }
    };
    for (i, line) in lines(text).enumerate() {
        if let Some(bus) = gpu(line) {
            close(&mut power, &when, &device);
            (device, module) = (bus.to_owned(), false);
            continue;
        }
        let Some((name, value)) = line.split_once(" : ") else {
            // The module of a GPU with its CPU has the same names.
            let title = line.trim();
            module = match title.ends_with("Power Readings") {
                true => title.starts_with("Module"),
                false => module || title.starts_with("Module"),
            };
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "Timestamp" {
            close(&mut power, &when, &device);
            when = date(value).unwrap_or_else(|| value.to_owned());
        } else if let Some(place) = POWERS.iter().position(|p| *p == name)
            && !module
        {
            let known = |p: &str| p.ends_with('W');
            let better = power
                .as_ref()
                .is_none_or(|(before, _, text)| known(value) && (place < *before || !known(text)));
            if better {
                power = Some((place, i + 1, value.to_owned()));
            }
        }
    }
    close(&mut power, &when, &device);
    Some(out)
}
