//! The commit of the sources, for `--version`.

use std::path::Path;

fn main() {
    greenup_build::pass_commit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
}
