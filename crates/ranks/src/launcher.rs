//! What the environment says about the launcher of this process.

/// What a launcher such as `mpirun` or `srun` told this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Number of this process.
    pub rank: usize,
    /// Number of processes.
    pub size: usize,
}

/// Variables of launchers with rank and size: Open MPI, MPICH and its kin, Slurm.
const VARIABLES: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
];

/// What the launcher of this process said, if there was one. Nothing is loaded for it.
pub fn launched() -> Option<Launched> {
    from(|name| std::env::var(name).ok())
}

fn from(get: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name| get(name)?.trim().parse::<usize>().ok();
    VARIABLES.iter().find_map(|(rank, size)| {
        let (rank, size) = (number(rank)?, number(size)?);
        (rank < size).then_some(Launched { rank, size })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let of = |all: &[(&str, &str)]| {
            from(|name| {
                let found = all.iter().find(|(n, _)| *n == name)?;
                Some(found.1.to_owned())
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("SLURM_NTASKS", "4")]), None);
        let third = Some(Launched { rank: 2, size: 4 });
        assert_eq!(
            of(&[("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4")]),
            third
        );
        assert_eq!(of(&[("PMI_RANK", "2"), ("PMI_SIZE", "4")]), third);
        assert_eq!(of(&[("PMIX_RANK", "2"), ("SLURM_NTASKS", "4")]), third);
        assert_eq!(of(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), None);
        assert_eq!(of(&[("PMI_RANK", "x"), ("PMI_SIZE", "4")]), None);
    }
}
