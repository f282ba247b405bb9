//! The figures of the final state.

use crate::commands::run::report::digits;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::output::{Common, Line, LineOut, Pixels, Profile, Scene, exact, line_out, profile};
use crate::session::settings::Settings;
use crate::time::stepping::Clock;
use greenup_app::Result;
use greenup_app::output::write_chart;
use greenup_report::chart::Chart;
use std::path::Path;

/// The final state of a run, for its figures.
pub struct Final<'a> {
    pub h: &'a Hydro,
    pub state: &'a State,
    pub clock: &'a Clock,
    /// Line of line-outs if no flag names one.
    pub line: &'a Line,
}

impl Final<'_> {
    /// The picture.
    pub fn picture(&self, s: &Settings) -> Chart {
        let look = s.figures.look.look();
        let view = s.figures.view(s.e0());
        let size = Pixels {
            width: look.width,
            scale: (look.dpi / 96.0).min(4.0),
        };
        let at = (self.clock.t, self.clock.steps);
        let scene = [Scene::new(self.h, self.state, &view, at, size)];
        scene[0].chart(&Common::of(&view, &scene), look.style)
    }

    /// The line-outs.
    pub fn lines(&self, s: &Settings) -> LineOut {
        let lines = match &s.figures.lines[..] {
            [] => std::slice::from_ref(self.line),
            all => all,
        };
        line_out(self.h, self.state, lines, self.clock.t, s.e0())
    }

    /// The fields over the distance from the origin.
    pub fn profile(&self, s: &Settings) -> Profile {
        profile(self.h, self.state, self.clock.t, s.e0())
    }

    /// Whether an exact solution is known at its time.
    pub fn exact_known(&self, s: &Settings) -> bool {
        exact(self.h, self.clock.t, s.e0()).is_some()
    }
}

/// Writes picture, profile and line-outs of the final state; returns messages.
///
/// # Errors
/// A file cannot be written.
pub fn write(s: &Settings, last: &Final, origin: &[(String, String)]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    let look = s.figures.look.look();
    let draw = |path: &Path, mut chart: Chart| {
        chart.origin = origin.to_vec();
        write_chart(path, &chart, &look)
    };
    if let Some(path) = &s.png {
        draw(path, last.picture(s))?;
    }
    if let (Some(path), Some(drawing)) = (&s.figures.line_out, s.figures.line_drawing()) {
        let l = last.lines(s);
        greenup_files::write(path, l.csv())?;
        draw(&drawing, l.chart())?;
    }
    if let (Some(path), Some(drawing)) = (&s.profile_file, s.profile_drawing()) {
        let p = last.profile(s);
        greenup_files::write(path, p.csv())?;
        draw(&drawing, p.chart())?;
        match (p.shock(), p.exact_shock(), p.density_error()) {
            (Some(computed), Some(exact), Some(error)) => out.push(format!(
                "shock at {}, exact {}; mean error of the density {}",
                digits(computed, 4),
                digits(exact, 4),
                digits(error, 4)
            )),
            (_, _, Some(error)) => {
                out.push(format!("mean error of the density {}", digits(error, 4)));
            }
            _ => {}
        }
    }
    Ok(out)
}
