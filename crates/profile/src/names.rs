//! Names of kernels for readers.

use cpp_demangle::{DemangleOptions, Symbol};
use greenup_report::text::middle;

/// Longest name of a table.
const SHOWN: usize = 64;

/// The name of a function as its source has it, without parameters; other names stay as they are.
pub fn full(name: &str) -> String {
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    (Symbol::new(name).ok())
        .and_then(|s| s.demangle_with_options(&options).ok())
        .unwrap_or_else(|| name.to_owned())
}

/// A full name short enough for a table: without namespaces, and its template arguments as far as they fit.
pub fn short(full: &str) -> String {
    middle(&without_namespaces(full), SHOWN)
}

/// A full name without its namespaces and those of its template arguments.
pub fn without_namespaces(full: &str) -> String {
    let full = full.strip_prefix("void ").unwrap_or(full);
    let (base, arguments) = match full.find('<') {
        Some(at) if at > 0 => full.split_at(at),
        _ => (full, ""),
    };
    let base = last_segment(base);
    let mut words = String::new();
    let mut word = String::new();
    for c in arguments.chars() {
        match c {
            '<' | '>' | ',' | '(' | ')' | '{' | '}' | ' ' | '&' | '*' => {
                words.push_str(last_segment(&word));
                word.clear();
                words.push(c);
            }
            c => word.push(c),
        }
    }
    words.push_str(last_segment(&word));
    format!("{base}{}", words.replace("> >", ">>"))
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// CUPTI's kinds of copies.
pub fn copy(kind: u32) -> &'static str {
    match kind {
        1 | 3 => "copy host to device",
        2 | 4 => "copy device to host",
        5..=8 => "copy device to device",
        9 => "copy host to host",
        10 => "copy between devices",
        _ => "copy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_shortened() {
        assert_eq!(full("_Z5scalePdid"), "scale");
        assert_eq!(full("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
        assert_eq!(full("_Z"), "_Z");
        let f = full(
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEviT0_",
        );
        assert!(
            f.starts_with("at::native::vectorized_elementwise_kernel<4"),
            "{f}"
        );
        let s = short(&f);
        assert!(s.starts_with("vectorized_elementwise_kernel<4"), "{s}");
        assert_eq!(short(&"x".repeat(300)).chars().count(), SHOWN);
        assert_eq!(short("void cutlass::Kernel2<a::b>"), "Kernel2<b>");
    }
}
