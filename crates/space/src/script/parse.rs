//! Lines to functions.

use super::functions;
use super::item::Item;
use super::lines::{Line, lines};
use super::lower::{Names, Shared, Signature, check_name, steps};
use super::tree::{Block, Do, Function, Node, Statement, Target};
use crate::error::{ExprError, Span};
use crate::expr::{BinaryOp, Expr, ExprKind, OfScript, Parser, Scope, Token, eval, reserved};

/// Blocks within each other at most, as in Python.
const MAX_BLOCKS: usize = 20;

/// The functions of a script, and the texts that stand in it.
pub(super) struct Program {
    pub functions: Vec<Function>,
    pub texts: Vec<Box<str>>,
}

pub(super) type Parsed<T> = Result<T, ExprError>;

pub(super) fn parse(text: &str) -> Parsed<Program> {
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
        let mut reader = Reader {
            lines: &lines[start..end],
            at: 0,
            names: Names::new(&mut shared, &parameters),
            blocks: 0,
            deepest: 0,
            loops: 0,
            generator: false,
        };
        let body = reader.function()?;
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
    })
}

/// What stands outside of functions: a text that describes the script, and nothing else.
fn at_the_top(line: &Line, is_first: bool) -> Parsed<()> {
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
fn unsupported(line: &Line) -> Parsed<()> {
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
fn signature(p: &mut Parser, shared: &mut Shared) -> Parsed<Signature> {
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
    let v = eval(e, &Scope::new(&|_: &str| None))?;
    shared.constant(&v).ok_or_else(|| {
        ExprError::new(
            "a default is a number, a string, a boolean or `None`",
            e.span,
        )
    })
}

/// Reads the lines of one function.
struct Reader<'a, 'b> {
    lines: &'a [Line],
    at: usize,
    names: Names<'b>,
    blocks: usize,
    deepest: usize,
    loops: usize,
    generator: bool,
}

impl Reader<'_, '_> {
    fn function(&mut self) -> Parsed<Block> {
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
