//! Version, commit, target and features of this program.

use serde::Serialize;
use std::sync::OnceLock;

/// What this program was built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Version of the release, as `0.1.0`.
    pub version: &'static str,
    /// Git commit of the sources, 40 hexadecimal digits; `unknown` outside of a checkout.
    pub commit: &'static str,
    /// Target triple, as `x86_64-unknown-linux-gnu`.
    pub target: &'static str,
    /// Compiler of the program, as `rustc 1.90.0`.
    pub compiler: &'static str,
    /// Cargo features of the program that are enabled.
    pub features: &'static [&'static str],
}

static FEATURES: OnceLock<&'static [&'static str]> = OnceLock::new();

/// Names the enabled features of this program; once, before the command runs. Without it there are none.
pub fn set_features(features: &'static [&'static str]) {
    let _ = FEATURES.set(features);
}

/// What this program was built from.
pub fn version() -> Version {
    Version {
        version: env!("CARGO_PKG_VERSION"),
        commit: env!("GREENUP_COMMIT"),
        target: env!("GREENUP_TARGET"),
        compiler: env!("GREENUP_COMPILER"),
        features: FEATURES.get().copied().unwrap_or_default(),
    }
}

impl Version {
    /// `0.1.0 (0123456789ab)`: the version and the first digits of the commit.
    pub fn short(&self) -> String {
        let digits = self.commit.get(..12).unwrap_or(self.commit);
        format!("{} ({digits})", self.version)
    }

    /// Everything, on several lines.
    pub fn long(&self) -> String {
        format!(
            "{}\ncommit: {}\ntarget: {}\ncompiler: {}\nfeatures: {}",
            self.version,
            self.commit,
            self.target,
            self.compiler,
            self.features()
        )
    }

    /// Names of the features, `none` without any.
    pub fn features(&self) -> String {
        match self.features {
            [] => "none".to_owned(),
            some => some.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_has_the_first_digits_of_the_commit() {
        let mut v = Version {
            commit: "0123456789abcdef0123456789abcdef01234567",
            ..version()
        };
        assert_eq!(v.short(), format!("{} (0123456789ab)", v.version));
        assert!(v.long().contains("features: none") && v.long().contains(v.commit));
        v.commit = "unknown";
        v.features = &["hdf5", "x"];
        assert!(v.short().ends_with("(unknown)"));
        assert!(v.long().ends_with("features: hdf5, x"));
    }
}
