//! Text to tokens.

use crate::error::{ExprError, Span};
use crate::value::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Literal(Value),
    /// 2^63, which is an integer of 64 bits only after `-`.
    Least,
    /// A name, dots included: `device.warp_size`.
    Name(String),
    /// An operator, a bracket or a keyword.
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 36] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<>", "+", "-", "*", "/", "%", "<",
    ">", "(", ")", "[", "]", ",", ":", "&", "|", "^", "~", "!", "{", "}", ";", "=", "?", "@", ".",
];

pub(super) const KEYWORDS: [&str; 9] = [
    "and", "or", "not", "in", "if", "else", "for", "is", "lambda",
];

/// Splits `text`; the last token is [`Token::End`].
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, ExprError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        let from = i;
        if c.is_ascii_whitespace() {
            i += 1;
            continue;
        }
        if c == b'#' {
            while i < bytes.len() && bytes[i] != b'\n' {
                i += 1;
            }
            continue;
        }
        let token = if c.is_ascii_digit()
            || (c == b'.' && bytes.get(i + 1).is_some_and(u8::is_ascii_digit))
        {
            i = number_end(bytes, i);
            number(&text[from..i], Span { from, to: i })?
        } else if c.is_ascii_alphabetic() || c == b'_' {
            while i < bytes.len()
                && (bytes[i].is_ascii_alphanumeric()
                    || bytes[i] == b'_'
                    || (bytes[i] == b'.'
                        && bytes
                            .get(i + 1)
                            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')))
            {
                i += 1;
            }
            if matches!(bytes.get(i), Some(b'"' | b'\'')) {
                prefix(&text[from..i], Span { from, to: i })?;
            }
            word(&text[from..i])
        } else if c == b'"' || c == b'\'' {
            let (string, end) = string(text, i)?;
            i = end;
            Token::Literal(Value::Str(string))
        } else if let Some(sign) = SIGNS.iter().find(|s| text[i..].starts_with(**s)) {
            i += sign.len();
            Token::Sign(sign)
        } else if c == b'\\' && text[i + 1..].trim_start_matches('\r').starts_with('\n') {
            return Err(ExprError::new(
                "`\\` joins no lines: put the expression between `(` and `)`",
                Span { from, to: i + 1 },
            ));
        } else {
            let to = text.ceil_char_boundary(i + 1);
            return Err(ExprError::new(
                format!(
                    "`{}` has no meaning here",
                    &text[text.floor_char_boundary(i)..to]
                ),
                Span { from, to },
            ));
        };
        out.push((token, Span { from, to: i }));
    }
    out.push((
        Token::End,
        Span {
            from: text.len(),
            to: text.len(),
        },
    ));
    Ok(out)
}

fn word(word: &str) -> Token {
    match word {
        "True" | "true" => Token::Literal(Value::Bool(true)),
        "False" | "false" => Token::Literal(Value::Bool(false)),
        "None" => Token::Literal(Value::None),
        _ => match KEYWORDS.iter().find(|k| **k == word) {
            Some(k) => Token::Sign(k),
            None => Token::Name(word.to_owned()),
        },
    }
}

fn number_end(bytes: &[u8], mut i: usize) -> usize {
    let hex = bytes[i] == b'0'
        && matches!(
            bytes.get(i + 1),
            Some(b'x' | b'X' | b'b' | b'B' | b'o' | b'O')
        );
    if hex {
        i += 2;
    }
    while i < bytes.len() {
        let b = bytes[i];
        let exponent_sign = !hex
            && matches!(b, b'+' | b'-')
            && matches!(bytes[i - 1], b'e' | b'E')
            && bytes.get(i + 1).is_some_and(u8::is_ascii_digit);
        if b.is_ascii_alphanumeric() || b == b'_' || (!hex && b == b'.') || exponent_sign {
            i += 1;
        } else {
            break;
        }
    }
    i
}

fn number(text: &str, span: Span) -> Result<Token, ExprError> {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_hexdigit);
    let prefix = |i: usize| i == 2 && matches!(bytes[1], b'x' | b'X' | b'b' | b'B' | b'o' | b'O');
    let apart = |i: usize| i > 0 && (digit(i - 1) || prefix(i)) && digit(i + 1);
    if (0..bytes.len()).any(|i| bytes[i] == b'_' && !apart(i)) {
        return Err(ExprError::new(format!("`{text}` is not a number"), span));
    }
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    let radix = match lower.get(..2) {
        Some("0x") => Some(16),
        Some("0b") => Some(2),
        Some("0o") => Some(8),
        _ => None,
    };
    if let Some(radix) = radix {
        return integer(&lower[2..], radix)
            .ok_or_else(|| ExprError::new(format!("`{text}` is not a number"), span));
    }
    if plain.bytes().all(|b| b.is_ascii_digit()) {
        if plain.starts_with('0') && plain.bytes().any(|b| b != b'0') {
            return Err(ExprError::new(
                format!(
                    "`{text}` starts with 0: write {}, or 0o{} for an octal number",
                    plain.trim_start_matches('0'),
                    plain.trim_start_matches('0')
                ),
                span,
            ));
        }
        return integer(&plain, 10)
            .ok_or_else(|| ExprError::new(format!("`{text}` does not fit 64 bits"), span));
    }
    match plain.parse::<f64>() {
        Ok(f) if f.is_finite() => Ok(Token::Literal(Value::Float(f))),
        _ => Err(ExprError::new(format!("`{text}` is not a number"), span)),
    }
}

fn integer(digits: &str, radix: u32) -> Option<Token> {
    match u64::from_str_radix(digits, radix).ok()? {
        n if n == i64::MIN.unsigned_abs() => Some(Token::Least),
        n => i64::try_from(n).ok().map(|i| Token::Literal(Value::Int(i))),
    }
}

/// Refuses a letter that gives the string after it another meaning.
fn prefix(word: &str, span: Span) -> Result<(), ExprError> {
    let instead = match word.to_ascii_lowercase().as_str() {
        "f" | "fr" | "rf" => "join the parts, as in `'a' + str(n)`",
        "r" => "write `\\\\` for a backslash",
        "u" | "b" | "br" | "rb" => "write the string alone",
        _ => return Ok(()),
    };
    let message = format!("`{word}` has no meaning before a string: {instead}");
    Err(ExprError::new(message, span))
}

/// The character of an escape after its `\`, and the bytes that it takes; or why there is none.
fn escaped(rest: &str) -> Result<(char, usize), String> {
    let c = rest.chars().next().unwrap_or_default();
    let digits = match c {
        'n' => return Ok(('\n', 1)),
        't' => return Ok(('\t', 1)),
        'r' => return Ok(('\r', 1)),
        '\\' | '\'' | '"' => return Ok((c, 1)),
        '\n' | '\r' => return Err("`\\` joins no lines: leave it out".into()),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => {
            return Err(format!(
                "invalid escape `\\{c}`: write the character itself, or `\\\\` for a backslash"
            ));
        }
    };
    let code = rest.get(1..=digits);
    code.filter(|c| c.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|c| u32::from_str_radix(c, 16).ok())
        .and_then(char::from_u32)
        .map(|made| (made, 1 + digits))
        .ok_or_else(|| format!("`\\{c}` takes the {digits} hexadecimal digits of a character"))
}

fn string(text: &str, start: usize) -> Result<(String, usize), ExprError> {
    let quote = &text[start..=start];
    let triple = quote.repeat(3);
    let end = if text[start..].starts_with(&triple) {
        triple.as_str()
    } else {
        quote
    };
    let mut out = String::new();
    let mut rest = &text[start + end.len()..];
    while !rest.starts_with(end) {
        let mut chars = rest.chars();
        match (chars.next(), rest.as_bytes().get(1)) {
            (None, _) => {
                return Err(ExprError::new(
                    "this string has no end",
                    Span {
                        from: start,
                        to: text.len(),
                    },
                ));
            }
            (Some('\\'), Some(_)) => {
                let after = chars.as_str();
                let (c, taken) = escaped(after).map_err(|message| {
                    let from = text.len() - rest.len();
                    let to = from + 1 + after.chars().next().map_or(0, char::len_utf8);
                    ExprError::new(message, Span { from, to })
                })?;
                out.push(c);
                chars = after[taken..].chars();
            }
            (Some('\\'), None) => {}
            (Some(c), _) => out.push(c),
        }
        rest = chars.as_str();
    }
    Ok((out, text.len() - rest.len() + end.len()))
}
