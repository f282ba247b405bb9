//! Figures and the HTML page of a fit.
//!
//! | module | contents |
//! |---|---|
//! | `answer` | the result in sentences |
//! | `maps` | data, model and residual of an image |
//! | `histogram` | residuals next to the normal distribution |
//! | `cuts` | data with error bars, model and residual along cuts |
//! | `correlations` | the correlation matrix |
//! | `convergence` | χ² over the models computed |
//! | `parameters` | values with uncertainties, as a table and as JSON |
//! | `page` | the HTML page |

mod answer;
mod convergence;
mod correlations;
mod cuts;
mod histogram;
mod maps;
mod page;
mod parameters;

pub use page::{Sources, page};
pub use parameters::{json, with_error};

use super::{Fitted, Target};
use crate::GisaxsError;
use crate::image::{Axes, ColourRange, Cut, View, brightest_cuts};
use crate::mesh_form_factor::Watch;
use crate::scattering::dwba::Scene;
use greenup_report::chart::{Chart, Ink, Panel, Series, Sign};

/// A fit with what its figures draw. Images and data are in the order of the data.
pub struct Report<'a> {
    /// The data and the free parameters.
    pub target: &'a Target,
    /// The result.
    pub found: &'a Fitted,
    /// The data; NaN where they are left out.
    data: Vec<f64>,
    /// The model of the data at the solution.
    model: Vec<f64>,
    /// Standard deviations of the data.
    sigmas: Vec<f64>,
    /// Deviations of the data from the model, in standard deviations.
    deviations: Vec<f64>,
    /// The sample at the solution.
    scene: Scene,
    /// Cuts through an image.
    cuts: Vec<Cut>,
    axes: Axes,
    range: ColourRange,
}

/// χ² per degree of freedom, the same digits everywhere.
fn chi2(value: f64) -> String {
    greenup_report::si::three(value)
}

/// Series of the figures; that of pictures has no name.
const PICTURE: usize = 0;
const DATA: usize = 1;
const MODEL: usize = 2;
const BEST: usize = 3;
/// The first series of the cuts.
const CUTS: usize = 4;

impl<'a> Report<'a> {
    /// Computes the model at the solution; `None` if stopped. Without `cuts` those through the brightest pixel of the
    /// data are drawn.
    ///
    /// # Errors
    /// The model cannot be computed, or a cut misses the detector.
    pub fn new(
        target: &'a Target,
        found: &'a Fitted,
        (cuts, axes, range): (&[Cut], Axes, ColourRange),
        watch: &Watch,
    ) -> Result<Option<Self>, GisaxsError> {
        let Some(model) = target.model(&found.values, watch)? else {
            return Ok(None);
        };
        let scene = target.sample(&found.values)?.scene(&target.dir)?;
        let data: Vec<f64> = (target.values.iter())
            .map(|v| if *v >= 0.0 { *v } else { f64::NAN })
            .collect();
        let cuts = match target.cut {
            Some(cut) => vec![cut],
            None if cuts.is_empty() => brightest_cuts(&data, &View::new(&scene, axes)),
            None => cuts.iter().map(|c| c.of_beam(&scene)).collect(),
        };
        for cut in &cuts {
            cut.check(&scene.detector)?;
        }
        Ok(Some(Self {
            sigmas: target.sigmas(found.noise_scale),
            deviations: target.deviations(&model, found.noise_scale),
            target,
            found,
            data,
            model,
            scene,
            cuts,
            axes,
            range,
        }))
    }

    fn view(&self) -> View<'_> {
        View::new(&self.scene, self.axes)
    }

    /// What data and model are: `counts`, or `intensity`.
    fn quantity(&self) -> &'static str {
        crate::image::figure::quantity(self.target.noise == super::Noise::Poisson)
    }

    /// Data, model and residual, cuts and convergence in one figure.
    ///
    /// # Errors
    /// A cut misses the detector.
    pub fn chart(&self) -> Result<Chart, GisaxsError> {
        let mut panels = self.images();
        panels.extend(self.residual());
        let cuts = self.cut_panels()?;
        // Of an image the residual is a map already.
        let each = if panels.is_empty() { 2 } else { 1 };
        let image = each == 1;
        panels.extend(cuts.into_iter().flat_map(|c| c.into_iter().take(each)));
        panels.iter_mut().for_each(|p| p.shares_x &= !image);
        panels.push(self.convergence_panel());
        let mut chart = self.charted("Fit", panels);
        chart.least_width = if image { 270.0 } else { f64::INFINITY };
        Ok(chart)
    }

    /// A chart of panels that use the common series.
    fn charted(&self, title: &str, panels: Vec<Panel>) -> Chart {
        let mut series = vec![
            Series::default(),
            Series::new("data ± σ", Ink::Series(0), Sign::Dot),
            Series::new("model", Ink::Series(1), Sign::Line),
            Series::new("best so far", Ink::Series(2), Sign::Line),
        ];
        series.extend((0..self.cuts.len()).map(crate::image::figure::series));
        Chart {
            title: title.into(),
            series,
            panels,
            ..Chart::default()
        }
    }
}
