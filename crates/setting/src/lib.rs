//! How messages name a setting. A library knows the setting, not who gave it: on the command line it is the flag `--cg-max`, for
//! a function of another language the keyword `cg_max`. [`shell`] writes the commands that messages and results name.
//!
//! ```
//! use greenup_setting::setting;
//! let fix = format!("use {} or a lower {}", setting("device").to("cpu"), setting("order"));
//! assert_eq!(fix, "use --device cpu or a lower --order");
//! ```
#![warn(missing_docs)]

pub mod shell;

use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How the front end of this process takes settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As flags of a command.
    Flags,
    /// As keyword arguments of functions, written as in Python.
    Keywords,
}

static KEYWORDS: AtomicBool = AtomicBool::new(false);

/// Chooses how messages name settings from now on; by default as flags.
pub fn name_settings(style: Style) {
    KEYWORDS.store(style == Style::Keywords, Relaxed);
}

/// How messages name settings.
pub fn style() -> Style {
    if KEYWORDS.load(Relaxed) {
        Style::Keywords
    } else {
        Style::Flags
    }
}

/// The name of a setting in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting(&'static str);

/// The setting of a name, with underscores between its words.
pub const fn setting(name: &'static str) -> Setting {
    Setting(name)
}

impl Setting {
    /// The setting with a value: `--cg-max 0`, `cg_max=0`; `--device cpu`, `device="cpu"`. A placeholder in capitals, such as
    /// FILE, stays as it is.
    pub fn to(self, value: impl Display) -> String {
        let value = value.to_string();
        let placeholder = value.bytes().all(|b| b.is_ascii_uppercase());
        match style() {
            Style::Flags => format!("{self} {value}"),
            Style::Keywords if placeholder || value.parse::<f64>().is_ok() => {
                format!("{self}={value}")
            }
            Style::Keywords => format!("{self}={value:?}"),
        }
    }

    /// The setting switched on: `--gradient`, `gradient=True`.
    pub fn on(self) -> String {
        match style() {
            Style::Flags => self.to_string(),
            Style::Keywords => format!("{self}=True"),
        }
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match style() {
            Style::Flags => write!(f, "--{}", self.0.replace('_', "-")),
            Style::Keywords => f.write_str(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test of both: the style is that of the process.
    #[test]
    fn settings_are_flags_or_keywords() {
        let messages = || {
            [
                format!("a smaller {}", setting("cfl")),
                setting("cg_max").to(0),
                setting("cfl").to(f64::NAN),
                setting("accuracy").to(format_args!("{:e}", 3e-11)),
                setting("device").to("cuda:all"),
                setting("wisdom").to("FILE"),
                setting("gradient").on(),
            ]
        };
        let flags = [
            "a smaller --cfl",
            "--cg-max 0",
            "--cfl NaN",
            "--accuracy 3e-11",
            "--device cuda:all",
            "--wisdom FILE",
            "--gradient",
        ];
        let keywords = [
            "a smaller cfl",
            "cg_max=0",
            "cfl=NaN",
            "accuracy=3e-11",
            "device=\"cuda:all\"",
            "wisdom=FILE",
            "gradient=True",
        ];
        assert_eq!(messages(), flags);
        name_settings(Style::Keywords);
        assert_eq!(messages(), keywords);
        name_settings(Style::Flags);
        assert_eq!(messages(), flags);
    }
}
