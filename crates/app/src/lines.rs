//! How long the lines of standard output may be.

use std::ffi::OsStr;

/// Lines are never made shorter.
const LEAST: usize = 80;

/// Columns of a line: `COLUMNS` where it is set and not 0, else those of the terminal; `None` where standard output is no terminal,
/// so that pipes and files get all.
pub fn width() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    chosen(
        std::env::var_os("COLUMNS").as_deref(),
        terminal.map(|(w, _)| w.0.into()),
        std::io::IsTerminal::is_terminal(&std::io::stdout()),
    )
}

fn chosen(columns: Option<&OsStr>, terminal: Option<usize>, is_terminal: bool) -> Option<usize> {
    let columns = columns.and_then(OsStr::to_str);
    let columns = columns.and_then(|text| text.trim().parse().ok());
    let known = |width: Option<usize>| width.filter(|w| *w > 0);
    let known = known(columns).or(known(terminal));
    known.or(is_terminal.then_some(LEAST)).map(|w| w.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_first_and_pipes_have_no_end() {
        let of =
            |text: &str, width, is| chosen((!text.is_empty()).then_some(text.as_ref()), width, is);
        assert_eq!(of("100", Some(120), true), Some(100));
        assert_eq!(of("", Some(120), true), Some(120));
        assert_eq!(of("wide", Some(120), true), Some(120));
        assert_eq!(of("20", None, false), Some(80));
        assert_eq!(of("", Some(0), true), Some(80));
        assert_eq!(of("", None, true), Some(80));
        assert_eq!(of("", None, false), None);
        assert_eq!(of("0", None, false), None);
        assert_eq!(of("0", Some(120), true), Some(120));
    }
}
