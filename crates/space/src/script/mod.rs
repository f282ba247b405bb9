//! Closure iterators: functions of a script that return the values of a parameter, for what ranges and lists cannot say
//! (Fibonacci numbers, the prime factorisations of a size). Scripts are written in a part of Python. Their expressions
//! are read, and their operators and functions evaluated, by [`crate::expr`]; statements are read and run here.

mod elements;
mod error;
mod eval;
mod read;
mod run;
#[cfg(test)]
mod tests;
mod values;

use crate::error::{ExprError, SpaceError, Span};
use crate::expr::Functions;
use crate::value::Value;
use error::{Cause, Fault, ScriptError, TOTAL_STEPS};
use read::lower::{Signature, takes};
use read::parse::{Program, parse};
use run::{Budget, Call};

/// The functions of one script.
pub struct Scripts {
    text: String,
    program: Program,
    budget: Budget,
}

impl Scripts {
    /// Reads the script.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn new(text: &str) -> Result<Self, SpaceError> {
        Self::with_budget(text, TOTAL_STEPS)
    }

    /// As [`Scripts::new`], with so many steps of all calls together.
    fn with_budget(text: &str, steps: u64) -> Result<Self, SpaceError> {
        let program = parse(text).map_err(|e| unreadable(&e, text))?;
        Ok(Self {
            text: text.to_owned(),
            program,
            budget: Budget::new(steps),
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.program.functions.iter().map(|f| f.name.as_str())
    }

    /// The number of a function that takes so many values; if there is none, why.
    fn number(&self, name: &str, values: usize) -> Result<usize, String> {
        let number = self.names().position(|n| n == name);
        let number = number.ok_or_else(|| format!("`{name}` does not exist"))?;
        let f = &self.program.functions[number];
        let signature = Signature {
            name: name.to_owned(),
            parameters: f.slots[..f.parameters].to_vec(),
            defaults: f.defaults.clone(),
        };
        takes(&signature, values).map(|()| number)
    }

    /// Calls a function that returns a list.
    ///
    /// # Errors
    /// What went wrong in the script, or that it returned no list of plain values.
    fn call(&self, name: &str, args: &[Value]) -> Result<Vec<Value>, ScriptError> {
        let function = || name.to_owned();
        let number = (self.number(name, args.len())).map_err(ScriptError::Arguments)?;
        let f = &self.program.functions[number];
        let mut call = Call::new(&self.program, &self.budget);
        let failed = |fault: Fault| match fault.cause {
            Cause::TotalSteps => ScriptError::TooManySteps,
            cause => {
                let (line, column) = place(&self.text, fault.at);
                ScriptError::Failed {
                    function: function(),
                    line,
                    column,
                    cause,
                }
            }
        };
        let here = |cause| failed(Fault { at: f.at, cause });
        let items = args.iter().map(|v| call.heap.item(v));
        let items = items.collect::<Result<_, _>>().map_err(here)?;
        let result = call.function(number, items, f.at).map_err(|f| failed(*f))?;
        let at = call.ended;
        let there = |cause| failed(Fault { at, cause });
        match call.heap.value(result, 0).map_err(there)? {
            Ok(Value::Tuple(values)) => Ok(values),
            Err(kind) if kind != result.words() => Err(there(Cause::InList(kind))),
            _ => {
                let kind = result.words();
                Err(there(Cause::NotAList { kind }))
            }
        }
    }
}

impl Functions for Scripts {
    fn call_at(&self, name: &str, args: &[Value], span: Span) -> Result<Vec<Value>, ExprError> {
        self.call(name, args)
            .map_err(|e| ExprError::new(e.to_string(), span))
    }

    fn names(&self) -> Vec<&str> {
        self.names().collect()
    }

    fn takes(&self, name: &str, values: usize) -> Result<(), String> {
        self.number(name, values).map(|_| ())
    }
}

/// Line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = 1 + before.matches('\n').count();
    (line, 1 + before[start..].chars().count())
}

/// The error with its line, which it quotes; that of a script of earlier versions with the form of today.
fn unreadable(e: &ExprError, text: &str) -> SpaceError {
    let (line, column) = place(text, e.span.from);
    let start = text[..text.floor_char_boundary(e.span.from.min(text.len()))]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let quoted = text[start..].lines().next().unwrap_or_default();
    let mut message = format!(
        "the script cannot be read: line {line} of the script, column {column}: {}",
        e.message
    );
    if !quoted.trim().is_empty() && quoted.len() <= 400 {
        let blank: String = quoted
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        message.push_str(&format!("\n    {quoted}\n    {blank}^"));
    }
    let error = SpaceError {
        message,
        hint: None,
        expression: Some(text[start..].to_owned()),
    };
    match rhai(text) {
        Some(python) => error.hint(format!(
            "scripts are written in Python, no longer in Rhai: `{python}`, its statements indented in the lines below"
        )),
        None => error,
    }
}

/// The Python form of the first function that is written in Rhai.
fn rhai(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let header = line.trim_start().strip_prefix("fn ")?;
        let (header, _) = header.split_once('{')?;
        Some(format!("def {}:", header.trim()))
    })
}
