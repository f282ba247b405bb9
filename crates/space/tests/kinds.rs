//! Parameters whose values are tuples, `None`, strings and numbers, as Kernel Tuner has them.

use greenup_space::expr::{Scope, eval, parse};
use greenup_space::{
    Definition, Facts, FilterText, Index, Limits, ParameterText, Space, Strength, Value,
    ValuesText, count, visit,
};
use std::sync::Arc;

fn space(text: &str) -> Space {
    Space::read(text, &Facts::new()).unwrap_or_else(|e| panic!("{text}: {}", e.message))
}

/// Points as text, in the order of the values.
fn points(text: &str) -> Vec<String> {
    let space = Arc::new(space(text));
    let mut all = Vec::new();
    visit(&space, &mut |p| {
        all.push(p.iter().map(Value::to_string).collect::<Vec<_>>().join(" "));
        true
    })
    .unwrap();
    let index = Index::build(&space, &Limits::default()).unwrap();
    assert_eq!(index.len(), all.len() as u64);
    for i in 0..index.len() {
        let p = index.get(i).unwrap();
        assert_eq!(index.position(&p), Some(i));
    }
    all
}

/// T1 as Kernel Tuner's own problems write it; the points are those of Python's `itertools.product` and `eval`.
#[test]
fn tuples_and_none_of_t1() {
    let t1 = |values: &str, condition: &str| {
        format!(
            r#"{{"ConfigurationSpace": {{"TuningParameters": [{values}, {{"Name": "u", "Values": "[1, 2]"}}],
            "Conditions": [{{"Parameters": [], "Expression": "{condition}"}}]}}}}"#
        )
    };
    let block = r#"{"Name": "b", "Values": "[(32, 1), (16, 2), (8, 8)]"}"#;
    let expected = [
        "(32, 1) 1",
        "(32, 1) 2",
        "(16, 2) 1",
        "(16, 2) 2",
        "(8, 8) 1",
    ];
    assert_eq!(points(&t1(block, "b[0]*b[1]*u <= 64")), expected);
    // The same as a list of lists.
    let block = r#"{"Name": "b", "Values": [[32, 1], [16, 2], [8, 8]]}"#;
    assert_eq!(points(&t1(block, "b[0]*b[1]*u <= 64")), expected);
    assert_eq!(points(&t1(block, "b[-1] == 1 and u == 1")), ["(32, 1) 1"]);
    let last = ["(16, 2) 2", "(8, 8) 1", "(8, 8) 2"];
    assert_eq!(
        points(&t1(block, "max(b) < 9 or b == (16, u * 2 // u) and u > 1")),
        ["(16, 2) 2", "(8, 8) 1", "(8, 8) 2"]
    );
    assert_eq!(points(&t1(block, "sum(b) < 18 + u")).len(), 4);
    assert_eq!(
        points(&t1(block, "u in b or b[0] < 16")),
        ["(32, 1) 1", last[0], last[1], last[2]]
    );
    let none = r#"{"Name": "x", "Values": "[1, None, 3]"}"#;
    for condition in [
        "x is None or x > 1",
        "not x or x > u",
        "(x or 2) > 1",
        "x in (None, 3)",
        "x != 1",
    ] {
        let expected = ["None 1", "None 2", "3 1", "3 2"];
        assert_eq!(points(&t1(none, condition)), expected, "{condition}");
    }
    assert_eq!(points(&t1(none, "x is not None and x == u")), ["1 1"]);
    assert_eq!(points(&t1(none, "u == x")), ["1 1"]);
    let null = r#"{"Name": "x", "Values": [1, null, 3]}"#;
    assert_eq!(points(&t1(null, "x is None")), ["None 1", "None 2"]);
}

#[test]
fn our_notation_has_them_too() {
    let text = "
        [constants]
        least = 8
        [parameters]
        block = [[32, 1], [16, 2], [8, 8]]
        tile = '1 : block[1]'
        cache = '[None, (\"row\", 4), (\"column\", 8)]'
        [derived]
        threads = 'block[0] * block[1]'
        [hard]
        few = 'threads // tile >= least'
        rows = 'cache is None or cache[0] == \"row\" and cache[1] <= tile'
    ";
    // (32,1): tile 1; (16,2): 1, 2; (8,8): 1..8, 64 // tile >= 8 always. Rows need tile >= 4: five of the last.
    assert_eq!(points(text).len(), 11 + 5);
    assert!(points(text).contains(&"(8, 8) 4 ('row', 4)".to_owned()));
}

#[test]
fn what_has_no_meaning_is_refused() {
    for (text, expected) in [
        // At a point that exists.
        (
            "x = '[1, None, 3]'\n[hard]\nf = 'x > 1'",
            "a value is of the wrong kind in `x > 1` at x = None",
        ),
        (
            "x = '[1, None, 3]'\ny = [1, 2]\n[hard]\nf = 'x > y'",
            "a value is of the wrong kind",
        ),
        (
            "x = [[1, 2], [3]]\n[hard]\nf = 'x[1] > 0'",
            "an index is outside its list in `x[1] > 0` at x = (3,)",
        ),
        ("x = [[1, 2], [3]]\n[hard]\nf = 'x > 0'", "no order"),
        (
            "x = [[1, 2], [3, 4]]\ni = [0, 2]\n[hard]\nf = 'x[i] > 0'",
            "an index is outside its list in `x[i] > 0` at x = (1, 2), i = 2",
        ),
        ("x = [[1, 2], [1, 2]]", "(1, 2) stands there twice"),
        ("x = '[None, None]'", "None stands there twice"),
    ] {
        let text = format!("[parameters]\n{text}");
        let done = Space::read(&text, &Facts::new())
            .map_err(|e| e.message)
            .and_then(|s| count(&s, |_| true, &Limits::default()).map_err(|e| e.to_string()));
        let message = done.err().unwrap_or_else(|| panic!("{text}"));
        assert!(message.contains(expected), "{text}: {message}");
    }
    // NaN is read as null elsewhere; it is no value.
    let nan = r#"{"parameters": [{"name": "x", "values": [1, NaN]}]}"#;
    let e = Space::read(nan, &Facts::new()).err().unwrap();
    assert!(e.message.contains("no finite number"), "{}", e.message);
}

/// Random spaces of mixed values: the compiled space has the points that the interpreter of expressions finds, and the
/// faults.
#[test]
fn mixed_values_agree_with_the_interpreter() {
    let mut rng = fastrand::Rng::with_seed(37);
    let (mut counted, mut faults, mut refused) = (0, 0, 0);
    for _ in 0..4000 {
        let d = random(&mut rng);
        let mut all = vec![Vec::new()];
        for p in &d.parameters {
            let ValuesText::List(values) = &p.values else {
                unreachable!()
            };
            all = all
                .iter()
                .flat_map(|q: &Vec<Value>| {
                    values.iter().map(|v| {
                        let mut q = q.clone();
                        q.push(v.clone());
                        q
                    })
                })
                .collect();
        }
        let filters: Vec<_> = d
            .filters
            .iter()
            .map(|f| parse(&f.expression).unwrap())
            .collect();
        let (mut kept, mut faulty) = (0, 0);
        for point in &all {
            let names = |n: &str| {
                point
                    .get(n.strip_prefix('p')?.parse::<usize>().ok()?)
                    .cloned()
            };
            let scope = Scope::new(&names);
            let truths: Vec<Option<bool>> = filters
                .iter()
                .map(|f| eval(f, &scope).ok().map(|v| v.truth()))
                .collect();
            if truths.contains(&Some(false)) {
                continue;
            }
            kept += 1;
            faulty += u128::from(truths.contains(&None));
        }
        let Ok(space) = Space::new(&d) else {
            refused += 1;
            continue;
        };
        let found = count(&space, |_| true, &Limits::default());
        if faulty > 0 {
            faults += 1;
            // What stands after an `and` may reject the point, and is looked at first where it is decided earlier.
            let right = found.as_ref().map_or(true, |n| *n == kept - faulty);
            assert!(right, "{d:?} has {found:?}");
        } else {
            counted += 1;
            assert_eq!(found.ok(), Some(kept), "{d:?}");
        }
    }
    assert!(
        counted > 1500 && faults > 200 && refused < 2000,
        "{counted} {faults} {refused}"
    );
}

fn random(rng: &mut fastrand::Rng) -> Definition {
    let pool = [
        Value::None,
        Value::Int(1),
        Value::Int(2),
        Value::Int(7),
        Value::Float(0.5),
        Value::from("a"),
        Value::from("b"),
        Value::Bool(true),
        Value::from("ab"),
        Value::Tuple(vec![Value::Int(1), Value::Int(2)]),
        Value::Tuple(vec![Value::Int(7), Value::from("a")]),
        Value::Tuple(vec![Value::Int(2)]),
    ];
    let n = rng.usize(1..4);
    let parameters = (0..n)
        .map(|i| {
            let mut values = pool.to_vec();
            rng.shuffle(&mut values);
            // 1 and True are one value.
            let mut ones = 0;
            values.retain(|v| {
                ones += usize::from(v.as_int() == Some(1));
                v.as_int() != Some(1) || ones == 1
            });
            if rng.u8(..4) == 0 {
                values.retain(|v| v.as_int().is_some());
            }
            values.truncate(rng.usize(1..6));
            ParameterText {
                name: format!("p{i}"),
                values: ValuesText::List(values),
            }
        })
        .collect();
    let filters = (0..rng.usize(1..4))
        .map(|i| FilterText {
            name: format!("f{i}"),
            expression: condition(rng, n, 2),
            strength: Strength::Hard,
            because: None,
        })
        .collect();
    Definition {
        name: "mixed".into(),
        parameters,
        filters,
        ..Definition::default()
    }
}

fn condition(rng: &mut fastrand::Rng, n: usize, depth: usize) -> String {
    let mut name = || format!("p{}", rng.usize(..n));
    let (a, b) = (name(), name());
    if depth > 0 && rng.bool() {
        let left = condition(rng, n, depth - 1);
        return match rng.u8(..4) {
            0 => format!("not ({left})"),
            1 => format!("({left} and {})", condition(rng, n, depth - 1)),
            _ => format!("({left} or {})", condition(rng, n, depth - 1)),
        };
    }
    match rng.u8(..32) {
        0 => format!("{a} is None"),
        1 => format!("{a} is not None"),
        2 => format!("{a}[0] > 1"),
        3 => format!("{a}[0] * {b} <= 7"),
        4 => format!("len({a}) == 2"),
        5 => format!("{a} == (1, 2)"),
        6 => format!("{a} in (None, 1, 'a')"),
        7 => format!("{a} > 1"),
        8 => format!("{a} == {b}"),
        9 => format!("{a} != {b}"),
        10 => format!("{a} < {b}"),
        11 => format!("{a} + {b} > 2"),
        12 => format!("{a}[-1] == {b}"),
        13 => format!("{a} in {b}"),
        14 => format!("len({{{a}, {b}, 1}}) == 3"),
        15 => format!("sum({{{a}, {b}}}) > 2"),
        16 => format!("({a}, {b}) == (1, 'a')"),
        17 => format!("({a}, 2) < ({b}, 3)"),
        18 => format!("any({a} == k for k in ({b}, 2))"),
        19 => format!("all([{a} != {b}, {b} is not None])"),
        20 => format!("{a} is {b}"),
        21 => format!("max({a}, {b}) == {a}"),
        22 => format!("{a}[{b}] == 2"),
        23 => format!("({a}, {b})[{b}] == 1"),
        24 => format!("'a' in {a}"),
        25 => format!("{a} + {b} == 'ab'"),
        26 => format!("{a} * {b} in (2, 'aa')"),
        27 => format!("str({a}) + 'x' == 'bx'"),
        28 => format!("{a} in (1, 2) == {b}"),
        29 => format!("len([k for k in ({a}, {b}) if k != 2]) == 1"),
        30 => format!("int({a}) == 2"),
        _ => a,
    }
}
