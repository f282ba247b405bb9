//! Names in sources that macros of the problem replace: compilers do not name that cause.

use super::included::included;
use std::path::PathBuf;

/// Words that may stand before a name without declaring it.
const NOT_TYPES: [&str; 14] = [
    "return", "else", "case", "goto", "sizeof", "define", "defined", "ifdef", "ifndef", "undef",
    "if", "elif", "new", "delete",
];

/// Which of these macros a source declares as a name of its own, such as a parameter of a function, as a sentence with the
/// fix; `None` if there is none.
pub(super) fn shadowed<'n>(
    sources: &[PathBuf],
    macros: impl Iterator<Item = &'n str> + Clone,
) -> Option<String> {
    for file in included(sources) {
        let Ok(text) = greenup_files::read_text(&file) else {
            continue;
        };
        let text = without_comments(&text);
        let found = text.lines().enumerate().find_map(|(i, code)| {
            let name = macros.clone().find(|name| declares(code, name))?;
            Some((i + 1, name))
        });
        if let Some((line, name)) = found {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            return Some(format!(
                "`{name}` is a constant or parameter of the problem, and so a macro, but {file} declares it in line {line}: give one of them another name"
            ));
        }
    }
    None
}

/// The text with its comments left out, but for the ends of their lines.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = match from.as_bytes().get(1) {
            Some(b'/') => from.find('\n').unwrap_or(from.len()),
            Some(b'*') => from.find("*/").map_or(from.len(), |e| e + 2),
            _ => {
                out.push('/');
                1
            }
        };
        out.extend(from[..end].chars().filter(|c| *c == '\n'));
        rest = &from[end..];
    }
    out + rest
}

/// Whether a line of C declares a name: a type stands before it, and after it what ends a declaration.
fn declares(code: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let type_part = before.trim_end_matches(|c: char| c.is_whitespace() || c == '*' || c == '&');
        let word = type_part.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        let is_type = word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !NOT_TYPES.contains(&word)
            // A factor or an operand of `&` has its space on both sides, or on none.
            && (before.ends_with(char::is_whitespace) && type_part.len() == before.trim_end().len()
                || before.ends_with(['*', '&']) && before[type_part.len()..].starts_with(char::is_whitespace));
        is_type && after.trim_start().starts_with([',', ')', ';', '=', '[']) && !after.trim_start().starts_with("==")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_told_from_uses() {
        for code in [
            "void f(double *y, int n) {",
            "__kernel void f(__global float *n, int m)",
            "  const long n = 3;",
            "void f(size_t n,",
            "double n[4];",
            "int *n)",
        ] {
            assert!(declares(code, "n"), "{code}");
        }
        for code in [
            "for (int i = 0; i < n; i++)",
            "return n;",
            "x = a * n;",
            "f(a, n);",
            "double y[n];",
            "if (i == n)",
            "#define n 3",
            "int nn, m;",
            "#ifdef n",
        ] {
            assert!(!declares(code, "n"), "{code}");
        }
    }

    #[test]
    fn the_file_and_the_line_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("k.c");
        std::fs::write(&file, "#include \"k.h\"\nvoid f(int m) { g(n); }\n").unwrap();
        assert_eq!(
            shadowed(std::slice::from_ref(&file), ["n"].into_iter()),
            None
        );
        std::fs::write(
            dir.path().join("k.h"),
            "/* rows,\n columns n, */ // int n;\nvoid g(int n);\n",
        )
        .unwrap();
        let found = shadowed(&[file], ["tile", "n"].into_iter()).unwrap();
        assert!(
            found.starts_with("`n` is a constant") && found.contains("k.h declares it in line 3"),
            "{found}"
        );
    }
}
