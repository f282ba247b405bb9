//! `nvidia-smi dmon`: columns under `# gpu pwr …`; with `-o DT` their dates and times.

use crate::sensors::external::line::{Numbered, lines};

/// The fields of a line: of columns or of CSV.
fn fields(line: &str) -> Vec<&str> {
    match line.contains(',') {
        true => line.split(',').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    }
}

/// Where the columns are.
struct Columns {
    date: Option<usize>,
    time: Option<usize>,
    gpu: usize,
    power: usize,
}

impl Columns {
    fn of(line: &str) -> Option<Self> {
        let names = fields(line.trim().strip_prefix('#')?);
        let at = |name: &str| names.iter().position(|n| n.eq_ignore_ascii_case(name));
        Some(Self {
            date: at("date"),
            time: at("time"),
            gpu: at("gpu")?,
            power: at("pwr")?,
        })
    }
}

fn header(text: &str) -> Option<Columns> {
    lines(text).find_map(Columns::of)
}

pub fn is_timeless(text: &str) -> bool {
    header(text).is_some_and(|c| c.time.is_none())
}

/// `20261128` as a date that is read.
fn date(text: &str) -> String {
    match (text.len(), text.is_ascii()) {
        (8, true) => format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]),
        _ => text.to_owned(),
    }
}

/// Lines `timestamp,gpu,watts`. Without times each round over the GPUs is `every_s` after the one before.
pub fn rewritten(text: &str, every_s: Option<f64>) -> Option<Numbered> {
    let mut columns = header(text).filter(|c| c.time.is_some() || every_s.is_some())?;
    let mut out: Numbered = vec![(1, "timestamp,gpu,power [W]".into())];
    let (mut round, mut seen) = (0.0, Vec::new());
    for (i, line) in lines(text).enumerate() {
        if line.trim_start().starts_with('#') || line.trim().is_empty() {
            columns = Columns::of(line).unwrap_or(columns);
            continue;
        }
        let all = fields(line);
        let at = |place: usize| all.get(place).copied().unwrap_or_default();
        let when = match (columns.date, columns.time) {
            (Some(d), Some(t)) => format!("{} {}", date(at(d)), at(t)),
            (None, Some(t)) => at(t).to_owned(),
            _ => {
                if seen.contains(&at(columns.gpu)) {
                    round += every_s.unwrap_or(1.0);
                    seen.clear();
                }
                seen.push(at(columns.gpu));
                round.to_string()
            }
        };
        out.push((
            i + 1,
            format!("{when},{},{}", at(columns.gpu), at(columns.power)),
        ));
    }
    Some(out)
}
