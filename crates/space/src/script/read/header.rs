//! The headers of functions, and what scripts do not have.

use super::lines::Line;
use super::lower::{Shared, Signature, check_name};
use crate::error::{ExprError, Span};
use crate::expr::{Expr, ExprKind, Parser, Scope, Token, eval, reserved};
use crate::script::values::functions;
use crate::script::values::item::Item;

pub type Parsed<T> = Result<T, ExprError>;

/// What stands outside of functions: a text that describes the script, and nothing else.
pub fn at_the_top(line: &Line, is_first: bool) -> Parsed<()> {
    if is_first && matches!(line.tokens[..], [(Token::Literal(_), _), (Token::End, _)]) {
        return Ok(());
    }
    unsupported(line)?;
    Err(ExprError::new(
        "only functions stand here: `def f(n):` with its statements indented",
        line.span(),
    ))
}

/// Refuses statements of Python that scripts do not have.
pub fn unsupported(line: &Line) -> Parsed<()> {
    let word = line.first();
    let why = match word {
        "import" | "from" => {
            "nothing outside is reached; `sqrt`, `log`, `floor` and others are there without it"
        }
        "class" | "async" | "global" | "nonlocal" => "write functions of values",
        "try" | "raise" | "assert" | "except" | "finally" => "an error ends the call",
        "with" => "scripts reach no files",
        "del" => "`pop` takes an element out",
        "match" if line.tokens.len() > 3 && !matches!(line.tokens[1].0, Token::Sign(_)) => {
            "write `if` and `elif`"
        }
        "@" => "functions have no decorators",
        _ => return Ok(()),
    };
    let message = format!("`{word}` is not available in scripts: {why}");
    Err(ExprError::new(message, line.span()))
}

fn name(p: &mut Parser, of: &str) -> Parsed<(String, Span)> {
    match p.advance() {
        (Token::Name(n), span) => check_name(&n, span).map(|()| (n, span)),
        (_, span) => Err(ExprError::new(
            format!("the name of {of} is expected here"),
            span,
        )),
    }
}

/// `def name(a, b=1):` up to the colon.
pub fn signature(p: &mut Parser, shared: &mut Shared) -> Parsed<Signature> {
    p.advance();
    let (function, span) = name(p, "a function")?;
    if reserved(&function) || functions::names().any(|n| n == function) {
        let message = format!("`{function}` is a function of expressions: choose another name");
        return Err(ExprError::new(message, span));
    }
    p.demand("(")?;
    let mut parameters: Vec<String> = Vec::new();
    let mut defaults = Vec::new();
    while !p.take(")") {
        let (parameter, span) = name(p, "a parameter")?;
        if parameters.contains(&parameter) {
            return Err(ExprError::new(
                format!("`{parameter}` stands here twice"),
                span,
            ));
        }
        parameters.push(parameter);
        if p.is(":") {
            return Err(ExprError::new(
                "parameters have no types here: write the name alone",
                p.span(),
            ));
        }
        if p.take("=") {
            defaults.push(default(&p.ternary()?, shared)?);
        } else if !defaults.is_empty() {
            return Err(ExprError::new(
                "a parameter without a default stands after one with a default",
                span,
            ));
        }
        if !p.take(",") {
            p.demand(")")?;
            break;
        }
    }
    if p.is("-") {
        return Err(ExprError::new(
            "results have no types here: write `:`",
            p.span(),
        ));
    }
    p.demand(":")?;
    Ok(Signature {
        name: function,
        parameters,
        defaults,
    })
}

fn default(e: &Expr, shared: &mut Shared) -> Parsed<Item> {
    if let ExprKind::Tuple(items) = &e.kind {
        let items = items.iter().map(|e| default(e, shared));
        let items = items.collect::<Parsed<_>>()?;
        return Ok(shared.tuple(items));
    }
    let v = eval(e, &Scope::new(&|_: &str| None))?;
    shared.constant(&v).ok_or_else(|| {
        ExprError::new(
            "a default is a number, a string, a boolean, `None` or a tuple of these",
            e.span,
        )
    })
}
