//! Pages in headless Chromium: what a reader cannot read, and pictures of whole pages.
//!
//! Tests that use it are `#[ignore = "needs Chromium"]`; without Chromium they fail and name the
//! package.

mod findings;
mod protocol;
mod tab;

#[cfg(test)]
mod tests;

pub use findings::{FaultKind, Finding, Findings};
pub use protocol::Browser;
pub use tab::Tab;

use std::path::Path;

/// Widths from a telephone to a wide screen, CSS pixels.
pub const WIDTHS: [u32; 5] = [360, 400, 768, 1280, 1920];

/// What is wrong on a page at each width (CSS pixels), with light or dark colours asked for.
pub fn examine(html: &Path, widths: &[u32], dark: bool) -> Findings {
    Browser::start().examine(html, widths, dark)
}

/// Writes a PNG file of the whole page, at most 16 384 pixels high.
pub fn screenshot(html: &Path, width: u32, dark: bool, png: &Path) {
    let mut browser = Browser::start();
    let picture = browser.open(html, width, dark).screenshot();
    std::fs::write(png, picture).expect("the picture can be written");
}

impl Browser {
    /// As [`examine`], with a browser that examines more than one page.
    pub fn examine(&mut self, html: &Path, widths: &[u32], dark: bool) -> Findings {
        let mut all = Findings::default();
        for &width in widths {
            all.0.extend(self.open(html, width, dark).findings().0);
        }
        all
    }
}
