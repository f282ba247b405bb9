//! What a scaling study runs: an application on several numbers of devices.

use std::path::PathBuf;

/// A problem of an application, on several numbers of devices.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its name, such as `hydro-weak`.
    pub name: &'static str,
    /// hydro, gisaxs, fmm or tune.
    pub application: &'static str,
    /// The program.
    pub program: PathBuf,
    /// The problem in words.
    pub problem: String,
    /// Whether the work of each device stays the same, instead of that of all.
    pub weak: bool,
    /// The runs, the first of them on one device.
    pub runs: Vec<CaseRun>,
    /// Arguments of a run of the program that makes an input.
    pub input: Option<Vec<String>>,
    /// Whether a run on all devices comes first and is not counted: it compiles the kernels.
    pub warm_up: bool,
    /// File with the result, whose bytes are compared with those of one device.
    pub result: Option<&'static str>,
    /// File or folder that must not exist when a run starts.
    pub fresh: Option<&'static str>,
    /// The same case with less work, for devices without the memory for this one.
    pub smaller: Option<Box<Case>>,
}

/// A run of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRun {
    /// Number of devices.
    pub devices: usize,
    /// Size of the problem, in units of that of one device.
    pub size: f64,
    /// Arguments of the program, which prints JSON.
    pub arguments: Vec<String>,
}

impl Case {
    /// Arguments on one device.
    pub fn arguments(&self) -> &[String] {
        self.runs.first().map_or(&[], |r| &r.arguments)
    }

    /// Its command on one device.
    pub fn command(&self) -> String {
        let name = self.program.file_name().unwrap_or_default();
        format!("{} {}", name.to_string_lossy(), self.arguments().join(" "))
    }

    /// This case or a smaller one, whose arguments on one device are these.
    pub fn with_arguments(&self, arguments: &[String]) -> Option<&Self> {
        let mut case = self;
        loop {
            if case.arguments() == arguments {
                return Some(case);
            }
            case = case.smaller.as_deref()?;
        }
    }
}

/// Arguments that name so many devices: the first GPUs of these, or without any ranks of one thread; ranks share the threads.
pub fn on(gpus: &[usize], devices: usize) -> Vec<String> {
    match gpus {
        [] => {
            let n = devices.to_string();
            vec!["--ranks".into(), n.clone(), "--threads".into(), n]
        }
        all => {
            let some: Vec<String> = all.iter().take(devices).map(usize::to_string).collect();
            vec!["--device".into(), format!("cuda:{}", some.join(","))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_for_the_programs() {
        assert_eq!(on(&[], 2).join(" "), "--ranks 2 --threads 2");
        assert_eq!(on(&[0, 1, 3], 3).join(" "), "--device cuda:0,1,3");
        assert_eq!(on(&[2, 3], 1).join(" "), "--device cuda:2");
    }

    #[test]
    fn a_smaller_case_is_found_by_its_arguments() {
        let of = |n: &str, smaller| Case {
            runs: vec![CaseRun {
                devices: 1,
                size: 1.0,
                arguments: vec![n.into()],
            }],
            smaller,
            ..Case::default()
        };
        let case = of("9", Some(Box::new(of("8", None))));
        assert!(case.with_arguments(&["8".into()]).is_some());
        assert!(case.with_arguments(&["7".into()]).is_none());
    }
}
