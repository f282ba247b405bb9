//! The cases that a study of scaling runs, and their default problems.

use super::problems::{blend, fewer, of_order, scene, sedov, weak_side};
use super::study::args::{Case as Named, StudyArgs};
use crate::study::case::{Case, CaseRun, on};
use greenup_app::error::{AppError, Result};
use greenup_app::programs;
use greenup_gemm::{family, gpu};
use std::path::Path;

/// Side of the icosahedron, nm: larger ones have more quadrature points.
const SHAPE: &str = "shape = \"icosahedron\"\nedge = 50.0\n";
const TRIANGLES: &str = "shape = \"mesh\"\nfile = \"triangles.stl\"\n";
/// Triangles of an image's shape: those of the middle shape of the HipGISAXS paper.
const IMAGE_TRIANGLES: usize = 91_680;

/// A part of the space of GPU kernels in which nearly all configs compile quickly, at a small size: a trial is short.
const GPU_SPACE: &str = "size_m=2048 size_n=2048 size_k=2048 use_mma=8,16 way_copy=2 vec_read=2 vec_tile=1,2 dim_m=8,16,32 \
    dim_n=4,8,16 blk_m=64,96,128 blk_n=64,96,128 blk_k=16,32 pad_a=0,4 pad_b=0,4 raster_m=1,4 split_k=1 grid_fixed=0 lanes=0";
/// The same for cores: a worker has one thread.
const CPU_SPACE: &str =
    "size_m=384 size_n=384 size_k=384 cores=1 nthreads=1 kc=128,192,256 nc=256,512 ahead=0,8";

/// All cases, the most important first.
const ALL: [Named; 11] = [
    Named::Hydro,
    Named::Fmm,
    Named::GisaxsTriangles,
    Named::HydroWeak,
    Named::FmmDistributed,
    Named::HydroQ3,
    Named::Tune,
    Named::HydroQ3Weak,
    Named::GisaxsImage,
    Named::Gisaxs,
    Named::FmmWeak,
];

/// What the cases run on.
pub struct On<'a> {
    /// The GPUs by number; none: ranks of one thread on the host's cores.
    pub gpus: &'a [usize],
    /// Numbers of devices.
    pub counts: &'a [usize],
    /// Folder in which the programs run; inputs are written to it.
    pub folder: &'a Path,
}

/// The cases whose programs were found, and what is missing, with the fix.
pub fn find(args: &StudyArgs, on: &On) -> Result<(Vec<Case>, Vec<String>)> {
    let usual: &[Named] = match on.gpus {
        [] => &[Named::Hydro, Named::Fmm],
        _ => &[Named::Hydro, Named::Gisaxs, Named::Fmm],
    };
    let wanted = match args.cases.as_slice() {
        _ if args.all_cases => &ALL,
        [] => usual,
        some => some,
    };
    let (mut found, mut missing) = (Vec::<Case>::new(), Vec::new());
    for named in wanted {
        let case = on.case(args, *named)?;
        if found.iter().any(|c| c.name == case.name) {
            continue;
        }
        let program = match case.application {
            "tune" => "greenup",
            name => name,
        };
        match programs::needed(program) {
            Ok(file) => found.push(with_program(case, &file)),
            Err(e) => missing.push(format!(
                "{}: {}. Fix: {}",
                case.name,
                e.message,
                e.hint.unwrap_or_default()
            )),
        }
    }
    Ok((found, missing))
}

fn with_program(case: Case, program: &Path) -> Case {
    Case {
        program: program.to_owned(),
        smaller: case.smaller.map(|s| Box::new(with_program(*s, program))),
        ..case
    }
}

impl On<'_> {
    fn case(&self, args: &StudyArgs, named: Named) -> Result<Case> {
        Ok(match named {
            Named::Hydro => self.hydro(args, "hydro", 2),
            Named::HydroWeak => self.hydro_weak(args, "hydro-weak", 2),
            Named::HydroQ3 => self.hydro(args, "hydro-q3", 3),
            Named::HydroQ3Weak => self.hydro_weak(args, "hydro-q3-weak", 3),
            Named::Gisaxs => self.gisaxs(args)?,
            Named::GisaxsTriangles => self.triangles(args)?,
            Named::GisaxsImage => self.image(args)?,
            Named::Fmm => self.fmm(points(args, self.on_gpus()), "fmm"),
            Named::FmmWeak => self.fmm_weak(points(args, self.on_gpus())),
            Named::FmmDistributed => self.fmm(points(args, self.on_gpus()), "fmm-distributed"),
            Named::Tune => self.tune(args)?,
        })
    }

    fn on_gpus(&self) -> bool {
        !self.gpus.is_empty()
    }

    /// A value for GPUs or for ranks.
    fn either<T>(&self, gpus: T, ranks: T) -> T {
        if self.on_gpus() { gpus } else { ranks }
    }

    /// The runs on all counts, of a size and arguments without the devices.
    fn runs(&self, of: impl Fn(usize) -> (f64, String)) -> Vec<CaseRun> {
        (self.counts.iter())
            .map(|&devices| {
                let (size, text) = of(devices);
                let mut arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
                arguments.extend(on(self.gpus, devices));
                CaseRun {
                    devices,
                    size,
                    arguments,
                }
            })
            .collect()
    }

    fn hydro(&self, args: &StudyArgs, name: &'static str, order: usize) -> Case {
        let zones = args.hydro_zones.unwrap_or(self.either(64, 16));
        let (steps, side) = (self.steps(args), of_order(zones, order));
        Case {
            name,
            application: "hydro",
            problem: format!(
                "Sedov in 3D, Q{order}Q{}, {side}³ zones, {steps} steps",
                order - 1
            ),
            runs: self.runs(|_| (1.0, sedov(side, order, steps))),
            ..Case::default()
        }
    }

    fn hydro_weak(&self, args: &StudyArgs, name: &'static str, order: usize) -> Case {
        let zones = args.hydro_weak_zones.unwrap_or(self.either(64, 16));
        let (steps, one) = (self.steps(args), of_order(zones, order));
        let cube = |n: usize| n.pow(3) as f64;
        let sides: Vec<String> = (self.counts.iter())
            .map(|n| format!("{}³", weak_side(one, *n)))
            .collect();
        Case {
            name,
            application: "hydro",
            weak: true,
            problem: format!(
                "Sedov in 3D, Q{order}Q{}, {steps} steps, zones by devices: {}",
                order - 1,
                sides.join(", ")
            ),
            runs: self.runs(|devices| {
                let side = weak_side(one, devices);
                (cube(side) / cube(one), sedov(side, order, steps))
            }),
            ..Case::default()
        }
    }

    fn steps(&self, args: &StudyArgs) -> usize {
        args.hydro_steps.unwrap_or(self.either(60, 6))
    }

    fn fmm(&self, points: usize, name: &'static str) -> Case {
        let run = self.fmm_run(points);
        let distributed = name == "fmm-distributed";
        let flag = |devices: usize| {
            if distributed && devices > 1 {
                " --distributed"
            } else {
                ""
            }
        };
        let words = if distributed { ", distributed" } else { "" };
        Case {
            name,
            application: "fmm",
            problem: format!("Laplace, {points} uniform points{words}"),
            runs: self.runs(|devices| (1.0, format!("{run}{}", flag(devices)))),
            smaller: fewer(points, self.on_gpus()).map(|n| Box::new(self.fmm(n, name))),
            ..Case::default()
        }
    }

    fn fmm_weak(&self, all: usize) -> Case {
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let each = (all / most).max(1);
        Case {
            name: "fmm-weak",
            application: "fmm",
            weak: true,
            problem: format!("Laplace, {each} uniform points for each device"),
            runs: self.runs(|devices| (devices as f64, self.fmm_run(each * devices))),
            smaller: fewer(all, self.on_gpus()).map(|n| Box::new(self.fmm_weak(n))),
            ..Case::default()
        }
    }

    fn fmm_run(&self, points: usize) -> String {
        let more = self.either(
            "--precision f32 --accuracy 1e-4 --measure",
            "--precision f64 --accuracy 1e-6",
        );
        format!("run -n {points} {more} --repeat 3 --check 16 --json")
    }

    fn gisaxs(&self, args: &StudyArgs) -> Result<Case> {
        self.write("icosahedron.toml", SHAPE)?;
        let n = self.grid(args);
        let measure = self.either(" --measure", "");
        let text = format!(
            "form-factor icosahedron.toml --grid 0 -2:2:{n} 0:2:{n} --method direct --accuracy 1e-4 --repeat 3 --json -o f.npy{measure}"
        );
        Ok(Case {
            name: "gisaxs",
            application: "gisaxs",
            problem: format!("Direct sums, icosahedron of 50 nm, {n}² q"),
            runs: self.runs(|_| (1.0, text.clone())),
            result: Some("f.npy"),
            ..Case::default()
        })
    }

    fn triangles(&self, args: &StudyArgs) -> Result<Case> {
        self.write("triangles.toml", TRIANGLES)?;
        let triangles = (args.gisaxs_triangles).unwrap_or(self.either(7_500_000, 20_000));
        let n = self.grid(args);
        // The largest factors need memory; tensor cores multiply terms of half precision.
        let how = self.either("f16x2 --memory 32G --measure", "f32");
        let text = format!(
            "form-factor triangles.toml --grid 0.1 -1.5:1.5:{n} 0:2:{n} --im-qz 0.01 --method gemm --quadrature one --accuracy 1e-3 \
             --repeat 3 --json -o f.npy --precision {how}"
        );
        Ok(Case {
            name: "gisaxs-triangles",
            application: "gisaxs",
            problem: format!("GEMM, bicontinuous blend of {triangles} triangles, {n}² q"),
            runs: self.runs(|_| (1.0, text.clone())),
            input: Some(blend(triangles, "triangles.stl")),
            result: Some("f.npy"),
            ..Case::default()
        })
    }

    fn image(&self, args: &StudyArgs) -> Result<Case> {
        let n = args.gisaxs_image.unwrap_or(self.either(2048, 96));
        let most = (args.gisaxs_triangles).unwrap_or(self.either(IMAGE_TRIANGLES, 2000));
        let triangles = most.min(IMAGE_TRIANGLES);
        self.write("image.toml", &scene(n))?;
        let text = "simulate image.toml --method direct --precision f32 --quadrature one --accuracy 1e-3 --json -o image.npy";
        Ok(Case {
            name: "gisaxs-image",
            application: "gisaxs",
            problem: format!(
                "Image of {n}² pixels by direct sums, bicontinuous blend of {triangles} triangles"
            ),
            runs: self.runs(|_| (1.0, text.to_owned())),
            input: Some(blend(triangles, "image.stl")),
            warm_up: self.on_gpus(),
            result: Some("image.npy"),
            ..Case::default()
        })
    }

    fn grid(&self, args: &StudyArgs) -> usize {
        args.gisaxs_grid.unwrap_or(self.either(2001, 401))
    }

    fn tune(&self, args: &StudyArgs) -> Result<Case> {
        let trials = args.tune_trials.unwrap_or(self.either(32, 8));
        let kernels = self.folder.join("kernels");
        let (space, unpacked) = if self.on_gpus() {
            (GPU_SPACE, gpu::unpack(&kernels))
        } else {
            (CPU_SPACE, family::unpack(&kernels))
        };
        unpacked.map_err(|e| AppError::new(e.to_string()))?;
        let mut words = vec!["tune".to_owned(), "kernels/problem.toml".into()];
        for set in space.split_whitespace() {
            words.extend(["--set".into(), set.to_owned()]);
        }
        words.extend(
            format!(
                "--measure 0.2 --strategy random --seed 7 --budget {trials} --finalists 2 --json --out sweep"
            )
            .split(' ')
            .map(str::to_owned),
        );
        let runs = (self.counts.iter())
            .map(|&devices| CaseRun {
                devices,
                size: 1.0,
                arguments: match self.gpus {
                    [] => [
                        words.clone(),
                        ["--sensor", "none", "--workers", &devices.to_string()]
                            .map(str::to_owned)
                            .into(),
                    ]
                    .concat(),
                    gpus => [words.clone(), on(gpus, devices)].concat(),
                },
            })
            .collect();
        Ok(Case {
            name: "tune",
            application: "tune",
            problem: format!("DGEMM, random search, {trials} trials"),
            runs,
            warm_up: self.on_gpus(),
            fresh: Some("sweep"),
            ..Case::default()
        })
    }

    fn write(&self, name: &str, text: &str) -> Result {
        Ok(greenup_files::write(self.folder.join(name), text)?)
    }
}

fn points(args: &StudyArgs, gpus: bool) -> usize {
    let usual = if gpus { 20_000_000 } else { 400_000 };
    args.fmm_points.unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_do_not_fit_become_fewer() {
        let folder = tempfile::tempdir().unwrap();
        let on = On {
            gpus: &[0, 1],
            counts: &[1, 2],
            folder: folder.path(),
        };
        let case = with_program(
            on.fmm(100_000_000, "fmm-distributed"),
            Path::new("/bin/fmm"),
        );
        let words = |c: &Case, k: usize| c.runs[k].arguments.join(" ");
        assert!(words(&case, 1).ends_with("--distributed --device cuda:0,1"));
        assert!(!words(&case, 0).contains("--distributed"));
        let next = case.smaller.as_ref().unwrap();
        assert!(words(next, 0).contains("-n 80000000 "));
        assert_eq!(next.program, Path::new("/bin/fmm"));
    }
}
