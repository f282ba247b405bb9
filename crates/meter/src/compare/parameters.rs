//! Commands with parameters: `{NAME}` in a command stands for each value in turn.

use crate::command::CommandLine;

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, which stands in braces in commands.
    pub name: String,
    /// Its values, in the order of measurement.
    pub values: Vec<String>,
}

/// Values of parameters: (name, value).
pub type Setting = Vec<(String, String)>;

/// Most values of a scan, and most variants of a command.
const MAX: usize = 1000;

/// A parameter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// Not a name.
    #[error("invalid name of a parameter: `{0}`: use letters, digits, `_` and `-`")]
    Name(String),
    /// Not a number.
    #[error("`{0}` is not a number")]
    Number(String),
    /// A scan in the wrong direction.
    #[error("the scan of `{name}` ends at {max}, below its start {min}")]
    Empty {
        /// The parameter.
        name: String,
        /// Start.
        min: String,
        /// End.
        max: String,
    },
    /// A step that leads nowhere.
    #[error("the step size {0} is not above 0")]
    Step(String),
    /// Too many values.
    #[error("the parameters have more than {MAX} combinations")]
    TooMany,
    /// Two parameters of one name.
    #[error("the parameter `{0}` is given twice")]
    Twice(String),
    /// A parameter that nothing uses.
    #[error("no command contains {{{0}}}")]
    Unused(String),
    /// A list without values.
    #[error("the parameter `{0}` has no values")]
    NoValues(String),
}

impl Parameter {
    /// A parameter with the values of a list, `1,2,4`. A comma after a backslash is part of a value, as in hyperfine.
    ///
    /// # Errors
    /// The name is invalid, or there are no values.
    pub fn list(name: &str, values: &str) -> Result<Self, ParameterError> {
        let values = split_list(values);
        if values.iter().all(String::is_empty) {
            return Err(ParameterError::NoValues(name.to_owned()));
        }
        Self::new(name, values)
    }

    /// A parameter with the values from `min` to `max`, with as many decimals as were typed.
    ///
    /// # Errors
    /// The name or a number is invalid, or the scan has no values or too many.
    pub fn scan(name: &str, min: &str, max: &str, step: &str) -> Result<Self, ParameterError> {
        let number = |text: &str| match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(ParameterError::Number(text.to_owned())),
        };
        let (from, to, by) = (number(min)?, number(max)?, number(step)?);
        if by <= 0.0 {
            return Err(ParameterError::Step(step.to_owned()));
        }
        if to < from {
            return Err(ParameterError::Empty {
                name: name.to_owned(),
                min: min.to_owned(),
                max: max.to_owned(),
            });
        }
        if let [Ok(from), Ok(to), Ok(by)] = [min, max, step].map(str::parse::<i64>) {
            // Exact, beyond 2^53 too.
            let (from, to, by) = (i128::from(from), i128::from(to), i128::from(by));
            if (to - from) / by >= MAX as i128 {
                return Err(ParameterError::TooMany);
            }
            let values = (0..=(to - from) / by).map(|i| (from + i * by).to_string());
            return Self::new(name, values.collect());
        }
        // 0.3 is three steps of 0.1, though not in binary.
        let steps = ((to - from) / by * (1.0 + 1e-12) + 1e-9).floor();
        if steps >= MAX as f64 {
            return Err(ParameterError::TooMany);
        }
        let decimals = |text: &str| text.split_once('.').map_or(0, |(_, d)| d.len());
        let exponent = [min, step].iter().any(|t| t.contains(['e', 'E']));
        let digits = decimals(min).max(decimals(step));
        let values = (0..=steps as usize).map(|i| {
            let x = from + i as f64 * by;
            if exponent {
                x.to_string()
            } else {
                format!("{x:.digits$}")
            }
        });
        Self::new(name, values.collect())
    }

    fn new(name: &str, values: Vec<String>) -> Result<Self, ParameterError> {
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !is_name {
            return Err(ParameterError::Name(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }

    fn occurs_in(&self, text: &str) -> bool {
        text.contains(&format!("{{{}}}", self.name))
    }
}

/// Values between commas. A backslash makes a comma or a backslash part of a value; before anything else it is itself.
fn split_list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ',' {
            values.push(String::new());
            continue;
        }
        let escaped = chars.next_if(|&next| c == '\\' && matches!(next, ',' | '\\'));
        if let Some(value) = values.last_mut() {
            value.push(escaped.unwrap_or(c));
        }
    }
    values.iter().map(|v| v.trim().to_owned()).collect()
}

/// A text with values in place of `{NAME}`; values are not looked into again.
pub fn substitute(text: &str, setting: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let found = setting.iter().find_map(|(name, value)| {
            let end = after[1..].strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value, end))
        });
        rest = match found {
            Some((value, end)) => {
                out.push_str(value);
                end
            }
            None => {
                out.push('{');
                &after[1..]
            }
        };
    }
    out.push_str(rest);
    out
}

/// Every command with every combination of the values of the parameters that it contains, in its words, name, input or
/// preparation. One without parameters stays as it is.
///
/// # Errors
/// A parameter occurs nowhere or twice in the list, or there are too many combinations.
pub fn variants(
    commands: &[CommandLine],
    parameters: &[Parameter],
) -> Result<Vec<CommandLine>, ParameterError> {
    for (i, p) in parameters.iter().enumerate() {
        if parameters[..i].iter().any(|q| q.name == p.name) {
            return Err(ParameterError::Twice(p.name.clone()));
        }
        if !commands.iter().any(|c| contains(c, p)) {
            return Err(ParameterError::Unused(p.name.clone()));
        }
    }
    let mut out = Vec::new();
    for command in commands {
        let mut settings: Vec<Setting> = vec![Vec::new()];
        for p in parameters.iter().filter(|p| contains(command, p)) {
            if settings.len() * p.values.len() + out.len() > MAX {
                return Err(ParameterError::TooMany);
            }
            settings = settings
                .iter()
                .flat_map(|s| {
                    p.values.iter().map(|v| {
                        let mut s = s.clone();
                        s.push((p.name.clone(), v.clone()));
                        s
                    })
                })
                .collect();
        }
        out.extend(settings.into_iter().map(|s| with(command, s)));
    }
    Ok(out)
}

fn contains(c: &CommandLine, p: &Parameter) -> bool {
    let input = c.input.as_ref().map(|i| i.to_string_lossy());
    std::iter::once(c.program.as_str())
        .chain(c.args.iter().map(String::as_str))
        .chain(
            [&c.name, &c.prepare]
                .into_iter()
                .flatten()
                .map(String::as_str),
        )
        .chain(input.as_deref())
        .any(|text| p.occurs_in(text))
}

fn with(c: &CommandLine, parameters: Setting) -> CommandLine {
    let set = |text: &String| substitute(text, &parameters);
    CommandLine {
        program: set(&c.program),
        args: c.args.iter().map(set).collect(),
        shown: c.shown.clone(),
        name: c.name.as_ref().map(set),
        prepare: c.prepare.as_ref().map(set),
        // A name that is not text has no braces of ours.
        input: c.input.as_ref().map(|i| match i.to_str() {
            Some(text) => substitute(text, &parameters).into(),
            None => i.clone(),
        }),
        parameters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(min: &str, max: &str, step: &str) -> Vec<String> {
        Parameter::scan("n", min, max, step).unwrap().values
    }

    #[test]
    fn scans_end_at_their_end_with_the_decimals_that_were_typed() {
        assert_eq!(scan("1", "4", "1"), ["1", "2", "3", "4"]);
        assert_eq!(scan("0", "0.3", "0.1"), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(scan("-1", "2", "1.5"), ["-1.0", "0.5", "2.0"]);
        assert_eq!(
            scan("9007199254740992", "9007199254740994", "1"),
            ["9007199254740992", "9007199254740993", "9007199254740994"]
        );
        assert_eq!(scan("5", "5", "1"), ["5"]);
        assert_eq!(scan("1", "4", "2"), ["1", "3"]);
        for (min, max, step) in [
            ("4", "1", "1"),
            ("1", "4", "0"),
            ("1", "4", "-1"),
            ("x", "4", "1"),
            ("1", "inf", "1"),
            ("1", "1e9", "1"),
        ] {
            assert!(Parameter::scan("n", min, max, step).is_err(), "{min} {max}");
        }
        assert!(Parameter::scan("a b", "1", "2", "1").is_err());
        assert!(Parameter::list("a", "").is_err());
    }

    #[test]
    fn a_comma_after_a_backslash_is_part_of_a_value() {
        let list = |values: &str| Parameter::list("x", values).unwrap().values;
        for (text, values) in [
            (r"a\,b,c", vec!["a,b", "c"]),
            (r"\,", vec![","]),
            (r"a\,\,b", vec!["a,,b"]),
            (r"a\\,b", vec![r"a\", "b"]),
            (r"\\\,", vec![r"\,"]),
            (r"\n,C:\x\", vec![r"\n", r"C:\x\"]),
            ("a, b,,", vec!["a", "b", "", ""]),
        ] {
            assert_eq!(list(text), values, "{text}");
        }
    }

    #[test]
    fn values_stand_in_for_names_and_are_not_looked_into() {
        let s = [("a", "{b}"), ("b", "2")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(substitute("x{a}{b}{c}{", &s), "x{b}2{c}{");
    }

    #[test]
    fn each_command_gets_the_parameters_that_it_contains() {
        let parse = |t: &str| CommandLine::parse(t).unwrap();
        let mut named = parse("c");
        named.prepare = Some("touch {m}".to_owned());
        let commands = [parse("a {n}-{m} '{n} x'"), parse("b"), named];
        let parameters = [
            Parameter::list("n", "1,2").unwrap(),
            Parameter::list("m", "u v, w").unwrap(),
        ];
        let all = variants(&commands, &parameters).unwrap();
        let shown: Vec<String> = all.iter().map(CommandLine::display).collect();
        assert_eq!(
            shown,
            [
                "a '1-u v' '1 x'",
                "a 1-w '1 x'",
                "a '2-u v' '2 x'",
                "a 2-w '2 x'",
                "b",
                "c",
                "c"
            ]
        );
        assert_eq!(all[1].parameters.len(), 2);
        assert_eq!(all[6].prepare.as_deref(), Some("touch w"));
        let unused = [Parameter::list("k", "1").unwrap()];
        let e = variants(&commands, &unused).unwrap_err().to_string();
        assert_eq!(e, "no command contains {k}");
        let twice = [parameters[0].clone(), parameters[0].clone()];
        assert!(variants(&commands, &twice).is_err());
    }
}
