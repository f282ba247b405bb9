//! Messages name a setting by its flag, as in `--cg-max 0`. Functions of other languages take the same settings by name:
//! there, the message must say `cg_max=0`.

/// A setting that a function takes by name.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// Its name; the flag is the same with hyphens.
    pub name: &'static str,
    /// Which values follow the flag in messages.
    pub values: Values,
}

/// Values of a setting in messages.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// None: the flag is a switch, as `True` is.
    Switch,
    /// Numbers.
    Numbers,
    /// Text: one of these words, or a placeholder in capitals.
    Words(&'static [&'static str]),
}

/// A message with the flags of these settings as keywords: `--cg-max 0` is `cg_max=0`, `--device cuda` is `device="cuda"`, and
/// `a lower --order` is `a lower order`. Other flags stay.
pub fn with_keywords(text: &str, keywords: &[Keyword]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        out.push_str(before);
        let starts = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let name = run_of(&flag[2..], |c| {
            c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
        });
        let known = keywords
            .iter()
            .find(|k| starts && k.name == name.replace('-', "_"));
        rest = &flag[2 + name.len()..];
        match known {
            Some(keyword) => {
                out.push_str(keyword.name);
                rest = value(keyword, rest, &mut out);
            }
            None => {
                out.push_str("--");
                out.push_str(name);
            }
        }
    }
    out + rest
}

/// Writes the value that follows a flag, if one does; returns what is left.
fn value<'a>(keyword: &Keyword, rest: &'a str, out: &mut String) -> &'a str {
    let words = match keyword.values {
        Values::Switch => {
            out.push_str("=True");
            return rest;
        }
        Values::Numbers => &[],
        Values::Words(words) => words,
    };
    let Some(after) = rest.strip_prefix([' ', '=']) else {
        return rest;
    };
    let found = run_of(after, |c| !c.is_whitespace() && !";)`".contains(c))
        .trim_end_matches([':', ',', '.']);
    let capitals = !found.is_empty() && found.chars().all(|c| c.is_ascii_uppercase());
    let written = if words.contains(&found) {
        format!("={found:?}")
    } else if capitals || found.parse::<f64>().is_ok() {
        format!("={found}")
    } else {
        return rest;
    };
    out.push_str(&written);
    &after[found.len()..]
}

/// The characters at the start that fit.
fn run_of(text: &str, fits: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !fits(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_known_settings_become_keywords() {
        let keyword = |name, values| Keyword { name, values };
        let known = [
            keyword("cg_max", Values::Numbers),
            keyword("cfl", Values::Numbers),
            keyword("order", Values::Numbers),
            keyword("device", Values::Words(&["cpu", "cuda", "cuda:all"])),
            keyword("precision", Values::Words(&["f32"])),
            keyword("gradient", Values::Switch),
        ];
        for (flags, keywords) in [
            ("--cg-max 0: at least 1", "cg_max=0: at least 1"),
            ("--cfl -1: it must be above 0", "cfl=-1: it must be above 0"),
            (
                "--cfl NaN: it must be above 0",
                "cfl=NaN: it must be above 0",
            ),
            (
                "a smaller --cfl, a lower --order or --device cpu",
                "a smaller cfl, a lower order or device=\"cpu\"",
            ),
            (
                "use --device cuda:all: each GPU",
                "use device=\"cuda:all\": each GPU",
            ),
            (
                "a larger --ncrit, --precision f32, or more",
                "a larger --ncrit, precision=\"f32\", or more",
            ),
            ("omit --gradient", "omit gradient=True"),
            ("--order N; `--order 3`", "order=N; `order=3`"),
            (
                "--orders 3, a--order, -- and --",
                "--orders 3, a--order, -- and --",
            ),
            ("", ""),
        ] {
            assert_eq!(with_keywords(flags, &known), keywords);
        }
    }
}
