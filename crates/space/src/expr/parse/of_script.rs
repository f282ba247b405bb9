//! Reads what expressions of scripts have on top.

use super::Parsed;
use crate::error::ExprError;
use crate::expr::ast::{Expr, ExprKind, Form, Loop, OfScript};
use crate::expr::cursor::Parser;
use crate::expr::token::Token;

impl Parser {
    /// One value, or several as a tuple without parentheses.
    pub(crate) fn values(&mut self) -> Parsed {
        let start = self.span();
        let first = self.ternary()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take(",") {
            let ends = matches!(self.peek(), Token::End | Token::Sign("=" | ":"));
            if ends {
                break;
            }
            items.push(self.ternary()?);
        }
        Ok(Expr {
            kind: ExprKind::Tuple(items),
            span: self.join(start),
        })
    }

    /// What a `for` assigns to.
    pub(crate) fn loop_target(&mut self) -> Parsed {
        let start = self.span();
        let first = self.indexed()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take(",") && !self.is("in") {
            items.push(self.indexed()?);
        }
        Ok(Expr {
            kind: ExprKind::Tuple(items),
            span: self.join(start),
        })
    }

    /// An index or a slice, after its `[`.
    pub(super) fn subscript(&mut self, of: Expr) -> Result<ExprKind, ExprError> {
        let mut bounds = [None, None, None];
        if !(self.in_script && self.is(":")) {
            let index = if self.in_script {
                self.values()?
            } else {
                self.ternary()?
            };
            if !(self.in_script && self.is(":")) {
                self.demand("]")?;
                return Ok(ExprKind::Index(Box::new(of), Box::new(index)));
            }
            bounds[0] = Some(index);
        }
        for bound in &mut bounds[1..] {
            if self.take(":") && !self.is(":") && !self.is("]") {
                *bound = Some(self.ternary()?);
            }
        }
        self.demand("]")?;
        Ok(OfScript::Slice { of, bounds }.into())
    }

    /// The call of a method, after its `.`.
    pub(super) fn method_of(&mut self, of: Expr) -> Result<ExprKind, ExprError> {
        let (Token::Name(name), span) = self.advance() else {
            return Err(self.unexpected("a method is expected after `.`"));
        };
        if !self.take("(") {
            return Err(ExprError::new(
                "attributes are not available in scripts",
                span,
            ));
        }
        self.method(of, &name)
    }

    /// The call of a method, after its `(`.
    pub(super) fn method(&mut self, of: Expr, name: &str) -> Result<ExprKind, ExprError> {
        let mut args = Vec::new();
        if !self.take(")") {
            let start = self.span();
            let first = self.ternary()?;
            if self.is("=") {
                return Err(self.by_position());
            }
            if self.is("for") {
                args.push(Expr {
                    kind: self.loops(first, ")", Form::Generator)?,
                    span: self.join(start),
                });
            } else {
                args.push(first);
                if self.take(",") {
                    args.extend(self.items(")")?);
                } else {
                    self.demand(")")?;
                }
            }
        }
        let name = name.to_owned();
        Ok(OfScript::Method { of, name, args }.into())
    }

    pub(super) fn by_position(&self) -> ExprError {
        ExprError::new(
            "arguments have no names in scripts: give them by position",
            self.span(),
        )
    }

    /// The rest of a dictionary from its first `:` on.
    pub(super) fn dictionary(&mut self, first: Expr) -> Result<ExprKind, ExprError> {
        let mut key = first;
        let mut items = Vec::new();
        loop {
            self.demand(":")?;
            items.push((key, self.ternary()?));
            if self.is("for") && items.len() == 1 {
                let (key, value) = items.remove(0);
                let pair = Expr {
                    span: key.span,
                    kind: ExprKind::Tuple(vec![key, value]),
                };
                return self.loops(pair, "}", Form::Dict);
            }
            if !self.take(",") {
                self.demand("}")?;
                break;
            }
            if self.take("}") {
                break;
            }
            key = self.ternary()?;
        }
        Ok(OfScript::Dict(items).into())
    }

    /// The rest of a comprehension from its `for` on.
    pub(super) fn loops(
        &mut self,
        item: Expr,
        close: &str,
        form: Form,
    ) -> Result<ExprKind, ExprError> {
        let mut loops = Vec::new();
        while self.take("for") {
            let target = self.loop_target()?;
            self.demand("in")?;
            let source = self.or()?;
            let mut conditions = Vec::new();
            while self.take("if") {
                conditions.push(self.or()?);
            }
            loops.push(Loop {
                target,
                source,
                conditions,
            });
        }
        self.demand(close)?;
        Ok(OfScript::Comprehension { form, item, loops }.into())
    }
}
