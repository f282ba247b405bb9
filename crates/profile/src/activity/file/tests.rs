use super::*;

fn frame(kind: u32, words: &[u64]) -> Vec<u8> {
    let mut out = [kind.to_ne_bytes(), (8 * words.len() as u32).to_ne_bytes()].concat();
    words.iter().for_each(|w| out.extend(w.to_ne_bytes()));
    out
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from_ne_bytes(
        [low.to_ne_bytes(), high.to_ne_bytes()]
            .concat()
            .try_into()
            .unwrap(),
    )
}

fn kernel(start: u64, end: u64) -> Vec<u8> {
    let words = [
        start,
        end,
        pair(0, 1),
        pair(1, 7),
        pair(4, 2),
        pair(1, 128),
        pair(1, 1),
        0,
    ];
    frame(frame::KERNEL, &words)
}

fn name() -> Vec<u8> {
    frame(frame::NAME, &[0, u64::from_ne_bytes(*b"_Z3abcv\0")])
}

#[test]
fn records_come_on_the_monotonic_clock() {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(frame(frame::CLOCK, &[1000, 51_000, 12, 130_500]));
    bytes.extend(name());
    bytes.extend(kernel(2000, 2500));
    bytes.extend(frame(
        frame::COPY,
        &[3000, 3100, 4096, pair(1, 7), pair(1, 0)],
    ));
    bytes.extend(frame(frame::DROPPED, &[3]));
    bytes.extend(frame(
        frame::DEVICE,
        &[1, u64::from_ne_bytes(*b"0000:1b\0")],
    ));
    bytes.extend(frame(frame::END, &[4000, 54_000, 12, 130_500]));
    let a = Activity::parse(&bytes).unwrap();
    assert_eq!((a.pid, a.dropped, a.complete), (12, 3, true));
    assert_eq!(a.names, ["_Z3abcv"]);
    assert_eq!(a.devices[&1], "0000:1b");
    let what = What::Kernel {
        name: 0,
        grid: [4, 2, 1],
        block: [128, 1, 1],
    };
    assert_eq!(a.events[0].what, what);
    assert_eq!((a.events[0].start_ns, a.events[0].end_ns), (52_000, 52_500));
    assert_eq!((a.events[1].bytes, a.events[1].device), (4096, 1));
}

#[test]
fn a_cut_file_keeps_what_is_whole_and_nonsense_is_an_error() {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(name());
    bytes.extend(kernel(10, 20));
    let whole = bytes.len();
    bytes.extend(kernel(30, 40));
    for cut in whole..bytes.len() {
        let a = Activity::parse(&bytes[..cut]).unwrap();
        assert_eq!((a.events.len(), a.complete), (1, false));
    }
    assert!(matches!(Activity::parse(b"PK\x03\x04"), Err(None)));
    let mut bad = MAGIC.to_vec();
    bad.extend(kernel(1, 2));
    assert!(matches!(Activity::parse(&bad), Err(Some((8, _)))));
    let mut bad = MAGIC.to_vec();
    bad.extend(3_u32.to_ne_bytes());
    bad.extend(u32::MAX.to_ne_bytes());
    assert!(Activity::parse(&bad).is_err());
}

#[test]
fn a_broken_file_leaves_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = MAGIC.to_vec();
    whole.extend(name());
    whole.extend(kernel(10, 20));
    std::fs::write(dir.path().join("7-0.activity"), &whole).unwrap();
    // Its process was killed before it wrote anything.
    std::fs::write(dir.path().join("8-0.activity"), "").unwrap();
    let all = Activity::read_all(dir.path()).unwrap();
    assert_eq!((all[0].pid, all[0].events.len()), (7, 1));
    assert_eq!((all[1].pid, all[1].events.len()), (8, 0));
    assert!(
        all[1].messages[0].contains("not a file of GPU activity"),
        "{all:?}"
    );
    assert!(Activity::read_all(&dir.path().join("none")).is_err());
}

#[test]
fn a_record_at_the_end_of_the_clock_is_left_out() {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(frame(frame::CLOCK, &[0, 1 << 62, 12, 130_500]));
    bytes.extend(name());
    bytes.extend(kernel(u64::MAX - 1, u64::MAX));
    let a = Activity::parse(&bytes).unwrap();
    assert!(crate::groups::devices(&[a]).is_empty());
}

#[test]
fn no_bytes_make_it_panic() {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(frame(frame::CLOCK, &[1000, 51_000, 12, 130_500]));
    bytes.extend(name());
    for k in 1..4 {
        bytes.extend(kernel(k * 2000, k * 2000 + 500));
    }
    bytes.extend(frame(frame::SET, &[9000, 9100, 64, pair(3, 1)]));
    bytes.extend(frame(frame::END, &[4_000_000_000_000, 54_000, 12, 130_500]));
    let mut rng = fastrand::Rng::with_seed(7);
    let mut read = 0;
    for _ in 0..30_000 {
        let mut bad = bytes.clone();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(8..bad.len());
            let any = rng.u8(..);
            bad[at] = [0, 1, 0x7f, 0x80, 0xff, any][rng.usize(..6)];
        }
        if let Ok(a) = Activity::parse(&bad) {
            read += 1;
            let d = crate::groups::devices(&[a]);
            assert!(d.iter().all(|d| d.busy_s >= 0.0 && d.gap_s >= 0.0));
        }
    }
    assert!(read > 1000);
}
