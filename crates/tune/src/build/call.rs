//! The function that calls a kernel: what it is, and its object, which configs share.

use super::compile::{Unit, compiler};
use crate::problem::Language;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags by which macros may change what the wrapper says, or what language a file is in.
const OTHERWISE: [&str; 6] = ["-x", "-include", "--include", "-imacros", "-Wp,", "@"];

impl Unit<'_> {
    /// The function that calls the kernel with an array of pointers, `n` times.
    pub(super) fn wrapper(&self) -> String {
        let mut out = String::from("#include <stdint.h>\n");
        let (mut types, mut args) = (Vec::new(), Vec::new());
        for (i, d) in self.data.iter().enumerate() {
            let (name, star) = (d.kind.c_name(), if d.len.is_some() { "" } else { "*" });
            types.push(match d.len {
                Some(_) => format!("{name} *"),
                None => name.to_owned(),
            });
            args.push(format!("{star}({name} *)greenup_a[{i}]"));
        }
        if self.stream {
            types.push("void *".to_owned());
            args.push(format!("greenup_a[{}]", self.data.len()));
        }
        if types.is_empty() {
            types.push("void".to_owned());
        }
        let (external, head) = match self.build.language {
            Language::Cpp => ("extern \"C\"", "extern \"C\" "),
            _ => ("extern", ""),
        };
        let result = self.returns.map_or("void", |_| "float");
        let list = types.join(", ");
        let _ = writeln!(out, "{external} {result} {}({list});", self.entry);
        let mut call = format!("{}({});", self.entry, args.join(", "));
        if let Some(unit) = self.returns {
            // The worker sets it to zero and reads it, s.
            let _ = match head {
                "" => writeln!(out, "double greenup_returned;"),
                _ => writeln!(out, "extern \"C\" {{ double greenup_returned; }}"),
            };
            call = format!("greenup_returned += {:e} * (double){call}", unit.seconds());
        }
        let _ = writeln!(
            out,
            "{head}void greenup_run(void **greenup_a, int64_t greenup_n) {{\n    for (; greenup_n > 0; greenup_n--) {call}\n}}"
        );
        out
    }

    /// Whether the function that calls the kernel is the same for all configs: no macro is a word of it, and no flag reads them otherwise.
    pub(super) fn same_for_all(&self) -> bool {
        let wrapper = self.wrapper();
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = wrapper.split(|c| !name(c)).collect();
        let macros = self.defines.iter().map(|d| {
            let d = d.strip_prefix("-D").unwrap_or(d);
            &d[..d.find(|c| !name(c)).unwrap_or(d.len())]
        });
        macros.into_iter().all(|m| !words.contains(m))
            && !(self.flags().iter()).any(|f| OTHERWISE.iter().any(|o| f.starts_with(o)))
    }

    /// That function compiled, once for all configs; `None` where it cannot be by itself.
    pub(super) fn object(&self, dir: &Path) -> Option<PathBuf> {
        let mut h = DefaultHasher::new();
        (self.wrapper(), self.flags(), compiler(self.build)).hash(&mut h);
        let stem = format!("call-{:016x}", h.finish());
        let [object, none] = ["o", "none"].map(|end| dir.join(format!("{stem}.{end}")));
        if object.is_file() {
            return Some(object);
        }
        if none.exists() {
            return None;
        }
        // Two threads may do it at the same time.
        let own = format!("{stem}-{:?}", std::thread::current().id());
        let source = dir.join(format!("{own}.{}", self.extension()));
        let temporary = dir.join(format!("{own}.tmp"));
        std::fs::write(&source, self.wrapper()).ok()?;
        let mut command = Command::new(compiler(self.build));
        command
            .args(self.flags())
            .args(["-fPIC", "-c"])
            .arg(&source);
        command.arg("-o").arg(&temporary);
        let done = self.runs(&mut command);
        let _ = std::fs::remove_file(&source);
        if done.is_err() {
            std::fs::write(none, "").ok()?;
            return None;
        }
        std::fs::rename(&temporary, &object).ok()?;
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Build;

    #[test]
    fn a_macro_that_is_a_word_of_the_call_is_one_in_the_call_too() {
        let dir = tempfile::tempdir().unwrap();
        let build = Build {
            language: Language::C,
            ..Build::default()
        };
        let mut unit = Unit {
            sources: vec![dir.path().join("k.c")],
            entry: "f",
            build: &build,
            defines: vec!["-Dtile=4".into(), "-Df=g".into()],
            data: &[],
            stream: false,
            returns: None,
        };
        std::fs::write(&unit.sources[0], "void f(void) {}\n").unwrap();
        assert!(!unit.same_for_all());
        assert!(unit.compile(dir.path()).is_ok());
        unit.defines.pop();
        assert!(unit.same_for_all() && unit.compile(dir.path()).is_ok());
        unit.defines[0] = "-Dtile=8".into();
        assert!(unit.compile(dir.path()).is_ok());
        let ends = |end: &str| {
            let all = std::fs::read_dir(dir.path()).unwrap();
            let names = all.map(|e| e.unwrap().file_name().into_string().unwrap());
            names.filter(|n| n.ends_with(end)).count()
        };
        assert_eq!((ends(".so"), ends(".o")), (3, 1));
        let including = Build {
            flags: Some(vec!["-include".into(), "stdio.h".into()]),
            ..Build::default()
        };
        unit.build = &including;
        assert!(!unit.same_for_all());
    }
}
