//! `greenup regions`.

use crate::args::RegionsArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_regions::merge::{Merged, Runs, merge};
use greenup_regions::table::{heading, more, remarks, rows};
use greenup_regions::{FORTRAN, HEADER, Region, Summary};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Sensors that have a column each; more are summed by kind.
const MOST_COLUMNS: usize = 3;

pub fn run(args: &RegionsArgs) -> Result {
    if let Some(folder) = &args.install {
        return install(folder, args.force);
    }
    let summaries = read(&args.files)?;
    let merged = merge(&summaries);
    match (args.json, args.each) {
        (true, true) => print::json(&summaries),
        (true, false) => print::json(&merged),
        (false, true) => {
            summaries.iter().for_each(one);
            Ok(())
        }
        (false, false) => {
            show(&merged, &summaries);
            Ok(())
        }
    }
}

fn read(files: &[PathBuf]) -> Result<Vec<Summary>> {
    let mut runs = Runs::default();
    for path in files {
        let name = path.display().to_string();
        let at = |e: std::io::Error| {
            AppError::new(format!("{name}: {e}"))
                .hint("name a file that a program wrote with GREENUP_REGIONS_FILE set")
        };
        // A pipe or a device may have no end.
        let meta = std::fs::metadata(path).map_err(at)?;
        if !meta.is_file() {
            return Err(at(std::io::Error::other("not a plain file")));
        }
        let file = File::open(path).map_err(at)?;
        runs.read(&name, BufReader::new(file)).map_err(at)?;
    }
    let broken = runs.broken.take();
    let summaries = runs.summaries();
    match (summaries.is_empty(), broken) {
        (true, Some((_, first))) => Err(AppError::new(format!("{first}: not a line of regions"))
            .hint("name a file that a program wrote with GREENUP_REGIONS_FILE set")),
        (true, None) => Err(AppError::new("no regions in these files")
            .hint("the summary is written when the program exits; GREENUP_REGIONS=lines writes each region")),
        (false, Some((n, first))) => {
            print::warn(match n {
                1 => format!("a line was skipped: {first}"),
                n => format!("{n} lines were skipped; the first: {first}"),
            });
            Ok(summaries)
        }
        (false, None) => Ok(summaries),
    }
}

/// A process.
fn one(summary: &Summary) {
    print::line(heading(summary));
    print::table(&table(&summary.regions, &summary.energy_sensors()));
    for remark in remarks(summary).lines() {
        print::line(remark);
    }
}

/// A row a region, with joules and watts of each sensor.
fn table(regions: &[Region], sensors: &[String]) -> Table {
    let mut rows = rows(regions, sensors).into_iter();
    let titles = rows.next().unwrap_or_default();
    let column = |columns: Columns<'static, Vec<String>>, (k, title): (usize, String)| {
        let is = |titles: &[&str]| titles.contains(&title.as_str());
        let (detail, kept) = (
            is(&["threads", "accumulated"]),
            is(&["total"]) || title.ends_with(" J"),
        );
        (columns.cell(title, "", move |r| Cell::known(r.get(k))))
            .and_if(detail, Columns::detail)
            .and_if(kept, Columns::kept)
    };
    (Columns::new().and_each(titles.into_iter().enumerate(), column)).table("", rows)
}

fn show(merged: &Merged, summaries: &[Summary]) {
    if let [only] = summaries {
        return one(only);
    }
    let hosts: BTreeSet<&str> = (merged.processes.iter())
        .map(|p| p.process.host.as_str())
        .collect();
    print::line(format!(
        "regions of {} processes on {} host{}; times are sums over processes",
        merged.processes.len(),
        hosts.len(),
        if hosts.len() == 1 { "" } else { "s" }
    ));
    let mut regions: Vec<Region> = merged.regions.iter().map(|r| r.region.clone()).collect();
    let mut sensors: BTreeSet<String> = (regions.iter())
        .flat_map(|r| r.joules.iter().flatten().map(|(id, _)| id.clone()))
        .collect();
    if sensors.len() > MOST_COLUMNS {
        regions.iter_mut().for_each(by_kind);
        sensors = sensors.iter().map(|s| kind(s)).collect();
    }
    let sensors: Vec<String> = sensors.into_iter().collect();
    print::table(&table(&regions, &sensors));
    more(&regions).into_iter().for_each(print::line);
    for r in &merged.regions {
        let mean = r.region.inclusive_s / r.processes as f64;
        if r.processes > 1 && r.greatest_s > 1.2 * mean {
            print::note(format!(
                "{}: from {} to {} in {} processes",
                r.region.path.join("/"),
                si(r.least_s, "s"),
                si(r.greatest_s, "s"),
                r.processes
            ));
        }
    }
    let causes: BTreeSet<&String> = (merged.processes.iter())
        .filter_map(|p| p.why_no_energy.as_ref())
        .collect();
    causes.into_iter().for_each(print::note);
    merged.notes.iter().for_each(print::warn);
}

/// `nvml:*:energy` of `nvml:0:energy`.
fn kind(sensor: &str) -> String {
    let fields = sensor.split(':').map(|f| match f.parse::<u32>() {
        Ok(_) => "*",
        Err(_) => f,
    });
    fields.collect::<Vec<_>>().join(":")
}

/// Sums joules and watts of one kind of sensor.
fn by_kind(region: &mut Region) {
    let sum = |map: &mut Option<BTreeMap<String, f64>>| {
        *map = map.take().map(|m| {
            let mut out = BTreeMap::new();
            for (id, x) in m {
                *out.entry(kind(&id)).or_insert(0.0) += x;
            }
            out
        });
    };
    sum(&mut region.joules);
    sum(&mut region.exclusive_joules);
    sum(&mut region.watts);
    region.accumulated = region
        .accumulated
        .take()
        .map(|m| m.into_iter().map(|(id, a)| (kind(&id), a)).collect());
}

/// Writes what a program needs into a folder.
fn install(folder: &Path, force: bool) -> Result {
    let (include, lib) = (folder.join("include"), folder.join("lib"));
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![
        (include.join("greenup.h"), HEADER.into()),
        (include.join("greenup.f90"), FORTRAN.into()),
    ];
    let root = std::path::absolute(folder)?;
    let libraries = libraries();
    if !libraries.is_empty() {
        let file = lib.join("pkgconfig/greenup-regions.pc");
        files.push((file, pkg_config(&root).into()));
    }
    for path in &libraries {
        let bytes =
            std::fs::read(path).map_err(|e| AppError::new(format!("{}: {e}", path.display())))?;
        files.push((lib.join(path.file_name().unwrap_or_default()), bytes));
    }
    for (path, bytes) in &files {
        let differs = std::fs::read(path).is_ok_and(|old| old != *bytes);
        if differs && !force {
            return Err(
                AppError::new(format!("{} exists and differs", path.display()))
                    .hint("--force replaces it; or name another folder"),
            );
        }
    }
    for (path, bytes) in &files {
        greenup_files::write(path, bytes)?;
        print::note(format!("wrote {}", path.display()));
    }
    if libraries.is_empty() {
        return Err(AppError::new(
            "the header and the Fortran module are there, but this build has no libgreenup_regions.so",
        )
        .hint("`cargo build --release -p greenup-regions` makes it in target/release; then install again"));
    }
    print::data(format!(
        "cc app.c -I{0}/include -L{0}/lib -Wl,-rpath,{0}/lib -lgreenup_regions",
        root.display()
    ));
    Ok(())
}

/// What `pkg-config greenup-regions` tells.
fn pkg_config(root: &Path) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: greenup-regions\nDescription: Time, energy and power of named parts of programs\nVersion: {}\n\
         Cflags: -I${{includedir}}\nLibs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lgreenup_regions\n\
         Libs.private: -lm -ldl -lpthread\n",
        root.display(),
        env!("CARGO_PKG_VERSION")
    )
}

/// The libraries of this build: next to the program, or in `lib` next to its folder.
fn libraries() -> Vec<PathBuf> {
    let Some(folder) = std::env::current_exe()
        .ok()
        .and_then(|p| Some(p.parent()?.to_owned()))
    else {
        return Vec::new();
    };
    let found = |name: &str| {
        [folder.join(name), folder.join("../lib").join(name)]
            .into_iter()
            .find(|p| p.is_file())
    };
    ["libgreenup_regions.so", "libgreenup_regions.a"]
        .into_iter()
        .filter_map(found)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{kind, table};
    use greenup_regions::Region;

    #[test]
    fn kinds_of_sensors() {
        assert_eq!(kind("nvml:3:energy"), "nvml:*:energy");
        assert_eq!(kind("rapl:package"), "rapl:package");
    }

    #[test]
    fn narrow_tables_keep_their_columns_below_each_other() {
        let sensor = "simulated:100:0.02".to_owned();
        let energies = || Some([(sensor.clone(), 3.5)].into());
        let region = |path: &[&str]| Region {
            path: path.iter().map(|p| (*p).to_owned()).collect(),
            calls: 2,
            threads: 1,
            inclusive_s: 1.5,
            joules: energies(),
            watts: energies(),
            ..Region::default()
        };
        let table = table(
            &[region(&["solve"]), region(&["solve", "step"])],
            std::slice::from_ref(&sensor),
        );
        let wide = table.lines(None);
        let narrow = table.lines(Some(80));
        assert_eq!(wide.len(), 3, "{wide:?}");
        assert!(wide[2].starts_with("   step "), "{wide:?}");
        let end = |line: &String, word: &str| line.find(word).map(|at| at + word.len());
        for lines in [wide, narrow] {
            assert!(lines[0].contains(&format!("{sensor} J")), "{lines:?}");
            assert_eq!(
                end(&lines[0], "total"),
                end(&lines[1], "1.500 s"),
                "{lines:?}"
            );
            assert!(lines.iter().all(|l| l.chars().count() < 100), "{lines:?}");
        }
    }
}
