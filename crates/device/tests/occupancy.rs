//! The rules of occupancy against an H200's driver (`cuOccupancyMaxActiveBlocksPerMultiprocessor`,
//! driver 580): 500 distinct launches of kernels that differ in registers and shared memory, recorded
//! there by `greenup compile --json`.

use greenup_device::cuda::{Capability, Resources};

#[test]
fn rules_and_driver_agree() {
    let data = include_str!("data/h200_occupancy.csv");
    let hopper = Capability::of("sm_90").expect("known");
    let mut cases = 0;
    for line in data.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let n = |i: usize| f[i].parse::<u32>().expect("a number");
        let kernel = Resources {
            registers: n(1),
            shared_bytes: n(2),
            ..Resources::default()
        };
        let o = hopper.occupancy(&kernel, n(3), n(4));
        assert_eq!(o.blocks, n(6), "{line}");
        cases += 1;
    }
    assert!(cases > 300, "{cases}");
}
