//! The columns of the results: those of CSV, of Markdown, and of the ranking on the terminal.

use greenup_meter::Summary;
use greenup_meter::comparison::{CommandComparison, CommandResult, InterleavedResult};
use greenup_report::table::{Cell, Columns};
use greenup_report::text;

/// The place of a result, and the result.
pub type Row<'a> = (usize, &'a CommandResult);

/// What a result is called: its name or command, with its parameters where another one is called the same.
pub fn label(all: &InterleavedResult, i: usize) -> String {
    let r = &all.results[i];
    let same = |o: &&CommandResult| o.label() == r.label();
    if r.parameters.is_empty() || all.results.iter().filter(same).count() < 2 {
        return r.label().to_owned();
    }
    let parameters = text::named(r.parameters.iter().map(|(n, v)| (n, v)));
    format!("{} ({parameters})", r.label())
}

/// A row a command, for CSV and Markdown.
pub fn columns(all: &InterleavedResult) -> Columns<'_, Row<'_>> {
    let command = Columns::<Row>::new().cell("command", "", |(_, r)| Cell {
        text: format!("`{}`", r.command),
        ..Cell::text(&r.command)
    });
    results(all, command)
}

/// The same with ranks, for the terminal.
pub fn ranked(all: &InterleavedResult) -> Columns<'_, Row<'_>> {
    let rank = |i: usize| all.ranking.iter().zip(&all.ranks).find(|(r, _)| **r == i);
    let command = Columns::<Row>::new()
        .text("", "", |r| label(all, r.0))
        .count("rank", "", move |r| rank(r.0).map_or(0, |(_, n)| *n as u64));
    results(all, command)
}

/// What is known of a command.
fn results<'a>(all: &'a InterleavedResult, columns: Columns<'a, Row<'a>>) -> Columns<'a, Row<'a>> {
    let columns = columns
        .count("runs", "", |(_, r)| r.time_s.n as u64)
        .only_in_files()
        .si("time", "", "s", |(_, r)| r.time_s.median)
        .file("median_s")
        .range("95 %", "", "s", |(_, r)| (r.time_s.lo, r.time_s.hi))
        .not_in_files()
        .exact("lo_s", |(_, r)| r.time_s.lo)
        .exact("hi_s", |(_, r)| r.time_s.hi)
        .exact("mean_s", |(_, r)| r.time_s.mean)
        .exact("sd_s", |(_, r)| r.time_s.sd)
        .exact("min_s", |(_, r)| r.time_s.min)
        .exact("max_s", |(_, r)| r.time_s.max)
        .exact("user_s", |(_, r)| r.cpu_s()[0])
        .exact("system_s", |(_, r)| r.cpu_s()[1])
        .exact("run_queue_s", |(_, r)| r.run_queue())
        .cell("max_rss_bytes", "", |(_, r)| {
            Cell::known(r.peak_memory().map(|b| b.to_string()))
        })
        .only_in_files()
        .si("energy", "", "J", |(_, r)| r.energy_j.map(|e| e.median))
        .file("energy_j")
        .where_known()
        .exact("energy_lo_j", |(_, r)| r.energy_j.map(|e| e.lo))
        .exact("energy_hi_j", |(_, r)| r.energy_j.map(|e| e.hi))
        .si("power", "", "W", |(_, r)| r.power_w.map(|p| p.median))
        .file("power_w")
        .where_known()
        .detail();
    let columns = ratio(all, columns, "speedup", |c| Some(&c.speedup));
    ratio(all, columns, "greenup", |c| c.greenup.as_ref())
        .text("times_s", "", |(_, r)| {
            let times: Vec<String> = r.times_s.iter().map(|t| format!("{t:e}")).collect();
            times.join(" ")
        })
        .only_in_files()
        .count("energy_runs", "", |(_, r)| r.energy_runs as u64)
        .only_in_files()
        .text("runs", "", |(_, r)| runs(r, all.sensor.is_some()))
        .not_in_files()
        .detail()
        .cell("name", "", |(_, r)| Cell::known(r.name.as_ref()))
        .where_known()
        .detail()
        .and_each(parameters(all), |columns, name| {
            columns
                .cell(name, "", move |(_, r)| {
                    let value = r.parameters.iter().find(|(n, _)| n == name);
                    Cell::known(value.map(|(_, v)| v))
                })
                .file(format!("parameter_{name}"))
                .detail()
        })
}

/// Columns of a ratio to the baseline and its interval.
fn ratio<'a>(
    all: &'a InterleavedResult,
    columns: Columns<'a, Row<'a>>,
    name: &str,
    of: fn(&CommandComparison) -> Option<&Summary>,
) -> Columns<'a, Row<'a>> {
    let of = move |r: &Row| all.against_baseline(r.0).and_then(of);
    let or_baseline = |r: &Row, text: &str, cell: Cell| match r.0 {
        0 => Cell {
            text: text.to_owned(),
            ..Cell::missing()
        },
        _ => cell,
    };
    columns
        .cell(name, "", move |r| {
            let median = Cell::shown(of(r).map(|s| s.median), |x| format!("{x:.3}"));
            or_baseline(r, "1", median)
        })
        .file(name)
        .where_known()
        .cell(format!("95 % of {name}"), "", move |r| {
            let ends = of(r).map(|s| Cell::number(s.lo, format!("{:.3} … {:.3}", s.lo, s.hi)));
            or_baseline(r, "baseline", ends.unwrap_or_else(Cell::missing))
        })
        .not_in_files()
        .where_known()
        .exact(format!("{name}_lo"), move |r| of(r).map(|s| s.lo))
        .exact(format!("{name}_hi"), move |r| of(r).map(|s| s.hi))
}

/// Names of all parameters, in the order of their first use.
fn parameters(all: &InterleavedResult) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for (name, _) in all.results.iter().flat_map(|r| &r.parameters) {
        if !out.contains(&name.as_str()) {
            out.push(name);
        }
    }
    out
}

/// Number of runs, with how many have energies where some lack theirs.
fn runs(r: &CommandResult, sensor: bool) -> String {
    if sensor && r.energy_runs < r.runs {
        format!("{}, {} with energy", r.runs, r.energy_runs)
    } else {
        r.runs.to_string()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    fn summary(at: f64) -> Summary {
        Summary::of(&[at, 1.1 * at, 1.3 * at]).unwrap()
    }

    /// A command of which everything is known, and whose smallest time is this.
    pub fn result(k: usize, x: f64) -> CommandResult {
        let three = |x: f64| vec![x, 1.1 * x, 1.3 * x];
        CommandResult {
            command: format!("app {k}"),
            name: Some("app".into()),
            parameters: vec![("n".into(), k.to_string())],
            time_s: summary(x),
            user_s: vec![0.9 * x],
            system_s: vec![0.01 * x],
            run_queue_s: vec![Some(0.02 * x)],
            peak_memory_bytes: vec![Some(4096), None],
            context_switches: vec![3],
            exit_codes: vec![0],
            energy_j: Some(summary(31.0 * x)),
            power_w: Some(summary(29.0)),
            times_s: three(x),
            energies_j: three(31.0 * x),
            energy_runs: 2,
            runs: 3,
            block_times_s: Vec::new(),
            failures: 0,
            warnings: Vec::new(),
        }
    }

    /// Two commands.
    fn both() -> InterleavedResult {
        let result = |k: usize| result(k, 1.7 * (k + 1) as f64);
        let comparison = CommandComparison {
            baseline: "app 0".into(),
            command: "app 1".into(),
            speedup: summary(0.53),
            powerup: Some(summary(0.97)),
            greenup: Some(summary(0.51)),
            differs: true,
        };
        InterleavedResult {
            results: vec![result(0), result(1)],
            comparisons: vec![comparison],
            ranking: vec![0, 1],
            ranks: vec![1, 2],
            sensor: Some("fake".into()),
            warnings: Vec::new(),
            failure: None,
            interrupted: false,
        }
    }

    #[test]
    fn files_hold_every_number_that_is_shown() {
        let all = both();
        let rows = || all.results.iter().enumerate();
        let csv = columns(&all).csv(rows());
        let line = csv.lines().nth(2).unwrap();
        let held: Vec<f64> = line.split(',').filter_map(|v| v.parse().ok()).collect();
        for (table, own) in [
            (columns(&all).table("", rows()), 1),
            (ranked(&all).table("", rows()), 2),
        ] {
            for (header, cell) in table.header.iter().zip(&table.rows[1]).skip(own) {
                let value = serde_json::to_value(cell).unwrap()["sort"].clone();
                if let Ok(x) = value.as_str().unwrap().parse::<f64>() {
                    assert!(held.contains(&x), "{} is not in {csv}", header.name);
                }
            }
        }
    }

    #[test]
    fn tables_and_files_have_these_columns() {
        let all = both();
        let rows = || all.results.iter().enumerate();
        let csv = columns(&all).csv(rows());
        let head = "command,runs,median_s,lo_s,hi_s,mean_s,sd_s,min_s,max_s,user_s,system_s,run_queue_s,max_rss_bytes,energy_j,energy_lo_j,\
                    energy_hi_j,power_w,speedup,speedup_lo,speedup_hi,greenup,greenup_lo,greenup_hi,times_s,energy_runs,name,parameter_n";
        assert_eq!(csv.lines().next(), Some(head));
        let markdown = columns(&all).table("", rows()).markdown();
        let want = "| command | time | 95 % | energy | power | speedup | 95 % of speedup | greenup | 95 % of greenup | runs | name | n |\n";
        assert!(markdown.starts_with(want), "{markdown}");
        let first = "| `app 0` | 1.87 s | 1.70 s … 2.21 s | 58.0 J | 31.9 W | 1 | baseline | 1 | baseline | 3, 2 with energy | app | 0 |\n";
        assert!(markdown.contains(first), "{markdown}");
        let lines = ranked(&all).table("", rows()).lines(Some(110));
        let titles: Vec<&str> = lines[0]
            .split("  ")
            .filter(|t| !t.trim().is_empty())
            .collect();
        let shown = "rank time 95 % energy power speedup 95 % of speedup greenup 95 % of greenup";
        assert_eq!(
            titles
                .join(" ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            shown
        );
    }
}
