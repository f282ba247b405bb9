//! A source, and how it is compiled.

/// A source to compile.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The file name in messages.
    pub name: &'a str,
    /// The source text.
    pub text: &'a str,
    /// Architecture, such as `sm_90`.
    pub arch: &'a str,
    /// Further options of NVRTC. Macros, `-DNAME=value`, are defined after the headers of the compiler, so that they do
    /// not change those.
    pub options: &'a [String],
}
