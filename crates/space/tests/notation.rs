//! What authors write, right and wrong.

use greenup_space::{Facts, Index, Limits, Space, SpaceError, Stop, Value, count};

fn space(text: &str) -> Result<Space, SpaceError> {
    let facts = Facts::from([("warp_size".to_owned(), Value::Int(32))]);
    Space::read(text, &facts)
}

fn size(text: &str) -> u128 {
    count(&space(text).unwrap(), |_| true, &Limits::default()).unwrap()
}

fn refusal(text: &str) -> String {
    match space(text) {
        Err(e) => e.to_string(),
        Ok(s) => match count(&s, |_| true, &Limits::default()) {
            Err(Stop::Fault(e)) => e.to_string(),
            other => panic!("{text} is accepted: {other:?}"),
        },
    }
}

#[test]
fn every_kind_of_iterator() {
    assert_eq!(size("[parameters]\na = '1 : 10 : 3'"), 4);
    assert_eq!(size("[parameters]\na = '10 : 1 : -3'"), 4);
    assert_eq!(size("[parameters]\na = '0.5 : 2 : 0.5'"), 4);
    assert_eq!(size("[parameters]\na = [1, 2.5, 4]"), 3);
    assert_eq!(size("[parameters]\na = ['x', 'y']\nb = [true, false]"), 4);
    assert_eq!(size("[parameters]\na = 'divisors(12)'"), 6);
    assert_eq!(size("[parameters]\na = 'powers_of_two(3, 100)'"), 5);
    assert_eq!(
        size("[parameters]\na = '[2**i for i in range(5) if i != 2]'"),
        4
    );
    assert_eq!(size("[parameters]\na = 'list(range(1, 4)) + [16]'"), 4);
    assert_eq!(size("[parameters]\nn = [6, 7]\na = 'divisors(n)'"), 6);
    assert_eq!(size("[parameters]\nn = [2, 3]\na = '[n, 2*n, 3*n]'"), 6);
    assert_eq!(size("[parameters]\nb = 'a : 4'\na = '1 : 4'"), 10);
    assert_eq!(
        size(
            "[constants]\nw = 'device.warp_size'\n[parameters]\na = '1 : 2*w'\n[hard]\nf = 'a % w == 0'"
        ),
        2
    );
}

#[test]
fn closures() {
    let fibonacci = r"
script = '''
fn fibonacci(limit) { let a = 1; let b = 2; let out = [];
  while a <= limit { out.push(a); let t = a + b; a = b; b = t; } out }
fn prime_factors(n) { let out = []; let p = 2; let m = n;
  while m > 1 { if m % p == 0 { if !(p in out) { out.push(p); } m /= p; } else { p += 1; } } out }
'''
[parameters]
n = [12, 30]
f = 'fibonacci(n)'
p = 'prime_factors(n)'
";
    // 1 2 3 5 8 and 2 3; 1 2 3 5 8 13 21 and 2 3 5.
    assert_eq!(size(fibonacci), 5 * 2 + 7 * 3);
    let hang = "script = 'fn f() { while true { } [] }'\n[parameters]\na = 'f()'";
    assert!(refusal(hang).contains("operations"), "{}", refusal(hang));
    let wrong = "script = 'fn f(n) { 3 }'\n[parameters]\na = 'f(2)'";
    assert!(refusal(wrong).contains("not a list"));
}

#[test]
fn python_meaning() {
    let p = "[parameters]\na = '1 : 10'\nb = '-3 : 3'\ns = ['x', 'y']\n[hard]\n";
    let n = |f: &str| size(&format!("{p}f = \"{f}\""));
    assert_eq!(n("2 < a <= 5"), 3 * 7 * 2);
    assert_eq!(n("a in (1, 2) and s == 'x'"), 2 * 7);
    assert_eq!(n("s not in ['x']"), 70);
    assert_eq!(n("b // 2 == -2"), 10 * 2, "floor division: -3 and -4");
    assert_eq!(n("-3 % a == 2"), 7 * 2, "only a = 5");
    assert_eq!(n("a / 4 == 0.5"), 7 * 2);
    assert_eq!(n("(a if b > 0 else 1) == 1"), (3 + 4 * 10) * 2);
    assert_eq!(n("not a > 1"), 14);
    assert_eq!(n("a > 9 or b"), (10 * 6 + 1) * 2);
    assert_eq!(n("a ** 2 == 49 && b != 0 || a == 1"), (6 + 7) * 2);
    assert_eq!(n("b != 0 and a % b == 0"), 2 * 2 * (10 + 5 + 3));
    assert_eq!(n("max(a, 8) == min([9, a])"), 2 * 7 * 2);
    assert_eq!(n("s == 3 or s != 3"), 140);
}

#[test]
fn refusals_say_what_and_where() {
    let r = refusal("[parameters]\na = [1, 2]\n[hard]\nlimit = 'aa + a <= 3'");
    assert!(
        r.contains("line 4") && r.contains("filter `limit`") && r.contains("did you mean `a`"),
        "{r}"
    );
    assert!(r.contains("^^"), "{r}");
    for (text, expected) in [
        (
            "[parameters]\na = 'b : 3'\nb = 'a : 3'",
            "in a circle: a, b",
        ),
        (
            "[parameters]\na = [1]\n[derived]\nx = 'y'\ny = 'x'",
            "`x` -> `y` -> `x`",
        ),
        (
            "[parameters]\na = [1]\n[derived]\na = '2'",
            "declared twice",
        ),
        ("[parameters]\na = [1, 2, 1]", "stands there twice"),
        ("[parameters]\na = []", "no points"),
        ("[parameters]\n", "no parameters"),
        ("[parameters]\na = '1 : 10 : 0'", "step of the range is 0"),
        (
            "[parameters]\na = [1, 2]\n[hard]\nf = 'a +'",
            "a value is expected",
        ),
        (
            "[parameters]\na = [1, 2]\n[hard]\nf = 'a = 1'",
            "write `==`",
        ),
        (
            "[parameters]\na = [1, 2]\n[hard]\nf = '2 % (a - 1) == 0'",
            "division by zero",
        ),
        (
            "[parameters]\na = ['x', 'y']\n[hard]\nf = 'a < 3'",
            "no order with a number",
        ),
        (
            "[parameters]\na = [1, 2]\n[hard]\nf = 'frob(a) == 1'",
            "no function `frob`",
        ),
        (
            "[parameters]\na = [1]\n[filters]\nf = 'a == 1'",
            "`filters` is no part",
        ),
        (
            "[constants]\nw = 'device.sms'\n[parameters]\na = [1]",
            "no `device.sms`",
        ),
        (
            "[parameters]\na = [4611686018427387904, 2]\n[hard]\nf = 'a * a > 3'",
            "does not fit 64 bits",
        ),
        ("{\"parameters\": 3}", "not a list"),
        ("{\"x\": 3}", "no space"),
        ("{", "not valid JSON"),
        ("[parameters", "not valid TOML"),
    ] {
        if expected == "no points" {
            assert_eq!(size(text), 0);
            continue;
        }
        let r = refusal(text);
        assert!(r.contains(expected), "{text}: {r}");
    }
}

#[test]
fn a_guard_in_another_filter_suffices() {
    // Undefined only where the other filter rejects, which is decidable later.
    let text = "[parameters]\na = [0, 1, 2]\nb = [1, 2]\n[hard]\nf = '4 % a == 0'\ng = 'a >= b'";
    assert_eq!(size(text), 3);
}

#[test]
fn contradictions_leave_nothing() {
    let text = "[parameters]\na = '1 : 1000'\nb = '1 : 1000'\n[hard]\nf = 'a < b'\ng = 'b < a'";
    assert_eq!(size(text), 0);
    let s = space(text).unwrap();
    let index = Index::build(&s, &Limits::default()).unwrap();
    assert!(index.is_empty() && index.get(0).is_none());
    assert!(index.sample(3, &mut fastrand::Rng::with_seed(1)).is_empty());
}

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
fn t1_problems() {
    let t1 = r#"{"General": {"BenchmarkName": "k"}, "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "x", "Type": "int", "Values": "[16*i for i in range(1, 5)]"},
            {"Name": "y", "Type": "int", "Values": "[1, 2]"},
            {"Name": "m", "Type": "string", "Values": ["row", "col"]}],
        "Conditions": [{"Expression": "x * y <= 64 and (m == 'row' or y == 1)", "Parameters": ["x", "y", "m"]}]}}"#;
    assert_eq!(size(t1), 4 + 2 + 4);
}
