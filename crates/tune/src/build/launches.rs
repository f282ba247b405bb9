//! Launches of a config and the compiled kernels that they name.

use crate::error::CompileError;
use crate::problem::Launch;

/// A launch with its kernel as the compiler reports it.
pub(super) struct Matched<'a, K> {
    pub(super) launch: &'a Launch,
    pub(super) kernel: &'a K,
    /// Whether it has the most threads in all: the facts of a config are those of this launch.
    pub(super) main: bool,
}

/// Each launch with its kernel; `name` gives a kernel's name.
///
/// # Errors
/// A launch names a kernel that was not compiled.
pub(super) fn matched<'a, K>(
    launches: &'a [Launch],
    kernels: &'a [K],
    name: impl Fn(&K) -> &str,
) -> Result<Vec<Matched<'a, K>>, CompileError> {
    let all_threads = |l: &Launch| {
        let blocks: u128 = l.shape.grid.map(u128::from).iter().product();
        u128::from(l.shape.threads()) * blocks
    };
    let main = (0..launches.len()).max_by_key(|&i| all_threads(&launches[i]));
    let of = |(i, launch): (usize, &'a Launch)| {
        let kernel = kernels.iter().find(|k| name(k) == launch.kernel);
        let missing = || CompileError::MissingKernel {
            kernel: launch.kernel.clone(),
            compiled: kernels.iter().map(|k| name(k).to_owned()).collect(),
        };
        Ok(Matched {
            launch,
            kernel: kernel.ok_or_else(missing)?,
            main: main == Some(i),
        })
    };
    launches.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_device::cuda::Shape;

    #[test]
    fn the_largest_launch_is_the_main_one_however_large() {
        let launch = |kernel: &str, n: u32| Launch {
            kernel: kernel.into(),
            shape: Shape {
                grid: [n; 3],
                block: [n; 3],
                shared: 0,
            },
        };
        let launches = [launch("a", 1), launch("b", u32::MAX), launch("a", 2)];
        let found = matched(&launches, &["a", "b"], |k| k).ok().unwrap();
        let main: Vec<bool> = found.iter().map(|m| m.main).collect();
        assert_eq!(main, [false, true, false]);
        assert_eq!(*found[1].kernel, "b");
        let missing = matched(&launches, &["a"], |k| k).err().unwrap();
        assert!(missing.to_string().contains("no kernel `b`"), "{missing}");
    }
}
