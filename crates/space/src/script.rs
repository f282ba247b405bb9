//! Closure iterators: functions of an embedded script that return the values of a parameter, for
//! what ranges and lists cannot say (Fibonacci numbers, the prime factorisations of a size).

use crate::error::SpaceError;
use crate::value::Value;
use rhai::{AST, Dynamic, Engine, Scope};

/// Steps after which a script is stopped: it hangs, or is no list of values.
const MAX_STEPS: u64 = 20_000_000;

/// The functions of one script.
pub struct Scripts {
    engine: Engine,
    ast: AST,
    names: Vec<String>,
}

impl Scripts {
    /// Reads the script (Rhai).
    ///
    /// # Errors
    /// The script's own message, with its line.
    pub fn new(text: &str) -> Result<Self, SpaceError> {
        let mut engine = Engine::new();
        engine
            .set_max_operations(MAX_STEPS)
            .set_max_array_size(1_000_000)
            .set_max_string_size(1_000_000)
            .set_max_call_levels(64);
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
    pub fn call(&self, name: &str, args: &[Value]) -> Result<Vec<Value>, String> {
        let args: Vec<Dynamic> = args.iter().map(to_script).collect();
        let result: Dynamic = self
            .engine
            .call_fn(&mut Scope::new(), &self.ast, name, args)
            .map_err(|e| format!("the script's `{name}` failed: {e}"))?;
        let list = result
            .into_array()
            .map_err(|kind| format!("the script's `{name}` returns a {kind}, not a list"))?;
        list.into_iter()
            .map(|v| {
                from_script(&v).ok_or_else(|| {
                    format!(
                        "the script's `{name}` returns a list with a {} in it",
                        v.type_name()
                    )
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
    v.clone().into_string().ok().map(Value::Str)
}
