//! Closure iterators: functions of an embedded script that return the values of a parameter, for
//! what ranges and lists cannot say (Fibonacci numbers, the prime factorisations of a size).

use crate::error::SpaceError;
use crate::value::Value;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package as _,
};
use rhai::{AST, Dynamic, Engine, EvalAltResult, Scope};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps after which one call is stopped: it hangs, or returns no list of values.
const CALL_STEPS: u64 = 20_000_000;
/// Steps of all calls for one space together: some tens of seconds.
const TOTAL_STEPS: u64 = 400_000_000;

/// A call of a script function that gives no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// All calls together exceeded the step limit.
    #[error(
        "the script took more than {TOTAL_STEPS} steps in all: it is called for too many points"
    )]
    TooManySteps,
    /// The script stopped with an error.
    #[error("the script's `{function}` failed: {cause}")]
    Failed {
        /// The function.
        function: String,
        /// The script engine's message.
        cause: String,
    },
    /// The result is not a list.
    #[error("the script's `{function}` returns a {kind}, not a list")]
    NotAList {
        /// The function.
        function: String,
        /// Type of the result.
        kind: &'static str,
    },
    /// An element of the result is not a plain value.
    #[error("the script's `{function}` returns a list with a {kind} in it")]
    Item {
        /// The function.
        function: String,
        /// Type of the element.
        kind: &'static str,
    },
}

/// The functions of one script.
pub struct Scripts {
    engine: Engine,
    ast: AST,
    names: Vec<String>,
}

/// An engine of values and loops only: scripts read no files, load no modules, print nothing and do not wait.
fn engine(budget: u64) -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);
    for name in ["eval", "import", "export", "print", "debug"] {
        engine.disable_symbol(name);
    }
    engine
        .set_max_operations(CALL_STEPS)
        .set_max_array_size(1_000_000)
        .set_max_map_size(100_000)
        .set_max_string_size(1_000_000)
        .set_max_call_levels(64)
        .set_max_expr_depths(64, 64);
    let steps = Arc::new(AtomicU64::new(0));
    engine.on_progress(move |_| {
        let all = steps.fetch_add(1, Ordering::Relaxed);
        (all >= budget).then(|| Dynamic::from(()))
    });
    engine
}

impl Scripts {
    /// Reads the script (Rhai).
    ///
    /// # Errors
    /// The script's own message, with its line.
    pub fn new(text: &str) -> Result<Self, SpaceError> {
        Self::with_budget(text, TOTAL_STEPS)
    }

    /// As [`Scripts::new`], with so many steps of all calls together.
    fn with_budget(text: &str, steps: u64) -> Result<Self, SpaceError> {
        let engine = engine(steps);
        let ast = engine
            .compile(text)
            .map_err(|e| SpaceError::new(format!("the script cannot be read: {e}")))?;
        let names = ast.iter_functions().map(|f| f.name.to_owned()).collect();
        Ok(Self { engine, ast, names })
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Calls a function that returns a list.
    ///
    /// # Errors
    /// What went wrong in the script, or that it returned no list of plain values.
    pub fn call(&self, name: &str, args: &[Value]) -> Result<Vec<Value>, ScriptError> {
        let args: Vec<Dynamic> = args.iter().map(to_script).collect();
        let result: Dynamic = self
            .engine
            .call_fn(&mut Scope::new(), &self.ast, name, args)
            .map_err(|e| match *e {
                EvalAltResult::ErrorTerminated(..) => ScriptError::TooManySteps,
                e => ScriptError::Failed {
                    function: name.to_owned(),
                    cause: e.to_string(),
                },
            })?;
        let list = result.into_array().map_err(|kind| ScriptError::NotAList {
            function: name.to_owned(),
            kind,
        })?;
        list.into_iter()
            .map(|v| {
                from_script(&v).ok_or_else(|| ScriptError::Item {
                    function: name.to_owned(),
                    kind: v.type_name(),
                })
            })
            .collect()
    }
}

fn to_script(v: &Value) -> Dynamic {
    match v {
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Float(f) => (*f).into(),
        Value::Str(s) => s.clone().into(),
        Value::Tuple(items) => items.iter().map(to_script).collect::<Vec<_>>().into(),
        Value::None => Dynamic::UNIT,
    }
}

fn from_script(v: &Dynamic) -> Option<Value> {
    if let Ok(b) = v.as_bool() {
        return Some(Value::Bool(b));
    }
    if let Ok(i) = v.as_int() {
        return Some(Value::Int(i));
    }
    if let Ok(f) = v.as_float() {
        return Some(Value::Float(f));
    }
    if let Ok(items) = v.clone().into_array() {
        let items: Option<Vec<Value>> = items.iter().map(from_script).collect();
        return items.map(Value::Tuple);
    }
    if v.is_unit() {
        return Some(Value::None);
    }
    v.clone().into_string().ok().map(Value::Str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn call(text: &str) -> Result<Vec<Value>, String> {
        Scripts::new(text)
            .map_err(|e| e.message)?
            .call("f", &[Value::Int(3)])
            .map_err(|e| e.to_string())
    }

    #[test]
    fn values_loops_and_lists_are_there() {
        let text = "fn f(n) { let l = [1]; for i in 0..n { l.push(l[i] * 2 + i % 2); } l }";
        let list = call(text).unwrap();
        assert_eq!(list, [1, 2, 5, 10].map(Value::Int));
        let text = r#"fn f(n) { let l = []; let m = #{a: 2.5}; for c in "ab".split("") { if c != "" { l.push(c + "x"); } } l.push(`${m.a.floor()}`); l.sort(); l }"#;
        assert_eq!(call(text).unwrap().len(), 3);
    }

    #[test]
    fn nothing_outside_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("m.rhai");
        std::fs::write(&file, "export const X = 1;").unwrap();
        let path = dir.path().join("m").display().to_string();
        for text in [
            format!("import \"{path}\" as m; fn f(n) {{ [n] }}"),
            format!("fn f(n) {{ import \"{path}\" as m; [m::X] }}"),
            "fn f(n) { print(1); [n] }".into(),
            "fn f(n) { debug(1); [n] }".into(),
            "fn f(n) { sleep(1000); [n] }".into(),
            "fn f(n) { timestamp(); [n] }".into(),
            "fn f(n) { eval(\"[1]\") }".into(),
        ] {
            let start = Instant::now();
            assert!(call(&text).is_err(), "{text}");
            assert!(start.elapsed() < Duration::from_secs(2), "{text}");
        }
    }

    #[test]
    fn all_calls_together_have_a_budget() {
        let text = "fn f(n) { let x = 0; while x < 2000 { x += 1; } [x] }";
        let scripts = Scripts::with_budget(text, 100_000).unwrap();
        assert_eq!(
            scripts.call("f", &[Value::Int(1)]),
            Ok(vec![Value::Int(2000)])
        );
        let failed = (0..1000).find_map(|_| scripts.call("f", &[Value::Int(1)]).err());
        assert_eq!(failed, Some(ScriptError::TooManySteps));
    }
}
