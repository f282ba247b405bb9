//! Figures as files.

use crate::error::Result;
use crate::out;
use greenup_app::output::Output;
use greenup_report::png::png;

/// Endings of a figure.
pub const ENDINGS: [&str; 2] = ["svg", "png"];

/// Writes a figure in the format that the name chose.
pub fn write(output: &Output, svg: &str) -> Result {
    scaled(output, svg, 2.0)
}

/// The same with the size of a PNG.
pub fn scaled(output: &Output, svg: &str, scale: f32) -> Result {
    if output.has_ending("png") {
        output.write(&png(svg, scale)?)?;
    } else {
        output.write(svg.as_bytes())?;
    }
    out::wrote(output);
    Ok(())
}
