//! Where a number is in what a run leaves: by a regular expression or a JSON path, in its output or in a file.

use super::decimal::Number;
use super::expected::brief;
use super::template::{Texts, Words};
use super::written::SourceText;
use greenup_files::read::read_plain;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Bytes of a file of results that are read.
const MOST_BYTES: u64 = 64 << 20;

/// Where a number is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// File; standard output without one.
    pub file: Option<PathBuf>,
    /// Place in the text.
    pub place: Place,
    /// Factor to its unit.
    pub factor: f64,
}

/// The same for any config.
#[derive(Clone, Debug)]
pub(crate) struct SourceOfAny {
    /// Name of the file.
    pub(crate) file: Option<Words>,
    place: Place,
    factor: f64,
}

/// Where a number is in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// The first group, else the whole, of the last match of a regular expression.
    Regex(String),
    /// Keys and indices of a JSON text.
    Json(Vec<String>),
    /// The text is the number.
    Whole,
}

/// Seconds of a unit of time; `None` if it is none.
pub(crate) fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        // The micro sign, and the Greek letter.
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        "min" => 60.0,
        _ => return None,
    })
}

impl SourceOfAny {
    pub(crate) fn new(text: &SourceText) -> Result<Self, String> {
        let place = match (&text.regex, &text.json) {
            (Some(_), Some(_)) => return Err("give `regex` or `json`, not both".into()),
            (Some(r), None) => {
                regex::Regex::new(r).map_err(|e| e.to_string())?;
                Place::Regex(r.clone())
            }
            (None, Some(path)) => Place::Json(keys(path)?),
            (None, None) if text.file.is_some() => Place::Whole,
            (None, None) => return Err("give `regex`, `json` or `file`".into()),
        };
        let factor = match text.unit.as_deref() {
            None => 1.0,
            Some(unit) => seconds(unit)
                .ok_or_else(|| format!("unit `{unit}` is not one of s, ms, us, ns, min"))?,
        };
        Ok(Self {
            file: text.file.as_deref().map(Words::one).transpose()?,
            place,
            factor,
        })
    }

    /// With the values of a config in the name of the file.
    pub(crate) fn filled(&self, values: &Texts, dir: &Path) -> Source {
        Source {
            file: (self.file.as_ref()).map(|f| dir.join(f.filled(values).join(" "))),
            place: self.place.clone(),
            factor: self.factor,
        }
    }
}

impl Source {
    /// The number, from the output of a run or its file.
    ///
    /// # Errors
    /// There is no number, in words.
    pub(crate) fn number(&self, stdout: &[u8]) -> Result<f64, String> {
        let (text, of) = match &self.file {
            None => (
                String::from_utf8_lossy(stdout).into_owned(),
                "its output".to_owned(),
            ),
            Some(path) => {
                let bytes = read_plain(path, MOST_BYTES).map_err(|e| e.to_string())?;
                (
                    String::from_utf8_lossy(&bytes).into_owned(),
                    path.display().to_string(),
                )
            }
        };
        let number = self.place.find(&text).map_err(|e| format!("{e} in {of}"))?;
        let number = number * self.factor;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(format!("{number} in {of} is no number to use"))
        }
    }
}

impl Place {
    fn find(&self, text: &str) -> Result<f64, String> {
        let number = |t: &str| {
            let t = t.trim();
            let found = t.parse().ok();
            // As Fortran writes them, too.
            found
                .or_else(|| Number::of(t).map(|n| n.value()))
                .ok_or_else(|| format!("`{}` is no number", brief(t)))
        };
        match self {
            Self::Whole => number(text),
            Self::Regex(pattern) => {
                let of = regex::Regex::new(pattern).map_err(|e| e.to_string())?;
                let last = of.captures_iter(text).last();
                let found = last.and_then(|c| c.get(1).or(c.get(0)));
                let found = found.ok_or_else(|| no_match(pattern, text))?;
                number(found.as_str())
            }
            Self::Json(keys) => {
                let path = keys.join(".");
                // A program may print more than its JSON: the last line that is an object counts then.
                let value: serde_json::Value = greenup_space::json::parse(text)
                    .or_else(|e| {
                        let lines = text.lines().rev().map(str::trim);
                        lines
                            .filter(|l| l.starts_with(['{', '[']))
                            .find_map(|l| greenup_space::json::parse(l).ok())
                            .ok_or(e)
                    })
                    .map_err(|e| format!("no JSON ({e})"))?;
                let mut at = &value;
                for key in keys {
                    let next = match key.parse::<usize>() {
                        Ok(i) if at.is_array() => at.get(i),
                        _ => at.get(key.as_str()),
                    };
                    at = next.ok_or_else(|| format!("no `{path}`{}", there(at)))?;
                }
                match at {
                    serde_json::Value::String(s) => number(s),
                    serde_json::Value::Null => {
                        Err(format!("`{path}` is missing: it is null, NaN or infinite"))
                    }
                    other => other
                        .as_f64()
                        .ok_or_else(|| format!("`{path}` is no number")),
                }
            }
        }
    }
}

/// Why there is no match: `^` and `$` of a regular expression are the ends of a text, where one may expect those of a line.
fn no_match(pattern: &str, text: &str) -> String {
    let of_lines = format!("(?m){pattern}");
    let hint = match regex::Regex::new(&of_lines) {
        Ok(r) if pattern.contains(['^', '$']) && r.is_match(text) => {
            format!(" (^ and $ are the ends of the whole text; those of a line with `{of_lines}`)")
        }
        _ => String::new(),
    };
    format!("no match of `{pattern}`{hint}")
}

/// What a JSON value has where a key is missing, for messages.
fn there(at: &serde_json::Value) -> String {
    match at {
        serde_json::Value::Object(keys) if !keys.is_empty() => {
            let names: Vec<String> = keys.keys().take(8).map(|k| brief(k)).collect();
            let more = if keys.len() > names.len() {
                ", …"
            } else {
                ""
            };
            format!(" (there are {}{more})", names.join(", "))
        }
        serde_json::Value::Array(all) => format!(" (there is a list of {})", all.len()),
        _ => String::new(),
    }
}

/// Keys and indices of `a.b[0].c`.
fn keys(path: &str) -> Result<Vec<String>, String> {
    let plain = path
        .trim_start_matches('$')
        .replace('[', ".")
        .replace(']', "");
    let keys: Vec<String> = plain
        .split('.')
        .filter(|k| !k.is_empty())
        .map(str::to_owned)
        .collect();
    if keys.is_empty() {
        Err(format!(
            "`{path}` is no path: write it as `timings.solve` or `rows[0].time`"
        ))
    } else {
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(regex: Option<&str>, json: Option<&str>, unit: Option<&str>) -> Source {
        let text = SourceText {
            regex: regex.map(Into::into),
            json: json.map(Into::into),
            file: None,
            unit: unit.map(Into::into),
        };
        let any = SourceOfAny::new(&text).unwrap();
        any.filled(&Texts::new(), Path::new(""))
    }

    #[test]
    fn numbers_are_found() {
        let text = b"step 1: 3.5 ms\nstep 2: 4e0 ms\n";
        assert_eq!(
            of(Some(r"step \d+: (\S+) ms"), None, Some("ms")).number(text),
            Ok(0.004)
        );
        assert_eq!(of(Some(r"\d+\.\d+"), None, None).number(text), Ok(3.5));
        let fortran = b"t = 0.25D-02\n";
        assert_eq!(
            of(Some(r"t = (\S+)"), None, None).number(fortran),
            Ok(2.5e-3)
        );
        let json = br#"{"rows": [{"time": 1.5}, {"time": "2.5"}]}"#;
        assert_eq!(of(None, Some("rows[0].time"), None).number(json), Ok(1.5));
        assert_eq!(of(None, Some("$.rows[1].time"), None).number(json), Ok(2.5));
        let mixed = b"log line\n{\"t\": 7}\ndone\n";
        assert_eq!(of(None, Some("t"), None).number(mixed), Ok(7.0));
        // As Python writes what it cannot measure.
        let python = b"\xef\xbb\xbf{\"t\": 7, \"u\": NaN, \"v\": -Infinity}";
        assert_eq!(of(None, Some("t"), None).number(python), Ok(7.0));
        let e = of(None, Some("u"), None).number(python).unwrap_err();
        assert!(e.contains("`u` is missing"), "{e}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let none = of(Some("t=(.*)"), None, None);
        assert!(none.number(b"nothing").unwrap_err().contains("no match"));
        assert!(
            none.number(b"t=fast")
                .unwrap_err()
                .contains("`fast` is no number")
        );
        assert!(none.number(b"t=nan").is_err() && none.number(b"t=inf").is_err());
        let line = of(Some(r"^(\d+)$"), None, None);
        let text = b"begin\n42\nend\n";
        assert_eq!(
            line.number(text).unwrap_err(),
            r"no match of `^(\d+)$` (^ and $ are the ends of the whole text; those of a line with `(?m)^(\d+)$`) in its output"
        );
        assert_eq!(of(Some(r"(?m)^(\d+)$"), None, None).number(text), Ok(42.0));
        let other = line.number(b"begin\nend\n").unwrap_err();
        assert_eq!(other, r"no match of `^(\d+)$` in its output");
        let json = of(None, Some("a.b"), None);
        let named = json.number(b"{\"a\": {\"c\": 1}}").unwrap_err();
        assert_eq!(named, "no `a.b` (there are c) in its output");
        assert!(
            json.number(b"{\"a\": {}}")
                .unwrap_err()
                .contains("no `a.b`")
        );
        assert!(json.number(b"{\"a\": {\"b\": []}}").is_err());
        assert!(json.number(b"").unwrap_err().contains("no JSON"));
        let wrong = |t: SourceText| SourceOfAny::new(&t).unwrap_err();
        assert!(
            wrong(SourceText {
                regex: Some("(".into()),
                ..SourceText::default()
            })
            .contains("regex")
        );
        assert!(wrong(SourceText::default()).contains("give"));
    }
}
