//! The lines of one function to statements.

use super::header::{Parsed, signature, unsupported};
use super::lines::Line;
use super::lower::{Names, Shared, steps};
use super::tree::{Block, Do, Node, Statement, Target};
use crate::error::ExprError;
use crate::expr::{BinaryOp, Expr, ExprKind, OfScript, Parser, Token};

/// Blocks within each other at most, as in Python.
const MAX_BLOCKS: usize = 20;

/// Reads the lines of one function.
pub struct Reader<'a, 'b> {
    lines: &'a [Line],
    at: usize,
    pub names: Names<'b>,
    blocks: usize,
    /// Blocks within each other.
    pub deepest: usize,
    loops: usize,
    /// It has `yield`.
    pub generator: bool,
}

impl<'a, 'b> Reader<'a, 'b> {
    /// A reader of a function, its header in the first line.
    pub fn new(lines: &'a [Line], names: Names<'b>) -> Self {
        Self {
            lines,
            at: 0,
            names,
            blocks: 0,
            deepest: 0,
            loops: 0,
            generator: false,
        }
    }

    /// The statements after its header.
    pub fn body(&mut self) -> Parsed<Block> {
        let line = &self.lines[0];
        let mut p = Parser::of_line(line.tokens.clone());
        signature(&mut p, &mut Shared::default())?;
        self.at = 1;
        let body = self.suite(&mut p, line)?;
        match self.lines.get(self.at) {
            Some(line) => Err(ExprError::new(
                "the indentation of this line fits no block above it",
                line.span(),
            )),
            None => Ok(body),
        }
    }

    /// The statements after a colon: in its line, or indented below.
    fn suite(&mut self, p: &mut Parser, of: &Line) -> Parsed<Block> {
        if *p.peek() != Token::End {
            if ["if", "while", "for", "def"]
                .iter()
                .any(|w| p.is(w) || p.stands(w))
            {
                return Err(ExprError::new(
                    "this statement needs a line of its own",
                    p.span(),
                ));
            }
            return Ok(vec![self.simple(p)?]);
        }
        self.blocks += 1;
        self.deepest = self.deepest.max(self.blocks);
        if self.blocks > MAX_BLOCKS {
            return Err(ExprError::new(
                format!("blocks within each other more than {MAX_BLOCKS} deep"),
                of.span(),
            ));
        }
        let lines = self.lines;
        let indent = match lines.get(self.at) {
            Some(first) if first.indent > of.indent => first.indent,
            _ => {
                return Err(ExprError::new(
                    "indented statements are expected below this line; `pass` does nothing",
                    of.span(),
                ));
            }
        };
        let mut block = Vec::new();
        while let Some(line) = lines.get(self.at).filter(|l| l.indent >= indent) {
            if line.indent > indent {
                return Err(ExprError::new(
                    "this line is indented more than the one above it",
                    line.span(),
                ));
            }
            self.at += 1;
            block.push(self.statement(line)?);
        }
        if let Some(line) = lines.get(self.at).filter(|l| l.indent > of.indent) {
            return Err(ExprError::new(
                "the indentation of this line fits no block above it",
                line.span(),
            ));
        }
        self.blocks -= 1;
        Ok(block)
    }

    fn statement(&mut self, line: &Line) -> Parsed<Statement> {
        unsupported(line)?;
        let mut p = Parser::of_line(line.tokens.clone());
        let at = line.span().from;
        match line.first() {
            "if" => {
                p.advance();
                let (what, steps) = self.conditional(&mut p, line)?;
                Ok(Statement { at, steps, what })
            }
            "while" => {
                p.advance();
                let (condition, steps) = self.condition(&mut p)?;
                let body = self.loop_body(&mut p, line)?;
                let what = Do::While(condition, body);
                Ok(Statement { at, steps, what })
            }
            "for" => {
                p.advance();
                let target = p.loop_target()?;
                let target = self.names.target(&target)?;
                p.demand("in")?;
                let (source, steps) = self.values(&mut p)?;
                p.demand(":")?;
                let body = self.loop_body(&mut p, line)?;
                let what = Do::For(target, source, body);
                Ok(Statement { at, steps, what })
            }
            "def" => Err(ExprError::new(
                "functions do not stand within each other: write this one without indentation",
                line.span(),
            )),
            "elif" | "else" => Err(ExprError::new(
                format!("`{}` stands below no `if` of its indentation", line.first()),
                line.span(),
            )),
            _ => self.simple(&mut p),
        }
    }

    fn values(&mut self, p: &mut Parser) -> Parsed<(Node, u64)> {
        let e = p.values()?;
        Ok((self.names.expr(&e)?, steps(e.size())))
    }

    fn condition(&mut self, p: &mut Parser) -> Parsed<(Node, u64)> {
        let e = p.ternary()?;
        if p.is("=") {
            return Err(ExprError::new("`=` does not compare: write `==`", p.span()));
        }
        p.demand(":")?;
        Ok((self.names.expr(&e)?, steps(e.size())))
    }

    fn loop_body(&mut self, p: &mut Parser, line: &Line) -> Parsed<Block> {
        self.loops += 1;
        let body = self.suite(p, line)?;
        self.loops -= 1;
        match self.lines.get(self.at) {
            Some(next) if next.indent == line.indent && next.first() == "else" => {
                Err(ExprError::new(
                    "a loop has no `else` here: set a variable before `break`",
                    next.span(),
                ))
            }
            _ => Ok(body),
        }
    }

    /// The branches of an `if`, after this word.
    fn conditional(&mut self, p: &mut Parser, line: &Line) -> Parsed<(Do, u64)> {
        let lines = self.lines;
        let (condition, mut steps) = self.condition(p)?;
        let mut branches = vec![(condition, self.suite(p, line)?)];
        let mut otherwise = Vec::new();
        while let Some(next) = lines.get(self.at).filter(|l| l.indent == line.indent) {
            if !["elif", "else"].contains(&next.first()) {
                break;
            }
            self.at += 1;
            let mut p = Parser::of_line(next.tokens.clone());
            p.advance();
            if next.first() == "else" {
                p.demand(":")?;
                otherwise = self.suite(&mut p, next)?;
                break;
            }
            let (condition, more) = self.condition(&mut p)?;
            steps += more;
            branches.push((condition, self.suite(&mut p, next)?));
        }
        Ok((Do::If(branches, otherwise), steps))
    }

    /// A statement in one line.
    fn simple(&mut self, p: &mut Parser) -> Parsed<Statement> {
        let span = p.span();
        let word = match p.peek() {
            Token::Name(n) => n.clone(),
            _ => String::new(),
        };
        let mut cost = 1;
        let what = match word.as_str() {
            "pass" => {
                p.advance();
                Do::Nothing
            }
            "break" | "continue" => {
                p.advance();
                if self.loops == 0 {
                    return Err(ExprError::new(format!("`{word}` stands in no loop"), span));
                }
                if word == "break" {
                    Do::Break
                } else {
                    Do::Continue
                }
            }
            "return" => {
                p.advance();
                if *p.peek() == Token::End {
                    Do::Return(None)
                } else {
                    let (value, steps) = self.values(p)?;
                    cost = steps;
                    Do::Return(Some(value))
                }
            }
            "yield" => {
                p.advance();
                self.generator = true;
                if p.stands("from") {
                    let message = "`yield from` is not available in scripts: write a loop";
                    return Err(ExprError::new(message, p.span()));
                }
                let (value, steps) = self.values(p)?;
                cost = steps;
                Do::Yield(value)
            }
            _ => {
                let (what, steps) = self.assignment(p)?;
                cost = steps;
                what
            }
        };
        match p.peek() {
            Token::End => Ok(Statement {
                at: span.from,
                steps: cost,
                what,
            }),
            _ => Err(p.unexpected("an operator or the end of the line is expected")),
        }
    }

    fn assignment(&mut self, p: &mut Parser) -> Parsed<(Do, u64)> {
        let first = p.values()?;
        if let Some(op) = update(p.peek()) {
            p.advance();
            let target = match self.names.target(&first)? {
                Target::Unpack(..) => {
                    return Err(ExprError::new(
                        "one name or element is expected here",
                        first.span,
                    ));
                }
                target => target,
            };
            let (value, steps) = self.values(p)?;
            return Ok((Do::Update(target, op, value), steps));
        }
        if p.is(":") {
            let message = "`:` has no meaning here: variables have no types in scripts";
            return Err(ExprError::new(message, p.span()));
        }
        if !p.is("=") {
            return self.statement_of(&first, p);
        }
        let mut targets = Vec::new();
        let mut last = first;
        while p.take("=") {
            targets.push(self.names.target(&last)?);
            last = p.values()?;
        }
        let value = self.names.expr(&last)?;
        Ok((Do::Assign(targets, value), steps(1 + last.size())))
    }

    /// An expression as a statement: a call, or a text that describes.
    fn statement_of(&mut self, e: &Expr, p: &Parser) -> Parsed<(Do, u64)> {
        let call = match &e.kind {
            ExprKind::Call(..) => true,
            ExprKind::Script(s) => matches!(**s, OfScript::Method { .. }),
            ExprKind::Literal(crate::value::Value::Str(_)) => return Ok((Do::Nothing, 1)),
            _ => false,
        };
        if *p.peek() != Token::End {
            return Err(p.unexpected("an operator or the end of the line is expected"));
        }
        if !call {
            return Err(ExprError::new(
                "nothing uses this value: is `return` or `=` missing?",
                e.span,
            ));
        }
        Ok((Do::Value(self.names.expr(e)?), steps(e.size())))
    }
}

/// The operator of `+=` and its like.
fn update(token: &Token) -> Option<BinaryOp> {
    Some(match token {
        Token::Sign("+=") => BinaryOp::Add,
        Token::Sign("-=") => BinaryOp::Sub,
        Token::Sign("*=") => BinaryOp::Mul,
        Token::Sign("/=") => BinaryOp::Div,
        Token::Sign("//=") => BinaryOp::FloorDiv,
        Token::Sign("%=") => BinaryOp::Mod,
        Token::Sign("**=") => BinaryOp::Pow,
        Token::Sign("<<=") => BinaryOp::Shl,
        Token::Sign(">>=") => BinaryOp::Shr,
        Token::Sign("&=") => BinaryOp::BitAnd,
        Token::Sign("|=") => BinaryOp::BitOr,
        Token::Sign("^=") => BinaryOp::BitXor,
        _ => return None,
    })
}
