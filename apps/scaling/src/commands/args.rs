//! Arguments.

use clap::{Args, ValueEnum};
use greenup_app::args::{FigureArgs, at_least_one, count};
use std::path::PathBuf;

/// An application whose scaling is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Application {
    /// Lagrangian hydrodynamics: zones over devices, shared nodes exchanged
    Hydro,
    /// X-ray scattering: rows of the image over devices
    Gisaxs,
    /// Fast multipole method: targets over devices
    Fmm,
    /// Tuning: trials over workers
    Tune,
}

impl Application {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hydro => "hydro",
            Self::Gisaxs => "gisaxs",
            Self::Fmm => "fmm",
            Self::Tune => "tune",
        }
    }
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup scaling hydro --machine h200 --nodes 1,8,64 --zones 16777216\n  greenup scaling hydro --weak --zones 262144 --nodes 1:4096 -o weak.svg\n  greenup scaling fmm --machine h200 -o fmm.html\n  hydro run --device cuda --json > one.json; greenup scaling hydro --record one.json --devices 1:64\n  greenup scaling hydro --machine mine.toml --measured one.json two.json\n  greenup scaling --study study -o scaling.md"
)]
pub struct ScalingArgs {
    /// Application
    #[arg(value_enum, required_unless_present = "study")]
    pub app: Option<Application>,
    /// Draw what `greenup scaling study` measured, of all applications or of one: its folder, or its scaling.json. -o writes a
    /// figure, an HTML page, or a table as FILE.md
    #[arg(long, value_name = "DIR", conflicts_with_all = ["measured", "record", "nodes", "devices", "published"])]
    pub study: Option<PathBuf>,
    /// Machine with a network: a name of `greenup machines`, or a file
    #[arg(long, default_value = "h200", value_name = "NAME|FILE")]
    pub machine: String,
    /// Numbers of nodes: a list, or FROM:TO by powers of two [default: 1:4096]
    #[arg(long, value_name = "N,…|N:M", value_parser = numbers)]
    pub nodes: Option<Numbers>,
    /// Numbers of devices instead of full nodes
    #[arg(long, value_name = "N,…|N:M", value_parser = numbers, conflicts_with = "nodes")]
    pub devices: Option<Numbers>,
    /// The same work on all devices together, the default
    #[arg(long, conflicts_with = "weak")]
    pub strong: bool,
    /// The same work on each device
    #[arg(long)]
    pub weak: bool,
    /// Runs on one device: a record, or what the application prints with --json; repeatable [default: the record of the machine]
    #[arg(long, value_name = "FILE.json")]
    pub record: Vec<PathBuf>,
    /// Compare with runs on several devices: what the application printed with --json
    #[arg(long, value_name = "FILE.json", num_args = 1..)]
    pub measured: Vec<PathBuf>,
    /// Compare with the published scaling studies of the application: values that the papers state, compared with the model
    #[arg(long, conflicts_with_all = ["measured", "record", "nodes", "devices"])]
    pub published: bool,
    /// hydro: zones, of each device with --weak [default: 2097152, with --weak 262144]
    #[arg(long, value_name = "N", value_parser = count)]
    pub zones: Option<f64>,
    /// hydro: order of the kinematic space [default: 2]
    #[arg(long, value_name = "K")]
    pub order: Option<usize>,
    /// hydro: dimensions, 2 or 3 [default: 3]
    #[arg(long, value_name = "D")]
    pub dim: Option<usize>,
    /// hydro: time steps [default: 100]
    #[arg(long, value_name = "N", value_parser = count)]
    pub steps: Option<f64>,
    /// hydro: CG iterations of a solve [default: as recorded]
    #[arg(long, value_name = "N", value_parser = count)]
    pub iterations: Option<f64>,
    /// gisaxs: triangles of the shape [default: 7.5e6]
    #[arg(long, value_name = "N", value_parser = count)]
    pub triangles: Option<f64>,
    /// gisaxs: columns and rows of the image, rows of each device with --weak [default: 4000x2000]
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = image)]
    pub image: Option<(f64, f64)>,
    /// gisaxs: method of the form factor, as recorded [default: direct]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// fmm: points, of each device with --weak [default: 4e7]
    #[arg(long, value_name = "N", value_parser = count)]
    pub points: Option<f64>,
    /// fmm: precision, as recorded [default: f32]
    #[arg(long, value_name = "f32|f64")]
    pub precision: Option<String>,
    /// tune: trials, of each worker with --weak [default: 1000]
    #[arg(long, value_name = "N", value_parser = count)]
    pub trials: Option<f64>,
    /// Draw time, energy, efficiency and greenup over nodes: FILE.svg, .png or .pdf, or write FILE.html, a page with strong and
    /// weak scaling; `-` prints the SVG instead of the table
    #[arg(short, long, value_name = "FILE", conflicts_with = "measured")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

impl ScalingArgs {
    /// The application; any with --study.
    pub fn app(&self) -> Application {
        self.app.unwrap_or(Application::Hydro)
    }

    /// A size that is given, but is of another application: its flag and whose it is.
    pub fn of_another(&self) -> Option<(&'static str, &'static str)> {
        use Application::{Fmm, Gisaxs, Hydro, Tune};
        let all = [
            ("--zones", Hydro, self.zones.is_some()),
            ("--order", Hydro, self.order.is_some()),
            ("--dim", Hydro, self.dim.is_some()),
            ("--steps", Hydro, self.steps.is_some()),
            ("--iterations", Hydro, self.iterations.is_some()),
            ("--triangles", Gisaxs, self.triangles.is_some()),
            ("--image", Gisaxs, self.image.is_some()),
            ("--method", Gisaxs, self.method.is_some()),
            ("--points", Fmm, self.points.is_some()),
            ("--precision", Fmm, self.precision.is_some()),
            ("--trials", Tune, self.trials.is_some()),
        ];
        let mut given = all.into_iter().filter(|a| a.2);
        given
            .find(|a| a.1 != self.app())
            .map(|(flag, app, _)| (flag, app.name()))
    }
}

/// Numbers of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(pub Vec<usize>);

fn numbers(text: &str) -> Result<Numbers, String> {
    let list = match text.split_once(':') {
        Some((from, to)) => {
            let (from, to) = (at_least_one(from)?, at_least_one(to)?);
            if from > to {
                return Err(format!("{from} is more than {to}"));
            }
            let mut all: Vec<usize> = std::iter::successors(Some(from), |n| n.checked_mul(2))
                .take_while(|n| *n < to)
                .collect();
            all.push(to);
            all
        }
        None => {
            let mut all = (text.split(',').map(at_least_one)).collect::<Result<Vec<_>, _>>()?;
            all.sort_unstable();
            all.dedup();
            all
        }
    };
    match list.iter().find(|n| **n > MOST) {
        Some(n) => Err(format!("{n} is more than {MOST}")),
        None => Ok(Numbers(list)),
    }
}

/// Most nodes, whose parts are counted one by one.
const MOST: usize = 1 << 17;

fn image(text: &str) -> Result<(f64, f64), String> {
    let wrong = || "give COLUMNSxROWS, like 4000x2000".to_owned();
    let (columns, rows) = text.split_once('x').ok_or_else(wrong)?;
    let of = |t: &str| at_least_one(t).map(|n| n as f64).map_err(|_| wrong());
    Ok((of(columns)?, of(rows)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_a_list_or_powers_of_two() {
        assert_eq!(numbers("1,8,64"), Ok(Numbers(vec![1, 8, 64])));
        assert_eq!(numbers("8,1,64,8"), Ok(Numbers(vec![1, 8, 64])));
        assert_eq!(numbers("1:8"), Ok(Numbers(vec![1, 2, 4, 8])));
        assert_eq!(numbers("3:7"), Ok(Numbers(vec![3, 6, 7])));
        for bad in ["", "0", "8:1", "1,x", "1:1000000"] {
            assert!(numbers(bad).is_err(), "{bad}");
        }
        assert_eq!(image("40x20"), Ok((40.0, 20.0)));
        assert!(image("40").is_err() && image("0x3").is_err());
    }
}
