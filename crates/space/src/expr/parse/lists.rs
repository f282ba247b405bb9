//! Calls and lists: items between brackets, and comprehensions.

use crate::error::{ExprError, Span};
use crate::expr::ast::{Expr, ExprKind, Form, OfScript};
use crate::expr::cursor::Parser;
use crate::expr::token::Token;

/// Functions that take a generator.
const OF_GENERATORS: [&str; 9] = [
    "any", "all", "sum", "min", "max", "list", "tuple", "set", "sorted",
];

impl Parser {
    /// The arguments of a call, or the one generator that they are.
    pub(super) fn call(&mut self, name: String, start: Span) -> Result<ExprKind, ExprError> {
        if self.take(")") {
            return Ok(ExprKind::Call(name, Vec::new()));
        }
        let from = self.span();
        let first = self.ternary()?;
        if self.in_script && self.is("=") {
            return Err(self.by_position());
        }
        if self.is("for") {
            let kind = self.comprehension(first, ")", Form::Generator)?;
            if !OF_GENERATORS.contains(&name.as_str()) {
                return Err(ExprError::new(
                    format!("`{name}` takes no generator: write a list, `{name}([… for …])`"),
                    start,
                ));
            }
            let generator = Expr {
                kind,
                span: self.join(from),
            };
            return Ok(ExprKind::Call(name, vec![generator]));
        }
        let mut items = vec![first];
        if self.take(",") {
            items.extend(self.items(")")?);
        } else {
            self.demand(")")?;
        }
        Ok(ExprKind::Call(name, items))
    }

    pub(super) fn list(&mut self, close: &str, form: Form) -> Result<ExprKind, ExprError> {
        let start = self.span();
        if self.take(close) {
            return match form {
                Form::Set if self.in_script => Ok(OfScript::Dict(Vec::new()).into()),
                Form::Set => Err(ExprError::new(
                    "`{}` is a dictionary, which has no meaning here: the empty list is `[]`",
                    start,
                )),
                _ => Ok(ExprKind::List(Vec::new())),
            };
        }
        let first = self.ternary()?;
        if self.is("for") {
            return self.comprehension(first, close, form);
        }
        if form == Form::Set && self.in_script && self.is(":") {
            return self.dictionary(first);
        }
        if form == Form::Set && self.is(":") {
            return Err(ExprError::new(
                "a dictionary has no meaning here: write `a if x == … else b`",
                self.span(),
            ));
        }
        let mut items = vec![first];
        if self.take(",") {
            items.extend(self.items(close)?);
        } else {
            self.demand(close)?;
        }
        Ok(match form {
            Form::Set => ExprKind::Set(items),
            _ => ExprKind::List(items),
        })
    }

    /// The rest of a comprehension from its `for` on.
    fn comprehension(
        &mut self,
        item: Expr,
        close: &str,
        form: Form,
    ) -> Result<ExprKind, ExprError> {
        if self.in_script {
            return self.loops(item, close, form);
        }
        self.demand("for")?;
        let name = match self.advance() {
            (Token::Name(n), _) => n,
            (_, span) => return Err(ExprError::new("a name is expected after `for`", span)),
        };
        if self.is(",") {
            return Err(ExprError::new(
                "`for` takes one name here: index the element, as in `x[0]`",
                self.span(),
            ));
        }
        self.demand("in")?;
        let source = self.or()?;
        let condition = if self.take("if") {
            Some(Box::new(self.or()?))
        } else {
            None
        };
        if self.is("for") || self.is("if") {
            return Err(ExprError::new(
                "a list has one `for` and one `if` here",
                self.span(),
            ));
        }
        self.demand(close)?;
        Ok(ExprKind::Comprehension {
            form,
            item: Box::new(item),
            name,
            source: Box::new(source),
            condition,
        })
    }

    /// Comma-separated items up to and with `close`.
    pub(super) fn items(&mut self, close: &str) -> Result<Vec<Expr>, ExprError> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.ternary()?);
            if self.in_script && self.is("=") {
                return Err(self.by_position());
            }
            if !self.take(",") {
                self.demand(close)?;
                break;
            }
        }
        Ok(items)
    }
}
