//! Flags of images.

use super::unused;
use crate::image::{Axes, ColourRange};
use clap::Args;
use greenup_app::Result;
use greenup_app::args::FigureArgs;

/// How images look, in figures and pages.
#[derive(Args, Clone, Copy, Debug)]
pub struct ImageArgs {
    /// Axes of images: q (q_y and q_z in 1/nm), detector (angles in degrees; mm of a flat detector) or pixels
    #[arg(long, default_value = "q", value_name = "q|detector|pixels")]
    pub axes: Axes,
    /// Intensities at both ends of the colours, photons per pixel
    #[arg(long, value_name = "MIN,MAX", value_parser = ColourRange::ends, conflicts_with_all = ["decades", "percentiles"])]
    color_range: Option<ColourRange>,
    /// Decades below the largest intensity that the colours span
    #[arg(long, value_name = "N", value_parser = ColourRange::decades)]
    decades: Option<ColourRange>,
    /// Percentiles of the positive intensities at both ends of the colours [default: 1,99.9, at most six decades apart]
    #[arg(long, value_name = "LO,HI", value_parser = ColourRange::percentiles, conflicts_with = "decades")]
    percentiles: Option<ColourRange>,
    #[command(flatten)]
    pub figure: FigureArgs,
}

impl ImageArgs {
    /// The range of the colours.
    pub fn range(&self) -> ColourRange {
        let all = [self.color_range, self.decades, self.percentiles];
        all.into_iter().flatten().next().unwrap_or_default()
    }

    /// Checks that the flags of images have an effect on an output of this ending; `None`: there is no output.
    pub fn check(ending: Option<&str>) -> Result {
        let why = match ending {
            None => "without --out there is no image".to_owned(),
            Some("svg" | "pdf" | "png" | "html" | "htm") => return Ok(()),
            Some(e) => format!("a {e} file holds numbers, not a figure"),
        };
        unused(
            &["--axes", "--color-range", "--decades", "--percentiles"],
            &why,
        )
    }
}
