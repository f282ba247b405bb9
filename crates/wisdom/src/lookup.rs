//! The entry for a device: its own, one of its architecture, that of the nearest device.

use crate::device::Device;
use crate::distance::{Distance, Map};
use crate::entry::Entry;
use greenup_space::Value;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

/// Where an entry was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's file of wisdom.
    User(PathBuf),
    /// A sweep that comes with the program.
    Shipped,
}

impl Origin {
    /// Order among equals.
    fn rank(&self) -> u8 {
        match self {
            Self::User(_) => 0,
            Self::Shipped => 1,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(path) => write!(f, "{}", path.display()),
            Self::Shipped => f.write_str("shipped with the program"),
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Name of the problem.
    pub problem: &'a str,
    /// Precision, `f32` or `f64`; empty for any.
    pub precision: &'a str,
    /// What the config must be the best by.
    pub objective: &'a str,
    /// Device that will run it.
    pub device: &'a Device,
    /// Constants that must be equal in entries that have them.
    pub exact: &'a [(&'a str, Value)],
    /// Constants that set the size: entries of the nearest size are preferred.
    pub size: &'a [(&'a str, i64)],
}

/// All entries that are known here, and the machines that tell how near their devices are.
#[derive(Clone, Debug, Default)]
pub struct Wisdom {
    /// Entries, those of the user first.
    pub known: Vec<(Entry, Origin)>,
    /// Machine models.
    pub map: Map,
}

/// How near the device of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nearness {
    /// It is the same device.
    Device,
    /// It has the same architecture.
    Architecture,
    /// It is the nearest.
    Nearest,
}

impl Nearness {
    /// How near `other` is to `device`, which is this far away.
    pub fn of(device: &Device, other: &Device, distance: Distance) -> Self {
        let alike = !device.architecture.is_empty() && device.architecture == other.architecture;
        match distance {
            Distance::Same => Self::Device,
            _ if alike => Self::Architecture,
            _ => Self::Nearest,
        }
    }
}

/// Compares two devices, each with how near and how far it is: the nearer one first.
pub fn nearer(a: (Nearness, Distance), b: (Nearness, Distance)) -> Ordering {
    let ((x, p), (y, q)) = (a.1.rank(), b.1.rank());
    (a.0.cmp(&b.0)).then(x.cmp(&y)).then(p.total_cmp(&q))
}

/// An entry that was chosen, and why.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Where it was found.
    pub origin: &'a Origin,
    /// How near its device is.
    pub nearness: Nearness,
    /// The distance of the devices.
    pub distance: Distance,
    /// Size of the entry over the size asked for, octaves summed over the constants; 0 for the same.
    pub size_octaves: f64,
    /// Number of devices with entries for the problem.
    pub devices: usize,
    /// Nearer entries that this device cannot run: id and reason.
    pub rejected: Vec<(String, String)>,
}

/// A choice as it is printed with results.
#[derive(Clone, Debug, Serialize)]
pub struct Used {
    /// Id of the entry.
    pub id: String,
    /// Device that it was measured on.
    pub device: String,
    /// How near that device is.
    pub nearness: Nearness,
    /// Distance of the devices, octaves.
    pub distance: f64,
    /// How the distance was found.
    pub basis: &'static str,
    /// File of the entry.
    pub origin: String,
    /// All of it in a sentence.
    pub text: String,
}

impl Choice<'_> {
    /// Which entry was chosen and why, such as `config of NVIDIA H200, nearest of 3 devices (0.42 octaves on the map of
    /// machines)`.
    pub fn text(&self) -> String {
        let d = &self.entry.device;
        let n = self.devices;
        let of = match n {
            1 => "the only device known".to_owned(),
            n => format!("nearest of {n} devices"),
        };
        let far = match self.distance {
            Distance::Same => String::new(),
            Distance::Map(x) => format!(" ({x:.2} octaves on the map of machines)"),
            Distance::Facts(x) => format!(" ({x:.2} octaves apart by cores, vectors and caches)"),
        };
        let device = match self.nearness {
            Nearness::Device => "wisdom of this device".to_owned(),
            Nearness::Architecture => {
                format!("config of {}, also {}{far}", d.title(), d.architecture)
            }
            Nearness::Nearest => format!("config of {}, {of}{far}", d.title()),
        };
        if self.size_octaves > 0.0 {
            format!("{device}, another size")
        } else {
            device
        }
    }

    /// The same for results.
    pub fn used(&self) -> Used {
        Used {
            id: self.entry.id(),
            device: self.entry.device.title(),
            nearness: self.nearness,
            distance: self.distance.octaves(),
            basis: self.distance.basis(),
            origin: self.origin.to_string(),
            text: self.text(),
        }
    }
}

impl Wisdom {
    /// The nearest entry that `accept` takes, with what `accept` makes of it; `None` without one, where a default is used.
    /// `accept` refuses configs that the device cannot run, with the reason.
    pub fn choose<T>(
        &self,
        query: &Query,
        accept: impl FnMut(&Entry) -> Result<T, String>,
    ) -> Option<(Choice<'_>, T)> {
        self.choose_of(query, &|_| true, accept)
    }

    /// The same among the entries that `of` selects.
    pub fn choose_of<T>(
        &self,
        query: &Query,
        of: &dyn Fn(&Entry) -> bool,
        mut accept: impl FnMut(&Entry) -> Result<T, String>,
    ) -> Option<(Choice<'_>, T)> {
        let precision = query.precision;
        let candidates: Vec<&(Entry, Origin)> = (self.known.iter())
            .filter(|(e, _)| e.problem == query.problem && e.objective == query.objective)
            .filter(|(e, _)| {
                precision.is_empty() || e.precision.is_empty() || e.precision == precision
            })
            .filter(|(e, _)| {
                let mut all = query.exact.iter();
                all.all(|(n, v)| e.constants.get(*n).is_none_or(|x| x == v))
            })
            .filter(|(e, _)| of(e))
            .collect();
        let candidates = best_of_each(candidates).into_iter();
        let mut all: Vec<Choice> = candidates
            .filter_map(|(entry, origin)| {
                let real = if precision.is_empty() {
                    &entry.precision
                } else {
                    precision
                };
                let distance = self.map.distance(query.device, &entry.device, real)?;
                Some(Choice {
                    entry,
                    origin,
                    nearness: Nearness::of(query.device, &entry.device, distance),
                    distance,
                    size_octaves: size_octaves(entry, query.size),
                    devices: 0,
                    rejected: Vec::new(),
                })
            })
            .collect();
        let mut devices: Vec<&Device> = Vec::new();
        for c in &all {
            if !devices.iter().any(|d| d.same(&c.entry.device)) {
                devices.push(&c.entry.device);
            }
        }
        let devices = devices.len();
        all.sort_by(|a, b| {
            nearer((a.nearness, a.distance), (b.nearness, b.distance))
                .then(a.size_octaves.total_cmp(&b.size_octaves))
                .then(a.origin.rank().cmp(&b.origin.rank()))
                .then(a.entry.value().total_cmp(&b.entry.value()))
        });
        let mut rejected = Vec::new();
        for choice in all {
            match accept(choice.entry) {
                Ok(made) => {
                    let choice = Choice {
                        devices,
                        rejected,
                        ..choice
                    };
                    return Some((choice, made));
                }
                Err(reason) => rejected.push((choice.entry.id(), reason)),
            }
        }
        None
    }
}

/// Of entries that answer the same question on the same device only the best, wherever it was found. A file that has several
/// of different sources, as a kernel changed, speaks by those that were measured last.
fn best_of_each(all: Vec<&(Entry, Origin)>) -> Vec<&(Entry, Origin)> {
    let questions: Vec<Vec<String>> = all.iter().map(|(e, _)| e.question()).collect();
    let mut last: HashMap<(&[String], u8), &Entry> = HashMap::new();
    for ((e, origin), q) in all.iter().zip(&questions) {
        let known = last.entry((q, origin.rank())).or_insert(e);
        if e.provenance.at > known.provenance.at {
            *known = e;
        }
    }
    let mut best: HashMap<&[String], usize> = HashMap::new();
    for (i, ((e, origin), q)) in all.iter().zip(&questions).enumerate() {
        let current = last.get(&(q.as_slice(), origin.rank()));
        if current.is_some_and(|l| l.provenance.sources != e.provenance.sources) {
            continue;
        }
        let place = best.entry(q).or_insert(i);
        let (other, other_origin) = all[*place];
        let order =
            (e.value().total_cmp(&other.value())).then(origin.rank().cmp(&other_origin.rank()));
        if order == Ordering::Less {
            *place = i;
        }
    }
    let kept: HashSet<usize> = best.into_values().collect();
    let kept = all
        .into_iter()
        .enumerate()
        .filter(|(i, _)| kept.contains(i));
    kept.map(|(_, e)| e).collect()
}

/// How far the size of an entry is from another, octaves summed over the constants.
fn size_octaves(entry: &Entry, size: &[(&str, i64)]) -> f64 {
    size.iter()
        .filter_map(|(n, wanted)| {
            let has = entry.constants.get(*n)?.as_float()?;
            Some((has.max(1.0) / (*wanted).max(1) as f64).log2().abs())
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::entry;

    fn wisdom(entries: Vec<Entry>) -> Wisdom {
        Wisdom {
            known: entries.into_iter().map(|e| (e, Origin::Shipped)).collect(),
            map: Map::shipped(),
        }
    }

    fn query<'a>(device: &'a Device, size: &'a [(&'a str, i64)]) -> Query<'a> {
        Query {
            problem: "p",
            precision: "f64",
            objective: "time",
            device,
            exact: &[],
            size,
        }
    }

    #[test]
    fn the_device_comes_before_its_architecture_and_that_before_the_nearest() {
        let own = entry("p", "own", 4, 100, 5.0);
        let mut alike = entry("p", "alike", 32, 100, 4.0);
        alike.device.architecture = "same".into();
        let near = entry("p", "near", 8, 100, 3.0);
        let mut other = entry("q", "own", 4, 100, 1.0);
        other.constants.clear();
        let mut here = own.device.clone();
        here.architecture = "same".into();
        let mut own = own;
        own.device.architecture = "same".into();
        let all = wisdom(vec![near.clone(), alike.clone(), own.clone(), other]);
        let chosen = |w: &Wisdom| {
            let (c, ()) = w.choose(&query(&here, &[]), |_| Ok(())).unwrap();
            (c.entry.device.name.clone(), c.nearness, c.text())
        };
        let (name, nearness, text) = chosen(&all);
        assert_eq!((name.as_str(), nearness), ("own", Nearness::Device));
        assert_eq!(text, "wisdom of this device");
        let (name, nearness, text) = chosen(&wisdom(vec![near.clone(), alike]));
        assert_eq!((name.as_str(), nearness), ("alike", Nearness::Architecture));
        assert!(
            text.contains("config of alike, 32 cores, also same (3.00 octaves"),
            "{text}"
        );
        let far = entry("p", "far", 64, 100, 3.0);
        let (name, _, text) = chosen(&wisdom(vec![far, near]));
        assert_eq!(name, "near");
        assert!(
            text.contains("config of near, 8 cores, nearest of 2 devices (1.00 octaves"),
            "{text}"
        );
    }

    #[test]
    fn of_one_device_a_worse_entry_never_hides_a_better_one() {
        let user = || Origin::User("w.toml".into());
        let shipped = (entry("p", "d", 4, 100, 1.0), Origin::Shipped);
        let near = (entry("p", "d", 4, 50, 1.0), Origin::Shipped);
        let device = shipped.0.device.clone();
        let used = |known: Vec<(Entry, Origin)>, n: i64| {
            let wisdom = Wisdom {
                known,
                map: Map::default(),
            };
            let size = [("n", n)];
            let (c, ()) = wisdom.choose(&query(&device, &size), |_| Ok(())).unwrap();
            (c.origin.to_string(), c.entry.time_s)
        };
        let with = |time_s: f64| {
            let own = (entry("p", "d", 4, 100, time_s), user());
            vec![own, shipped.clone(), near.clone()]
        };
        let from_program = ("shipped with the program".to_owned(), 1.0);
        // A hasty search on a loaded host.
        assert_eq!(used(with(5.9), 100), from_program);
        assert_eq!(used(with(0.9), 100), ("w.toml".to_owned(), 0.9));
        assert_eq!(used(with(1.0), 100).0, "w.toml");
        assert_eq!(used(with(5.9), 50), from_program);
        // Of a kernel that changed, what was measured last.
        let of = |sources: &str, at: u64, time_s: f64| {
            let mut e = entry("p", "d", 4, 100, time_s);
            (e.provenance.sources, e.provenance.at) = (sources.into(), at);
            (e, user())
        };
        let changed = vec![of("old", 1, 0.5), of("new", 3, 0.9), of("new", 2, 0.8)];
        assert_eq!(used(changed, 100).1, 0.8);
    }

    #[test]
    fn the_nearest_size_is_used_and_what_the_device_cannot_run_is_passed_over() {
        let mut large = entry("p", "d", 4, 4000, 1.0);
        large.config.insert("tile".into(), Value::Int(1000));
        let all = wisdom(vec![entry("p", "d", 4, 100, 1.0), large]);
        let device = entry("p", "d", 4, 1, 1.0).device;
        let size = [("n", 3000)];
        let (c, tile) = all
            .choose(&query(&device, &size), |e| Ok(e.config["tile"].clone()))
            .unwrap();
        assert_eq!(tile, Value::Int(1000));
        assert!(c.text().ends_with("another size"));
        let (c, ()) = all
            .choose(&query(&device, &size), |e| match e.config["tile"] {
                Value::Int(8) => Ok(()),
                _ => Err("too large".into()),
            })
            .unwrap();
        assert_eq!(c.rejected[0].1, "too large");
        assert!(
            all.choose(&query(&device, &size), |_| Err::<(), _>("no".into()))
                .is_none()
        );
        let exact = [("n", Value::Int(100))];
        let q = Query {
            exact: &exact,
            ..query(&device, &[])
        };
        let (c, ()) = all.choose(&q, |_| Ok(())).unwrap();
        assert_eq!(c.entry.constants["n"], Value::Int(100));
        let q = Query {
            precision: "f32",
            ..query(&device, &[])
        };
        assert!(all.choose(&q, |_| Ok(())).is_none());
    }
}
