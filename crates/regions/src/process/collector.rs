//! Brings together what threads counted and what sensors read.

use super::Core;
use crate::attribution::{Attribution, Slice};
use crate::clock::{now, seconds};
use crate::config::Config;
use crate::names::PathId;
use crate::notes::Note;
use crate::sensing::{self, Source};
use crate::sink::Sink;
use crate::spin::lock_soon;
use crate::summary::{Entry, Line, Process, SensorProblem, Summary};
use crate::table::table;
use crate::thread::{Counted, Record};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

/// Lines that wait for a tick; then threads wait.
const MOST_WAITING: usize = 200_000;

/// A line is written without energy if its sensor has no tick for so long, ns.
const PATIENCE: u64 = 500_000_000;

/// Longest time between two rounds, ns.
const ROUND: u64 = 50_000_000;

/// Totals of a path.
#[derive(Clone, Copy)]
pub struct Total {
    pub counted: Counted,
    pub threads: u64,
}

/// What was recorded of a process so far.
pub struct Collector {
    pub process: Process,
    pub config: Config,
    pub start: u64,
    pub sources: Vec<Source>,
    pub problems: Vec<SensorProblem>,
    pub totals: Vec<Total>,
    pub attribution: Attribution,
    /// End of the last slice.
    last: u64,
    /// Times in the current slice, by path.
    times: Vec<(u64, u64)>,
    touched: Vec<PathId>,
    records: VecDeque<Record>,
    sink: Sink,
    summary_due: u64,
}

impl Collector {
    /// Opens the sensors and the output; with what is wrong.
    pub fn new(config: Config, process: Process) -> (Self, Vec<String>) {
        let (sources, problems) = sensing::open(&config.sensors);
        Self::with(config, process, sources, problems)
    }

    /// The same with sensors that are open.
    pub fn with(
        config: Config,
        process: Process,
        sources: Vec<Source>,
        problems: Vec<greenup_meter::Problem>,
    ) -> (Self, Vec<String>) {
        let writes = config.output.lines || config.output.summary;
        let (sink, wrong) = Sink::new(config.file().filter(|_| writes));
        let start = now();
        let problems = problems
            .into_iter()
            .map(|p| SensorProblem {
                id: p.id,
                present: p.present,
                cause: p.cause,
                fix: p.fix,
            })
            .collect();
        let mut collector = Self {
            process,
            start,
            attribution: Attribution::new(sources.len()),
            sources,
            problems,
            totals: Vec::new(),
            last: start,
            times: Vec::new(),
            touched: Vec::new(),
            records: VecDeque::new(),
            sink,
            summary_due: start.saturating_add((config.every_s * 1e9) as u64),
            config,
        };
        // The energy is known from the start on.
        collector.read();
        (collector, wrong.into_iter().collect())
    }

    fn read(&mut self) {
        for source in &mut self.sources {
            source.read();
        }
    }

    /// Reads the sensors that are due, takes what threads counted, writes lines that are complete.
    pub fn round(&mut self, core: &Core) {
        self.read();
        self.collect(core);
        self.attribute(false);
        self.write_lines(core, false);
        if self.config.every_s > 0.0 && now() >= self.summary_due {
            self.summary_due = now().saturating_add((self.config.every_s * 1e9) as u64);
            if self.config.output.summary {
                let summary = self.summary(core, false);
                self.write(core, &Entry::Summary(Box::new(summary)));
            }
        }
    }

    /// Time until the next round is of use.
    pub fn rest(&self) -> Duration {
        let t = now();
        let due = self.sources.iter().map(Source::due).min();
        let rest = due.unwrap_or(u64::MAX).saturating_sub(t);
        Duration::from_nanos(rest.clamp(500_000, ROUND))
    }

    fn collect(&mut self, core: &Core) {
        let Some(mut threads) = lock_soon(&core.threads) else {
            return;
        };
        let (totals, times, touched) = (&mut self.totals, &mut self.times, &mut self.touched);
        let room = self.records.len() < MOST_WAITING;
        let mut records = Vec::new();
        threads.retain(|thread| {
            let take = |path: PathId, counted: Counted, is_new: bool| {
                let i = path as usize;
                if totals.len() <= i {
                    let nothing = Total {
                        counted: Counted::NOTHING,
                        threads: 0,
                    };
                    totals.resize(i + 1, nothing);
                    times.resize(i + 1, (0, 0));
                }
                totals[i].counted.add(&counted);
                totals[i].threads += u64::from(is_new);
                if times[i] == (0, 0) {
                    touched.push(path);
                }
                times[i].0 += counted.inclusive;
                times[i].1 += counted.exclusive;
            };
            let ended = thread.drain(take, room.then_some(&mut records));
            !ended || !room
        });
        drop(threads);
        self.records.extend(records);
        let to = now();
        let mut slice = Slice {
            from: self.last,
            to,
            times: Vec::with_capacity(self.touched.len()),
        };
        for path in self.touched.drain(..) {
            let (inclusive, exclusive) = std::mem::take(&mut self.times[path as usize]);
            if inclusive > 0 {
                slice.times.push((path, inclusive, exclusive));
            }
        }
        self.last = to;
        self.attribution.add(slice);
    }

    fn attribute(&mut self, last: bool) {
        for (i, source) in self.sources.iter().enumerate() {
            self.attribution
                .update(i, &source.curve, source.is_silent(), last);
        }
        self.attribution.forget();
    }

    /// Waits, for a tick and a half at most, until the energy of all regions so far is known.
    pub fn settle(&mut self, core: &Core, is_final: bool) {
        self.round(core);
        let t = now();
        let until = self.attribution.waits_until().unwrap_or(0);
        loop {
            let waits = self.sources.iter().any(|s| {
                let tick = s.curve.tick().unwrap_or(150_000_000);
                !s.is_silent()
                    && s.curve.known_until().is_none_or(|known| known < until)
                    && now() < t + (tick * 3 / 2).min(PATIENCE)
            });
            if !waits || until == 0 {
                break;
            }
            std::thread::sleep(self.rest().min(Duration::from_millis(5)));
            self.read();
        }
        self.attribute(is_final);
        self.write_lines(core, true);
    }

    fn write_lines(&mut self, core: &Core, all: bool) {
        if self.records.is_empty() {
            return;
        }
        let t = now();
        let mut text = String::new();
        let mut names: BTreeMap<PathId, Vec<String>> = BTreeMap::new();
        while let Some(record) = self.records.front().copied() {
            let ready = all
                || t > record.to + PATIENCE
                || self.sources.iter().all(|s| {
                    s.is_silent() || s.curve.known_until().is_some_and(|k| k >= record.to)
                });
            if !ready {
                break;
            }
            self.records.pop_front();
            let path = names.entry(record.path).or_insert_with(|| {
                lock_soon(&core.paths).map_or_else(Vec::new, |paths| paths.names(record.path))
            });
            let line = Entry::Region(Box::new(self.line(record, path.clone())));
            if let Ok(json) = serde_json::to_string(&line) {
                let _ = writeln!(text, "{json}");
            }
            if text.len() > 1 << 16 {
                self.send(core, &text);
                text.clear();
            }
        }
        self.send(core, &text);
    }

    fn line(&self, record: Record, path: Vec<String>) -> Line {
        let mut joules = BTreeMap::new();
        let mut shorter = false;
        for source in &self.sources {
            if let Some(j) = source.curve.between(record.from, record.to) {
                joules.insert(source.info().id.clone(), j);
                shorter |= source
                    .curve
                    .tick()
                    .is_some_and(|tick| record.to - record.from < tick);
            }
        }
        Line {
            path,
            thread: record.thread,
            start_s: seconds(self.start, record.from),
            seconds: seconds(record.from, record.to),
            joules: (!joules.is_empty()).then_some(joules),
            shorter_than_tick: shorter,
            pid: self.process.pid,
            host: self.process.host.clone(),
            rank: self.process.rank,
            start_unix_ns: self.process.start_unix_ns,
        }
    }

    fn send(&mut self, core: &Core, text: &str) {
        let before = self.sink.lost;
        self.sink.write(text);
        let lost = self.sink.lost - before;
        if lost > 0 {
            let cause = self.sink.cause.clone().unwrap_or_default();
            if before == 0 {
                self.sink
                    .message(&format!("greenup regions: {cause}; lines are lost"));
            }
            core.note().add_many(Note::Lost, lost, || cause);
        }
    }

    fn write(&mut self, core: &Core, entry: &Entry) {
        if let Ok(json) = serde_json::to_string(entry) {
            self.send(core, &format!("{json}\n"));
        }
    }

    /// Writes what is to be written when the process ends.
    pub fn finish(&mut self, core: &Core) {
        self.settle(core, true);
        let summary = self.summary(core, true);
        if self.config.output.summary {
            self.write(core, &Entry::Summary(Box::new(summary.clone())));
        }
        if self.config.output.table {
            self.sink.message(&table(&summary));
        } else if self.config.output.lines || self.config.output.summary {
            self.say(&summary);
        }
    }

    /// Writes a summary of the run so far.
    pub fn flush(&mut self, core: &Core) {
        self.settle(core, false);
        if self.config.output.summary {
            let summary = self.summary(core, false);
            self.write(core, &Entry::Summary(Box::new(summary)));
        }
    }

    /// What a user must know who looks at no table.
    fn say(&self, summary: &Summary) {
        for note in &summary.notes {
            self.sink.message(&format!("greenup regions: {note}"));
        }
        if self.sink.is_file()
            && let Some(why) = summary.why_no_energy()
        {
            self.sink.message(&format!("greenup regions: {why}"));
        }
    }

    /// Lines lost so far.
    pub fn lost(&self) -> u64 {
        self.sink.lost
    }
}
