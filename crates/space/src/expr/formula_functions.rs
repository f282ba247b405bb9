//! Functions and constants of formulas.

/// A function by its number of arguments.
pub(super) enum Function {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    /// Two or more arguments, folded from the left.
    Many(fn(f64, f64) -> f64),
}

/// The function `name`, with or without Python's `math.` in front.
pub(super) fn function(name: &str) -> Option<Function> {
    use Function::{Many, One, Two};
    Some(match name.strip_prefix("math.").unwrap_or(name) {
        "sqrt" => One(f64::sqrt),
        "cbrt" => One(f64::cbrt),
        "exp" => One(f64::exp),
        "ln" | "log" => One(f64::ln),
        "log2" => One(f64::log2),
        "log10" => One(f64::log10),
        "sin" => One(f64::sin),
        "cos" => One(f64::cos),
        "tan" => One(f64::tan),
        "asin" => One(f64::asin),
        "acos" => One(f64::acos),
        "atan" => One(f64::atan),
        "sinh" => One(f64::sinh),
        "cosh" => One(f64::cosh),
        "tanh" => One(f64::tanh),
        "asinh" => One(f64::asinh),
        "acosh" => One(f64::acosh),
        "atanh" => One(f64::atanh),
        "abs" => One(f64::abs),
        "floor" => One(f64::floor),
        "ceil" => One(f64::ceil),
        "round" => One(f64::round),
        "trunc" | "int" => One(f64::trunc),
        "fract" => One(f64::fract),
        "sign" | "signum" => One(|x| if x == 0.0 { 0.0 } else { x.signum() }),
        "float" => One(|x| x),
        "pow" => Two(f64::powf),
        "atan2" => Two(f64::atan2),
        "hypot" => Two(f64::hypot),
        "min" => Many(f64::min),
        "max" => Many(f64::max),
        _ => return None,
    })
}

/// The constant `name`.
pub(super) fn constant(name: &str) -> Option<f64> {
    use std::f64::consts;
    Some(match name.strip_prefix("math.").unwrap_or(name) {
        "pi" | "PI" => consts::PI,
        "tau" | "TAU" => consts::TAU,
        "e" | "E" => consts::E,
        _ => return None,
    })
}
