//! `fmm lists`: the U, V, W and X lists of a box, drawn.

use super::drawing::{self, Drawing};
use crate::kernel::Kernel;
use crate::memory;
use crate::points::{Distribution, generate};
use crate::tree::{ListName, Slice, of_points};
use clap::Args;
use greenup_app::args::FigureArgs;
use greenup_app::{AppError, Result, print};
use greenup_files::Outputs;
use greenup_report::lists_figure::{Square, lists};
use greenup_report::page::{Answer, Fact};
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Example:\n  fmm lists --distribution clusters -o lists.svg")]
pub struct ListsArgs {
    /// Distribution of the points
    #[arg(long, value_enum, default_value = "clusters")]
    distribution: Distribution,
    /// Number of points
    #[arg(short, long, default_value_t = 5_000)]
    n: usize,
    /// Random seed of the points
    #[arg(long, default_value_t = 2)]
    seed: u64,
    /// Maximum number of points per leaf
    #[arg(long, default_value_t = 20, value_name = "N")]
    ncrit: usize,
    /// Draw them: an HTML page or a figure
    #[arg(short = 'o', long = "figure", value_name = "FILE.html|.svg|.png|.pdf")]
    figure: Option<PathBuf>,
    /// Print the boxes as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

/// The boxes of the plane by list.
fn in_words(counts: &[(ListName, usize)]) -> String {
    let of = (counts.iter()).map(|(name, n)| format!("{n} in {name:?}"));
    let of: Vec<String> = of.collect();
    format!(
        "Boxes of this plane in the lists of box B: {}.",
        of.join(", ")
    )
}

pub fn run(args: &ListsArgs) -> Result {
    if args.ncrit == 0 {
        return Err(AppError::new("invalid --ncrit 0: use 1 or more"));
    }
    let mut outputs = Outputs::new();
    let figure = drawing::check(&mut outputs, args.figure.as_deref())?;
    memory::check_points::<f64>(Kernel::Laplace, false, args.n, args.n)?;
    let provenance = Provenance::of_process().seeded(Some(args.seed));
    let points = generate(args.distribution, args.n, args.seed);
    let (tree, all) = of_points(&points, args.ncrit);
    let slice = Slice::richest(&tree, &all)
        .filter(|s| !s.listed.is_empty())
        .ok_or_else(|| {
            AppError::new("no box has another in its lists")
                .hint("use more points, or a smaller --ncrit")
        })?;
    let square = |b: usize, list: &str| {
        let node = &tree.nodes[b];
        let [x, y, _] = node.center();
        Square {
            center: (x, y),
            half_width: node.half_width(),
            list: list.to_owned(),
            leaf: node.is_leaf(),
        }
    };
    let in_a_list = |b: &usize| *b == slice.of || slice.listed.iter().any(|l| l.0 == *b);
    let mut squares = vec![square(slice.of, "B")];
    squares.extend((slice.listed.iter()).map(|(b, list)| square(*b, &format!("{list:?}"))));
    let others = slice.leaves.iter().filter(|b| !in_a_list(b));
    squares.extend(others.map(|b| square(*b, "")));
    let counts: Vec<(ListName, usize)> = (ListName::ALL.into_iter())
        .map(|name| (name, slice.listed.iter().filter(|l| l.1 == name).count()))
        .collect();
    let own = &tree.nodes[slice.of];
    if let Some(to) = &figure {
        let title = "U, V, W and X lists of a box B";
        Drawing {
            title: title.into(),
            subtitle: format!(
                "{} points, ncrit {}: a plane through an octree of {} boxes",
                args.n,
                args.ncrit,
                tree.nodes.len()
            ),
            answer: Answer::new(
                in_words(&counts),
                "Counts are exact for these points; only boxes that the plane cuts are counted.",
                "`fmm tune` finds the `--ncrit` with which these lists cost least.",
            ),
            headline: (counts.iter())
                .map(|(name, n)| Fact::new(&format!("{name:?} list in the plane"), n.to_string()))
                .collect(),
            charts: vec![(
                lists(title, &squares),
                "Boxes that the plane through B cuts.",
            )],
            footer: "Lists as of the thesis, section 6.1.",
            ..Drawing::default()
        }
        .write(to, &args.look.look(), &provenance)?;
    }
    if args.json {
        return print::json(&json!({
            "provenance": provenance,
            "n": args.n,
            "ncrit": args.ncrit,
            "boxes": tree.nodes.len(),
            "level": own.level,
            "points": own.targets.len(),
            "squares": squares,
        }));
    }
    print::line(format!(
        "{} boxes; B: level {}, {} points",
        tree.nodes.len(),
        own.level,
        own.targets.len()
    ));
    for (name, n) in counts {
        print::line(format!("{name:?} list: {n} boxes in the plane of B"));
    }
    Ok(())
}
