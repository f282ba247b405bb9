//! What authors write, right and wrong.

mod limits;

use std::sync::Arc;

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
fn steps_of_decimals_are_decimals() {
    let kept = |range: &str, value: &str| {
        size(&format!(
            "[parameters]\nx = '{range}'\n[hard]\nf = 'x == {value}'"
        ))
    };
    for k in 0..=10 {
        let value = format!("{}", f64::from(k) / 10.0);
        assert_eq!(kept("0.0 : 1.0 : 0.1", &value), 1, "{value}");
        assert_eq!(kept("1.0 : 0.0 : -0.1", &value), 1, "{value}");
    }
    assert_eq!(kept("1e-9 : 9e-9 : 1e-9", "7e-9"), 1);
    assert_eq!(kept("0 : 1 : 0.05", "0.35"), 1);
    assert_eq!(size("[parameters]\nx = '0.1 : 0.95 : 0.1'"), 9);
}

/// All different: counted as sets of values, indexed as such, also where some values are not shared.
#[test]
fn permutations_are_counted_without_looking_at_each() {
    let all_different = |n: usize, domain: &dyn Fn(usize) -> String| {
        let mut text = "[parameters]\n".to_owned();
        for i in 0..n {
            text.push_str(&format!("p{i} = '{}'\n", domain(i)));
        }
        text.push_str("[hard]\n");
        for i in 0..n {
            for j in 0..i {
                text.push_str(&format!("d{i}_{j} = 'p{i} != p{j}'\n"));
            }
        }
        text
    };
    let twelve = all_different(12, &|_| "0 : 11".into());
    assert_eq!(size(&twelve), 479_001_600);
    let index = Index::build(&Arc::new(space(&twelve).unwrap()), &Limits::default()).unwrap();
    assert_eq!(index.len(), 479_001_600);
    for i in [0, 1, 77_777_777, 479_001_599] {
        assert_eq!(index.position(&index.get(i).unwrap()), Some(i));
    }
    // Of 1..=i+2 each has two more values than there are parameters before it: 2^n.
    assert_eq!(
        size(&all_different(9, &|i| format!("1 : {}", i + 2))),
        1 << 9
    );
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
def fibonacci(limit):
    a, b = 1, 2
    while a <= limit:
        yield a
        a, b = b, a + b

def prime_factors(n):
    found = []
    p = 2
    while n > 1:
        if n % p:
            p += 1
            continue
        if p not in found:
            found.append(p)
        n //= p
    return found
'''
[parameters]
n = [12, 30]
f = 'fibonacci(n)'
p = 'prime_factors(n)'
";
    // 1 2 3 5 8 and 2 3; 1 2 3 5 8 13 21 and 2 3 5.
    assert_eq!(size(fibonacci), 5 * 2 + 7 * 3);
    let hang =
        "script = '''\ndef f():\n    while True:\n        pass\n'''\n[parameters]\na = 'f()'";
    assert!(
        refusal(hang).contains("steps in one call"),
        "{}",
        refusal(hang)
    );
    let wrong = "script = 'def f(n): return 3'\n[parameters]\na = 'f(2)'";
    assert!(refusal(wrong).contains("not a list"));
    let unreadable =
        "name = 'x'\nscript = '''\ndef f(n):\n    return n +\n'''\n[parameters]\na = 'f(2)'";
    assert!(
        refusal(unreadable).starts_with("line 4: "),
        "{}",
        refusal(unreadable)
    );
    let before = "script = 'fn f(n) { [n] }'\n[parameters]\na = 'f(2)'";
    let e = Space::read(before, &Facts::new())
        .err()
        .and_then(|e| e.hint);
    assert!(e.is_some_and(|h| h.contains("`def f(n):`")));
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
        ("[parameters]\na = []", "`a`: the list has no values"),
        (
            "[parameters]\na = '[i for i in (1, 2) if i > 2]'",
            "line 2: parameter `a`: `[i for i in (1, 2) if i > 2]` gives no values",
        ),
        ("[parameters]\na = '8 : 1'", "`8 : 1` gives no values"),
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
        // A parameter of one value is a constant.
        (
            "[parameters]\na = [0]\nb = [1, 2]\n[hard]\nf = '1 / a > 0'",
            "division by zero",
        ),
        (
            "[parameters]\na = [0]\n[hard]\nf = '1 // a > 0'",
            "division by zero",
        ),
        (
            "[parameters]\na = [9223372036854775807]\n[hard]\nf = 'a + 1 > 0'",
            "does not fit 64 bits",
        ),
        (
            "[parameters]\na = ['x', 'y']\n[hard]\nf = 'a < 3'",
            "no order with a number",
        ),
        (
            "[parameters]\na = [1, 2]\n[hard]\nf = 'frob(a) == 1'",
            "unknown function `frob`",
        ),
        (
            "[parameters]\na = [2, 3]\n[hard]\nf = 'a > 5 and sqrtt(a) > 1'",
            "did you mean `sqrt`",
        ),
        (
            "[parameters]\na = [2, 3]\n[hard]\nf = 'a == 3 or len(a, 1) > 1'",
            "`len` takes 1 value, not 2",
        ),
        (
            "[parameters]\na = [2, 3]\n[derived]\nd = '1 + frob(a)'",
            "unknown function `frob`",
        ),
        (
            "script = \"def frob(x):\\n    return [x]\"\n[parameters]\na = [2, 3]\n[hard]\nf = 'a > 0 or len(frob(a, 1)) == 1'",
            "`frob` takes 1 value, not 2",
        ),
        (
            "[parameters]\na = [2, 3]\n[hard]\nf = 'a > 0 or len(divisors(a, 3)) > 1'",
            "`divisors` takes 1 value, not 2",
        ),
        (
            "[parameters]\na = [1]\n[filters]\nf = 'a == 1'",
            "`filters` is not part",
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
        ("{\"x\": 3}", "not a space"),
        ("{", "not valid JSON"),
        ("[parameters", "not valid TOML"),
    ] {
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
    let s = Arc::new(space(text).unwrap());
    let index = Index::build(&s, &Limits::default()).unwrap();
    assert!(index.is_empty() && index.get(0).is_none());
    let some = index.sample(3, &mut fastrand::Rng::with_seed(1), &|| false);
    assert!(some.unwrap().is_empty());
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

#[test]
fn numbers_in_json_are_read_exactly() {
    // The nearest double of each, which a quick reading misses by one unit in the last place.
    let mut rng = fastrand::Rng::with_seed(7);
    let texts: Vec<String> = (0..10_000)
        .map(|_| {
            format!(
                "0.{}e{}",
                rng.u64(10_000_000_000_000_000..),
                rng.i32(-30..30)
            )
        })
        .collect();
    let list = texts.join(", ");
    let json = format!(r#"{{"parameters": [{{"name": "a", "values": [{list}]}}]}}"#);
    let s = space(&json).unwrap();
    for (text, value) in texts.iter().zip(s.list_of(0).unwrap()) {
        assert_eq!(value, Value::Float(text.parse().unwrap()), "{text}");
    }
}

#[test]
fn keys_of_json_without_effect_are_refused() {
    let neutral = |parameter: &str, more: &str| {
        format!(r#"{{"parameters": [{{"name": "x", {parameter}}}] {more}}}"#)
    };
    let t1 = |space: &str, parameter: &str, condition: &str| {
        format!(
            r#"{{"ConfigurationSpace": {{"TuningParameters": [{{"Name": "x", "Type": "int", "Values": "[1, 2]" {parameter}}}],
            "Conditions": [{{"Expression": "x > 1", "Parameters": ["x"] {condition}}}] {space}}}}}"#
        )
    };
    assert_eq!(size(&t1("", ", \"Default\": 1", "")), 1);
    let described = r#", "title": "t", "expected_valid": 1, "constraints": [{"expr": "x > 1", "kind": "hard"}]"#;
    assert_eq!(size(&neutral("\"values\": [1, 2]", described)), 1);
    for (text, why) in [
        (t1(", \"Constraints\": []", "", ""), "`Constraints`"),
        (t1("", ", \"Range\": [1, 2]", ""), "`Range`"),
        (t1("", "", ", \"Negated\": true"), "`Negated`"),
        (
            neutral("\"values\": [1]", ", \"filters\": [\"x > 1\"]"),
            "`filters`",
        ),
        (neutral("\"values\": [1], \"unless\": 1", ""), "`unless`"),
        (
            neutral(
                "\"values\": [1], \"range\": {\"start\": 1, \"stop\": 2}",
                "",
            ),
            "`values` and `range`",
        ),
        (
            neutral("\"range\": {\"start\": 1, \"stop\": 9, \"by\": 2}", ""),
            "`by`",
        ),
        (
            neutral(
                "\"values\": [1]",
                r#", "constraints": [{"expr": "x > 1", "kind": "sotf"}]"#,
            ),
            "`kind` is hard or soft",
        ),
    ] {
        let e = refusal(&text);
        assert!(e.contains(why), "{e}: {text}");
    }
}

#[test]
fn wrong_formats_are_named() {
    for (text, kind) in [("null", "null"), (" [1, 2]", "a list"), ("3", "a number")] {
        let e = refusal(text);
        assert!(e.contains(&format!("this JSON is {kind}")), "{e}");
    }
    let e = refusal("[parameters]\na = '2..256'");
    assert!(e.contains("start : stop") && e.contains("line 2"), "{e}");
}

#[test]
fn constants_of_json_are_those_of_toml() {
    let json = |constants: &str, filter: &str| {
        format!(
            r#"{{"constants": {constants}, "parameters": [{{"name": "x", "values": [1, 2, 3]}}], "constraints": ["{filter}"]}}"#
        )
    };
    assert_eq!(size(&json(r#"{"n": "1+1"}"#, "x == n")), 1);
    assert_eq!(size(&json(r#"{"n": 2, "m": "n + 1"}"#, "x == m")), 1);
    assert_eq!(
        size(&json(r#"{"s": "'ab'"}"#, "s == 'ab' and x < len(s)")),
        1
    );
    assert_eq!(size(&json(r#"{"l": [1, 2]}"#, "x in l")), 2);
    for (constants, why) in [
        (
            r#"[{"name": "n", "value": 2}]"#,
            "`constants` is not an object",
        ),
        (r#""n = 2""#, "`constants` is not an object"),
        (r#"{"n": "ab"}"#, "constant `n`"),
        (r#"{"n": "1 +"}"#, "constant `n`"),
    ] {
        let e = refusal(&json(constants, "x > 1"));
        assert!(e.contains(why), "{constants}: {e}");
    }
    let e = refusal(
        r#"{"parameters": [{"name": "x", "values": [1]}], "constraints": [{"expr": "x > 1", "note": 5}]}"#,
    );
    assert!(e.contains("`note` is not a string"), "{e}");
}

#[test]
fn words_of_the_language_name_nothing() {
    for word in [
        "and", "or", "not", "in", "is", "if", "else", "for", "True", "False", "None", "true",
        "false",
    ] {
        for text in [
            format!("[parameters]\n{word} = [1, 2]"),
            format!("[parameters]\nx = [1, 2]\n[constants]\n{word} = 1"),
            format!("[parameters]\nx = [1, 2]\n[derived]\n{word} = 'x'"),
            format!(r#"{{"parameters": [{{"name": "{word}", "values": [1, 2]}}]}}"#),
        ] {
            let e = refusal(&text);
            assert!(
                e.contains(&format!("`{word}` has a meaning of its own")),
                "{e}"
            );
        }
    }
    assert_eq!(
        size("[parameters]\nmin = [1, 2]\n[hard]\nf = 'min(min, 5) > 1'"),
        1
    );
}

#[test]
fn reasons_are_texts() {
    let of = |because: &str| {
        format!("[parameters]\nx = [1, 2]\n[hard]\nf = {{ keep = 'x > 1', because = {because} }}")
    };
    assert_eq!(size(&of("'a reason'")), 1);
    for wrong in ["5", "['a']", "true"] {
        let e = refusal(&of(wrong));
        assert!(
            e.contains("filter `f`: `because` is a reason in quotes"),
            "{e}"
        );
    }
}

#[test]
fn an_index_outside_its_list_is_named() {
    let e = refusal("[parameters]\na = [1]\nb = [0, 2]\n[hard]\nf = '[1, 2][b] > 0'");
    assert!(e.contains("an index is outside its list"), "{e}");
    let none = "[parameters]\nlambda = [1, 2]\nb = [1]\n[hard]\nf = 'b > 0'";
    assert_eq!(size(none), 2);
}
