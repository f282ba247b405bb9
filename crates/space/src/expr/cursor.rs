//! Cursor over the tokens of an expression.

use super::token::{Token, tokens};
use crate::error::{ExprError, Span};

/// Deeper nesting is refused, so that no input can exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Bytes of one expression at most.
const MAX_TEXT: usize = 1 << 16;

/// Tokens, read position and nesting depth.
pub(crate) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    pub(super) depth: usize,
    /// `^` is power, as in formulas, instead of Python's exclusive or.
    pub(super) caret_is_power: bool,
    /// Methods, slices and dictionaries are there.
    pub(super) in_script: bool,
}

impl Parser {
    pub(super) fn new(text: &str) -> Result<Self, ExprError> {
        if text.len() > MAX_TEXT {
            return Err(ExprError::new(
                format!("longer than {MAX_TEXT} bytes"),
                Span::default(),
            ));
        }
        Ok(Self::of(tokens(text)?))
    }

    fn of(tokens: Vec<(Token, Span)>) -> Self {
        Self {
            tokens,
            at: 0,
            depth: 0,
            caret_is_power: false,
            in_script: false,
        }
    }

    /// One line of a script, [`Token::End`] last.
    pub(crate) fn of_line(tokens: Vec<(Token, Span)>) -> Self {
        Self {
            in_script: true,
            ..Self::of(tokens)
        }
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(crate) fn advance(&mut self) -> (Token, Span) {
        let t = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        t
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    /// Whether a name stands here.
    pub(crate) fn stands(&self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(n) if n == name)
    }

    pub(crate) fn take(&mut self, sign: &str) -> bool {
        let yes = self.is(sign);
        if yes {
            self.advance();
        }
        yes
    }

    pub(crate) fn demand(&mut self, sign: &str) -> Result<(), ExprError> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{sign}` is expected here")))
        }
    }

    pub(crate) fn unexpected(&self, what: &str) -> ExprError {
        let found = match self.peek() {
            Token::End if self.in_script => "the line ends".to_owned(),
            Token::End => "the expression ends".to_owned(),
            Token::Sign(s) => format!("`{s}` stands here"),
            Token::Name(n) => format!("`{n}` stands here"),
            Token::Literal(v) => format!("`{}` stands here", v.literal()),
            Token::Least => "an integer beyond 64 bits stands here".to_owned(),
        };
        ExprError::new(format!("{what}, but {found}"), self.span())
    }

    pub(crate) fn end(&self) -> Result<(), ExprError> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Sign("=") => Err(ExprError::new(
                "`=` does not compare: write `==`",
                self.span(),
            )),
            _ => Err(self.unexpected("an operator or the end is expected")),
        }
    }

    pub(super) fn deeper(&mut self) -> Result<(), ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError::new(
                format!("nested more than {MAX_DEPTH} deep"),
                self.span(),
            ));
        }
        Ok(())
    }

    pub(super) fn join(&self, from: Span) -> Span {
        Span {
            from: from.from,
            to: self.tokens[self.at.saturating_sub(1)].1.to.max(from.to),
        }
    }
}
