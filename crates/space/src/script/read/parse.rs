//! Lines to functions.

use super::block::Reader;
use super::header::{Parsed, at_the_top, signature};
use super::lines::lines;
use super::lower::{Names, Shared};
use super::tree::Function;
use crate::error::{ExprError, Span};
use crate::expr::Parser;
use crate::script::values::item::Item;

/// The functions of a script, the texts that stand in it and the tuples of its defaults.
pub struct Program {
    pub functions: Vec<Function>,
    pub texts: Vec<Box<str>>,
    pub tuples: Vec<Vec<Item>>,
}

pub fn parse(text: &str) -> Parsed<Program> {
    let lines = lines(text)?;
    let mut shared = Shared::default();
    let mut starts = Vec::new();
    for (i, line) in lines.iter().enumerate().filter(|(_, l)| l.indent == 0) {
        if line.first() == "def" {
            let signature = signature(&mut Parser::of_line(line.tokens.clone()), &mut shared)?;
            if shared.signatures.iter().any(|s| s.name == signature.name) {
                let message = format!("`{}` is defined twice", signature.name);
                return Err(ExprError::new(message, line.span()));
            }
            shared.signatures.push(signature);
            starts.push(i);
        } else {
            at_the_top(line, i == 0)?;
        }
    }
    match (lines.first(), starts.first()) {
        (Some(line), _) if line.indent > 0 => {
            let message = "a function begins without blanks before its `def`";
            return Err(ExprError::new(message, line.span()));
        }
        (_, None) => {
            let message = "a script has at least one function: `def f(n):`";
            return Err(ExprError::new(message, Span::default()));
        }
        _ => {}
    }
    let mut functions = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(lines.len());
        let parameters = shared.signatures[i].parameters.clone();
        let names = Names::new(&mut shared, &parameters);
        let mut reader = Reader::new(&lines[start..end], names);
        let body = reader.body()?;
        reader.names.check()?;
        let (deepest, generator) = (reader.deepest, reader.generator);
        let height = 2 * deepest + reader.names.height + 4;
        let slots = std::mem::take(&mut reader.names.slots);
        functions.push(Function {
            name: shared.signatures[i].name.clone(),
            at: lines[start].span().from,
            slots,
            parameters: parameters.len(),
            defaults: shared.signatures[i].defaults.clone(),
            generator,
            body,
            height,
        });
    }
    Ok(Program {
        functions,
        texts: shared.texts,
        tuples: shared.tuples,
    })
}
