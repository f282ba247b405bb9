//! The winners of the sweeps that come with the program (folder `sweeps/`), as `greenup wisdom import sweeps` takes them.

use crate::store::{Store, StoreError};
use std::path::Path;

/// The file of the entries.
pub const TEXT: &str = include_str!("../shipped.toml");

/// The shipped entries.
///
/// # Errors
/// The shipped file is invalid.
pub fn store() -> Result<Store, StoreError> {
    Store::parse(TEXT, Path::new("shipped.toml"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shipped_file_is_valid() {
        super::store().unwrap();
    }
}
