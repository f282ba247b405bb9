//! Tokens to a tree, with Python's precedence.

mod lists;
mod of_script;

use super::ast::{BinaryOp, CompareOp, Expr, ExprKind, Form, UnaryOp};
use super::comparable::comparable;
use super::cursor::Parser;
use super::operators::OVERFLOW;
use super::token::{KEYWORDS, Token};
use crate::error::{ExprError, Span};
use crate::value::Value;

/// How the values of a parameter are written.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// `start : stop : step`, stop included.
    Range {
        /// First value.
        start: Expr,
        /// Last possible value.
        stop: Expr,
        /// Distance of two values; 1 if absent.
        step: Option<Expr>,
    },
    /// Anything that gives a list.
    Values(Expr),
}

/// Levels of the tree at most.
const MAX_HEIGHT: usize = 500;

/// Reads one expression.
///
/// # Errors
/// The first place where the text is not an expression.
pub fn parse(text: &str) -> Result<Expr, ExprError> {
    read(Parser::new(text)?)
}

/// Reads one formula: as [`parse`], but `^` is power.
pub(super) fn parse_formula(text: &str) -> Result<Expr, ExprError> {
    let mut p = Parser::new(text)?;
    p.caret_is_power = true;
    read(p)
}

fn read(mut p: Parser) -> Result<Expr, ExprError> {
    let e = p.ternary()?;
    p.end()?;
    shallow(&e)?;
    Ok(e)
}

/// Limits the height of the tree, since evaluation recurses: a chain of operators nests to the left.
fn shallow(e: &Expr) -> Result<(), ExprError> {
    if e.height() > MAX_HEIGHT {
        return Err(ExprError::new(
            format!("more than {MAX_HEIGHT} operations within each other: name parts of it"),
            e.span,
        ));
    }
    Ok(())
}

/// Reads the values of a parameter: a range `start : stop : step` or an expression for a list.
///
/// # Errors
/// The first place where the text is neither.
pub fn parse_domain(text: &str) -> Result<Domain, ExprError> {
    domain(text).map_err(|e| match text.find("..") {
        Some(from) => ExprError::new(
            "a range is written `start : stop` or `start : stop : step`, as in `2 : 256`",
            Span { from, to: from + 2 },
        ),
        None => e,
    })
}

fn domain(text: &str) -> Result<Domain, ExprError> {
    let mut p = Parser::new(text)?;
    let start = p.ternary()?;
    if !p.take(":") {
        p.end()?;
        shallow(&start)?;
        return Ok(Domain::Values(start));
    }
    let stop = p.ternary()?;
    let step = if p.take(":") {
        Some(p.ternary()?)
    } else {
        None
    };
    p.end()?;
    for e in [Some(&start), Some(&stop), step.as_ref()]
        .into_iter()
        .flatten()
    {
        shallow(e)?;
    }
    Ok(Domain::Range { start, stop, step })
}

pub(crate) type Parsed = Result<Expr, ExprError>;

/// Left-associative levels below comparison, loosest first.
const LEVELS: [&[(&str, BinaryOp)]; 6] = [
    &[("|", BinaryOp::BitOr)],
    &[("^", BinaryOp::BitXor)],
    &[("&", BinaryOp::BitAnd)],
    &[("<<", BinaryOp::Shl), (">>", BinaryOp::Shr)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
    &[
        ("*", BinaryOp::Mul),
        ("/", BinaryOp::Div),
        ("//", BinaryOp::FloorDiv),
        ("%", BinaryOp::Mod),
    ],
];

impl Parser {
    pub(crate) fn ternary(&mut self) -> Parsed {
        self.deeper()?;
        let start = self.span();
        let then = self.or()?;
        let e = if self.take("if") {
            let condition = self.or()?;
            self.demand("else")?;
            let otherwise = self.ternary()?;
            Expr {
                span: self.join(start),
                kind: ExprKind::IfElse {
                    condition: Box::new(condition),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                },
            }
        } else {
            then
        };
        self.depth -= 1;
        Ok(e)
    }

    pub(super) fn or(&mut self) -> Parsed {
        self.chain(&["or", "||"], Self::and, ExprKind::Any)
    }

    fn and(&mut self) -> Parsed {
        self.chain(&["and", "&&"], Self::not, ExprKind::All)
    }

    fn chain(
        &mut self,
        signs: &[&str],
        next: fn(&mut Self) -> Parsed,
        kind: fn(Vec<Expr>) -> ExprKind,
    ) -> Parsed {
        let start = self.span();
        let first = next(self)?;
        if !signs.iter().any(|s| self.is(s)) {
            return Ok(first);
        }
        let mut items = vec![first];
        while signs.iter().any(|s| self.take(s)) {
            items.push(next(self)?);
        }
        Ok(Expr {
            kind: kind(items),
            span: self.join(start),
        })
    }

    fn not(&mut self) -> Parsed {
        let start = self.span();
        if self.take("not") || self.take("!") {
            self.deeper()?;
            let e = self.not()?;
            self.depth -= 1;
            return Ok(Expr {
                kind: ExprKind::Unary(UnaryOp::Not, Box::new(e)),
                span: self.join(start),
            });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let start = self.span();
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(op) = self.comparison_sign()? {
            let right = self.binary(0)?;
            let left = rest.last().map_or(&first, |(_, e)| e);
            if !self.in_script {
                comparable(op, left, &right)?;
            }
            rest.push((op, right));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr {
            kind: ExprKind::Compare(Box::new(first), rest),
            span: self.join(start),
        })
    }

    fn comparison_sign(&mut self) -> Result<Option<CompareOp>, ExprError> {
        let op = match self.peek() {
            Token::Sign("==") => CompareOp::Eq,
            Token::Sign("!=") => CompareOp::Ne,
            Token::Sign("<>") => {
                return Err(ExprError::new(
                    "`<>` does not compare: write `!=`",
                    self.span(),
                ));
            }
            Token::Sign("<=") => CompareOp::Le,
            Token::Sign(">=") => CompareOp::Ge,
            Token::Sign("<") => CompareOp::Lt,
            Token::Sign(">") => CompareOp::Gt,
            Token::Sign("in") => CompareOp::In,
            Token::Sign("is") => {
                self.advance();
                return Ok(Some(if self.take("not") {
                    CompareOp::IsNot
                } else {
                    CompareOp::Is
                }));
            }
            Token::Sign("not") => {
                self.advance();
                self.demand("in")?;
                return Ok(Some(CompareOp::NotIn));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(op))
    }

    fn binary(&mut self, level: usize) -> Parsed {
        let Some(ops) = LEVELS.get(level) else {
            return self.unary();
        };
        let start = self.span();
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, op)) = ops
            .iter()
            .find(|(s, op)| self.is(s) && !(self.caret_is_power && *op == BinaryOp::BitXor))
        {
            self.advance();
            let right = self.binary(level + 1)?;
            left = Expr {
                kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                span: self.join(start),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let start = self.span();
        let op = match self.peek() {
            Token::Sign("-") => UnaryOp::Negate,
            Token::Sign("+") => UnaryOp::Plus,
            Token::Sign("~") => UnaryOp::Invert,
            _ => return self.power(),
        };
        self.advance();
        if op == UnaryOp::Negate && *self.peek() == Token::Least {
            self.advance();
            return Ok(Expr {
                kind: ExprKind::Literal(Value::Int(i64::MIN)),
                span: self.join(start),
            });
        }
        self.deeper()?;
        let e = self.unary()?;
        self.depth -= 1;
        Ok(Expr {
            kind: ExprKind::Unary(op, Box::new(e)),
            span: self.join(start),
        })
    }

    fn power(&mut self) -> Parsed {
        let start = self.span();
        let base = self.indexed()?;
        if !(self.take("**") || (self.caret_is_power && self.take("^"))) {
            return Ok(base);
        }
        // Binds tighter than a sign on its left, looser than one on its right.
        self.deeper()?;
        let exponent = self.unary()?;
        self.depth -= 1;
        Ok(Expr {
            kind: ExprKind::Binary(BinaryOp::Pow, Box::new(base), Box::new(exponent)),
            span: self.join(start),
        })
    }

    pub(super) fn indexed(&mut self) -> Parsed {
        let start = self.span();
        let mut base = self.atom()?;
        loop {
            let kind = if self.take("[") {
                self.deeper()?;
                let kind = self.subscript(base)?;
                self.depth -= 1;
                kind
            } else if self.in_script && self.take(".") {
                self.method_of(base)?
            } else {
                return Ok(base);
            };
            base = Expr {
                kind,
                span: self.join(start),
            };
        }
    }

    fn atom(&mut self) -> Parsed {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Literal(v) => {
                self.advance();
                let texts = (&v, self.peek());
                if let (Value::Str(_), Token::Literal(Value::Str(_))) = texts {
                    return Err(ExprError::new(
                        "a string stands after another: write `+` between them",
                        self.span(),
                    ));
                }
                ExprKind::Literal(v)
            }
            Token::Least => return Err(ExprError::new(OVERFLOW, start)),
            Token::Sign("*" | "**") => {
                return Err(ExprError::new(
                    "`*` unpacks nothing here: write the elements, or join lists by `+`",
                    start,
                ));
            }
            Token::Name(n) => {
                self.advance();
                if self.take("(") {
                    match n.rsplit_once('.') {
                        Some((of, method)) if self.in_script && of != "math" => {
                            let kind = ExprKind::Name(of.to_owned());
                            self.method(Expr { kind, span: start }, method)?
                        }
                        _ => self.call(n, start)?,
                    }
                } else {
                    ExprKind::Name(n)
                }
            }
            Token::Sign("(") => {
                self.advance();
                if self.take(")") {
                    ExprKind::Tuple(Vec::new())
                } else {
                    let first = self.ternary()?;
                    if self.is("for") {
                        return Err(ExprError::new(
                            "a generator is the only value of a call: write a list, `[… for …]`",
                            self.span(),
                        ));
                    }
                    if self.is(",") {
                        self.advance();
                        let mut items = vec![first];
                        items.extend(self.items(")")?);
                        ExprKind::Tuple(items)
                    } else {
                        self.demand(")")?;
                        return Ok(Expr {
                            span: self.join(start),
                            ..first
                        });
                    }
                }
            }
            Token::Sign(open @ ("[" | "{")) => {
                self.advance();
                match open {
                    "[" => self.list("]", Form::List)?,
                    _ => self.list("}", Form::Set)?,
                }
            }
            Token::Sign("lambda") if self.in_script => {
                return Err(ExprError::new(
                    "`lambda` is not available in scripts: write a `def`",
                    start,
                ));
            }
            Token::Sign("lambda") => {
                return Err(ExprError::new(
                    "functions cannot be defined here: write the expression itself",
                    start,
                ));
            }
            _ => return Err(self.unexpected("a value is expected")),
        };
        Ok(Expr {
            kind,
            span: self.join(start),
        })
    }
}

/// Whether a word has a meaning of its own in expressions, so that nothing can have it as a name. A parameter may be called
/// `lambda`, as in other tuners: only an expression cannot use it.
pub(crate) fn reserved(word: &str) -> bool {
    (KEYWORDS.contains(&word) && word != "lambda")
        || matches!(word, "True" | "true" | "False" | "false" | "None")
}

impl From<Value> for Expr {
    fn from(v: Value) -> Self {
        Self {
            kind: ExprKind::Literal(v),
            span: Span::default(),
        }
    }
}
