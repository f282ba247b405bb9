//! Depths, lengths and sizes of what authors write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use greenup_space::{Index, Limits, Stop, Value, count};

use crate::{refusal, size, space};

#[test]
fn a_hundred_thousand_constraints() {
    let mut text = String::from("[parameters]\na = '1 : 100'\nb = '1 : 100'\n[hard]\n");
    for i in 0..100_000 {
        text.push_str(&format!("f{i} = 'a * b + {i} > {}'\n", i / 2));
    }
    assert_eq!(size(&text), 10_000);
}

#[test]
fn deep_and_long_expressions_end() {
    let deep = format!(
        "[parameters]\na = [1, 2]\n[hard]\nf = '{}a{}'",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    assert!(refusal(&deep).contains("deep"));
    let long = format!(
        "[parameters]\na = [1, 2]\n[hard]\nf = '{}a > 0'",
        "a + ".repeat(3000)
    );
    assert!(refusal(&long).contains("operations"), "{}", refusal(&long));
    let wide = format!(
        "[parameters]\na = [1, 2]\n[hard]\nf = '{}a > 0'",
        "a > 0 and ".repeat(3000)
    );
    assert_eq!(size(&wide), 2);
}

#[test]
fn long_chains_of_derived_values_are_computed_once_each() {
    let chain = |n: usize| {
        let mut text = "[parameters]\na = [1, 2]\n[derived]\nd0 = 'a * 0.5'\n".to_owned();
        for i in 1..=n {
            text.push_str(&format!("d{i} = 'd{} + d{}'\n", i - 1, i - 1));
        }
        text
    };
    let start = std::time::Instant::now();
    let text = chain(60) + "[hard]\nf = 'd60 > 0'\n";
    assert_eq!(size(&text), 2);
    let s = space(&text).unwrap();
    // Filters that are products of themselves too.
    let product = text.replace(" + ", " * ").replace("a * 0.5", "a") + "g = 'd60 % 3 == 0'\n";
    assert_eq!(size(&product.replace("[1, 2]", "[0, 1]")), 0);
    let derived = s.derived(&[Value::Int(2)]).unwrap();
    assert_eq!(derived[60].1, Value::Float(2.0_f64.powi(60)));
    // As the values of a parameter too.
    let constant = chain(0).replace("'a * 0.5'", "'2'") + "d1 = 'd0 * 3'\n";
    let s = space(&constant.replace("a = [1, 2]", "a = [1, 2]\nb = '1 : d1'")).unwrap();
    assert_eq!(count(&s, |_| true, &Limits::default()).unwrap(), 12);
    // Twice the work a step would take years.
    assert!(start.elapsed().as_secs() < 120);
}

#[test]
fn a_chain_too_deep_for_the_stack_is_refused() {
    let mut text = "[parameters]\na = [1, 2]\n[derived]\nd0 = 'a'\n".to_owned();
    for i in 1..=8000 {
        text.push_str(&format!("d{i} = 'd{} + 1'\n", i - 1));
    }
    let e = refusal(&text);
    assert!(e.contains("within each other"), "{e}");
    // The deepest that is accepted fits a thread's stack.
    let mut text = "[parameters]\na = [1, 2]\n[derived]\nd0 = 'a'\n".to_owned();
    for i in 1..=298 {
        text.push_str(&format!("d{i} = 'd{} + 1'\n", i - 1));
    }
    let s = space(&text).unwrap();
    let last = s.evaluate(
        &greenup_space::expr::parse("d298").unwrap(),
        &[Value::Int(1)],
    );
    assert_eq!(last.unwrap(), Value::Int(299));
    assert_eq!(size(&(text + "[hard]\nf = 'd298 > 299'\n")), 1);
}

#[test]
fn samples_stop_and_do_not_abort() {
    let text = "[parameters]\na = '1 : 100000'\nb = '1 : 100000'\nc = '1 : 100000'";
    let index = Index::build(&Arc::new(space(text).unwrap()), &Limits::default()).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let many = index.sample(1 << 48, &mut rng, &|| false);
    assert_eq!(many.unwrap_err(), Stop::Memory);
    let some = index.sample(1000, &mut rng, &|| true);
    assert_eq!(some.unwrap_err(), Stop::Cancelled);
}

/// Ranges of more values than are ever held.
#[test]
fn long_ranges_are_counted_by_their_lengths() {
    let n = 3_000_000_000_u128;
    assert_eq!(size("[parameters]\nx = '1 : 3000000000'"), n);
    assert_eq!(
        size("[parameters]\nx = '1 : 9000000000000000000'"),
        9 * 10_u128.pow(18)
    );
    let three =
        "[parameters]\na = '1 : 3000000000'\nb = '1 : 3000000000'\nc = '-1 : -3000000000 : -1'\n";
    assert_eq!(size(three), n * n * n);
    assert_eq!(
        size("[parameters]\nx = '1 : 3000000000'\ny = '1 : 3'\n[hard]\nf = 'x * y == 6'"),
        3
    );
    assert_eq!(
        size("[parameters]\nx = '1 : 3000000000'\n[hard]\nf = 'x > 2999999990'"),
        10
    );
    // Their estimates are within a few standard errors.
    for (filter, share) in [("a % 7 == 0", 7.0), ("a % 7 == b % 7", 7.0), ("a < b", 2.0)] {
        let text = format!("{three}[hard]\nf = '{filter}'");
        let s = space(&text).unwrap();
        let time = std::time::Duration::from_millis(400);
        let f = greenup_space::funnel(&s, None, time, &Limits::default()).unwrap();
        assert_eq!(f.cartesian, Some(n * n * n));
        let e = f.rows[0]
            .estimate
            .unwrap_or_else(|| panic!("{filter}: {f:?}"));
        let expected = (n * n * n) as f64 / share;
        assert!(
            (e.points - expected).abs() < 6.0 * e.error,
            "{filter}: {e:?}"
        );
        assert!(e.error < 0.1 * expected, "{filter}: {e:?}");
    }
    let dependent = space("[parameters]\na = '1 : 3000000000'\nb = '1 : a'").unwrap();
    let time = std::time::Duration::from_millis(200);
    let f = greenup_space::funnel(&dependent, None, time, &Limits::default()).unwrap();
    let e = f.estimate.unwrap();
    let expected = (n * (n + 1) / 2) as f64;
    assert!((e.points - expected).abs() < 6.0 * e.error, "{e:?}");
}

/// One long domain after the other: the index looks at the clock between them, and within.
#[test]
fn an_index_of_long_ranges_stops_when_it_is_late() {
    let mut text = "[parameters]\n".to_owned();
    for i in 0..200 {
        text.push_str(&format!("p{i} = '1 : 3000000'\n"));
    }
    let s = Arc::new(space(&text).unwrap());
    let looks = AtomicUsize::new(0);
    // Late within the first domain: some looks later.
    let late = || looks.fetch_add(1, Ordering::Relaxed) >= 3;
    let limits = Limits {
        threads: 1,
        bytes: usize::MAX,
        cancelled: &late,
    };
    let start = std::time::Instant::now();
    assert!(matches!(Index::build(&s, &limits), Err(Stop::Cancelled)));
    // It stops at the first look that says so; all 600 million values take much longer.
    assert_eq!(looks.load(Ordering::Relaxed), 4);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Building a filter takes time in proportion to its length.
#[test]
fn long_filters_are_built_at_once() {
    let names: Vec<String> = (0..60).map(|i| format!("x{i}")).collect();
    let parameters: String = names.iter().map(|n| format!("{n} = [0, 1]\n")).collect();
    let nested = |open: &str, close: &str| {
        let all = names.iter().map(|n| format!("{open}{n}, "));
        format!("{}0{}", all.collect::<String>(), close.repeat(60))
    };
    for value in [
        names.join(" + "),
        names.join(" * "),
        names.join(" - "),
        nested("max(", ")"),
        nested("gcd(", ")"),
        nested("pow(", ")"),
        names.join(" in [0, 1] and "),
        names
            .iter()
            .take(30)
            .fold("0".into(), |e, n| format!("(1 if {n} else {e})")),
        names
            .iter()
            .take(30)
            .fold("0".into(), |e, n| format!("({n} == {e})")),
        names
            .iter()
            .take(30)
            .fold("0".into(), |e, n| format!("({n} and not {e})")),
        names
            .iter()
            .take(30)
            .fold("0".into(), |e, n| format!("abs({n} // (1 + {e}))")),
    ] {
        let text = format!("[parameters]\n{parameters}[hard]\nf = '{value} <= 2'");
        space(&text).unwrap();
    }
}

#[test]
fn what_operators_make_has_a_size() {
    let of = |filter: &str| format!("[parameters]\na = [1, 2]\n[hard]\nf = '{filter}'");
    for filter in [
        "(a, 1) * 5000000 == ()",
        "((a,) * 1000) * 1001 == ()",
        "((a,) * 900000) + ((a,) * 200000) == ()",
        "\"ab\" * (a * 1000000) == \"\"",
    ] {
        let e = refusal(&of(filter));
        assert!(e.contains("more than 1000000 characters or values"), "{e}");
    }
    for filter in [
        "sum([i for i in range(20000000)]) > 0",
        "[(7,) * 1000000 for i in range(1000)][0][0] > 0",
        &format!("[{}][0][0] > 0", ["(7,) * 1000000"; 20].join(", ")),
    ] {
        let e = refusal(&of(filter));
        assert!(e.contains("more than 10000000 values"), "{e}");
    }
    for filter in [
        "() * 10**15 == ()",
        "\"\" * 10**15 == \"\"",
        "(a,) * -3 == ()",
    ] {
        assert_eq!(size(&of(filter)), 2, "{filter}");
    }
}
