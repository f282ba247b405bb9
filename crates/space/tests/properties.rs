//! Random small spaces against brute force over the expression trees.

use greenup_space::expr::{Names, Scope, eval, parse};
use greenup_space::{
    Definition, FilterText, Index, Limits, ParameterText, Space, Strength, Value, ValuesText,
    count, visit,
};
use proptest::prelude::*;

fn atom(names: usize) -> BoxedStrategy<String> {
    let number = (-3_i64..40).prop_map(|i| {
        if i < 0 {
            format!("({i})")
        } else {
            i.to_string()
        }
    });
    if names == 0 {
        return number.boxed();
    }
    prop_oneof![
        3 => (0..names).prop_map(|i| format!("p{i}")),
        1 => number,
        1 => Just("1.5".to_owned()),
    ]
    .boxed()
}

fn number(names: usize) -> BoxedStrategy<String> {
    atom(names)
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                6 => (inner.clone(), prop_oneof![
                    Just("+"), Just("-"), Just("*"), Just("*"), Just("//"), Just("%"), Just("/")
                ], inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
                1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
                1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("max({a}, {b})")),
                1 => inner.clone().prop_map(|a| format!("(-{a})")),
                1 => inner.clone().prop_map(|a| format!("abs({a})")),
                1 => (inner.clone(), inner.clone(), inner)
                    .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            ]
        })
        .boxed()
}

fn condition(names: usize) -> BoxedStrategy<String> {
    let comparison = (
        number(names),
        prop_oneof![
            Just("<="),
            Just("<"),
            Just(">="),
            Just(">"),
            Just("=="),
            Just("!=")
        ],
        number(names),
    )
        .prop_map(|(a, op, b)| format!("{a} {op} {b}"));
    // The forms that the engine solves.
    let divides = (number(names), atom(names), atom(names))
        .prop_map(|(a, b, c)| format!("{a} % ({b} * {c}) == 0"));
    let product =
        (atom(names), atom(names), number(names)).prop_map(|(a, b, c)| format!("{a} * {b} == {c}"));
    prop_oneof![4 => comparison, 2 => divides, 2 => product]
        .prop_recursive(2, 6, 2, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
                inner.prop_map(|a| format!("not ({a})")),
            ]
        })
        .boxed()
}

fn domain(i: usize) -> BoxedStrategy<ValuesText> {
    let list = prop::collection::btree_set(-4_i64..60, 1..20)
        .prop_map(|s| ValuesText::List(s.into_iter().map(Value::Int).collect()));
    let positive = prop::collection::btree_set(1_i64..200, 1..30)
        .prop_map(|s| ValuesText::List(s.into_iter().map(Value::Int).collect()));
    let shuffled = Just(ValuesText::List(
        [8, 1, 30, 2, 64, 16].map(Value::Int).to_vec(),
    ));
    let range = (1_i64..40, 1_i64..4).prop_map(|(n, s)| ValuesText::Text(format!("1 : {n} : {s}")));
    if i == 0 {
        return prop_oneof![list, positive, shuffled, range].boxed();
    }
    let dependent = (0..i, 1_i64..3).prop_map(|(j, s)| ValuesText::Text(format!("1 : p{j} : {s}")));
    let falling = (0..i).prop_map(|j| ValuesText::Text(format!("p{j} : 1 : -1")));
    let multiples = (0..i, 1_i64..80)
        .prop_map(|(j, n)| ValuesText::Text(format!("max(1, p{j}) : {n} : max(1, p{j})")));
    prop_oneof![3 => list, 3 => positive, 1 => range, 2 => dependent, 1 => falling, 1 => multiples]
        .boxed()
}

fn space() -> impl Strategy<Value = Definition> {
    (1_usize..5).prop_flat_map(|n| {
        let domains: Vec<_> = (0..n).map(domain).collect();
        (domains, prop::collection::vec(condition(n), 0..4)).prop_map(|(domains, filters)| {
            Definition {
                name: "random".into(),
                parameters: domains
                    .into_iter()
                    .enumerate()
                    .map(|(i, values)| ParameterText {
                        name: format!("p{i}"),
                        values,
                    })
                    .collect(),
                filters: filters
                    .into_iter()
                    .enumerate()
                    .map(|(i, expression)| FilterText {
                        name: format!("f{i}"),
                        expression,
                        strength: Strength::Hard,
                        because: None,
                    })
                    .collect(),
                ..Definition::default()
            }
        })
    })
}

struct Point<'a>(&'a [Value]);

impl Names for Point<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        let i: usize = name.strip_prefix('p')?.parse().ok()?;
        self.0.get(i).cloned()
    }
}

/// All valid points by brute force; `None` when a filter has no value somewhere, or there are more than `max_points`
/// before the filters.
fn brute(d: &Definition, max_points: usize) -> Option<Vec<Vec<i64>>> {
    let filters: Vec<_> = d
        .filters
        .iter()
        .map(|f| parse(&f.expression).unwrap())
        .collect();
    let mut points: Vec<Vec<Value>> = vec![Vec::new()];
    for p in &d.parameters {
        let mut next = Vec::new();
        for point in points {
            let values: Vec<i64> = match &p.values {
                ValuesText::List(l) => l.iter().filter_map(Value::as_int).collect(),
                ValuesText::Text(t) => {
                    let names = Point(&point);
                    let scope = Scope::new(&names);
                    let part =
                        |s: &str| eval(&parse(s).unwrap(), &scope).unwrap().as_int().unwrap();
                    let parts: Vec<i64> = t.split(':').map(part).collect();
                    let (a, b, s) = (parts[0], parts[1], parts[2]);
                    (0..)
                        .map(|k| a + k * s)
                        .take_while(|v| if s > 0 { *v <= b } else { *v >= b })
                        .collect()
                }
            };
            for v in values {
                let mut q = point.clone();
                q.push(Value::Int(v));
                next.push(q);
            }
        }
        points = next;
        if points.len() > max_points {
            return None;
        }
    }
    let mut out = Vec::new();
    for p in points {
        let names = Point(&p);
        let scope = Scope::new(&names);
        let mut keep = true;
        for f in &filters {
            keep &= eval(f, &scope).ok()?.truth();
        }
        if keep {
            out.push(p.iter().filter_map(Value::as_int).collect());
        }
    }
    Some(out)
}

fn ints(point: &[Value]) -> Vec<i64> {
    point.iter().filter_map(Value::as_int).collect()
}

/// Count, walk, index, neighbours and samples of a space against brute force.
fn agrees_with_brute_force(
    d: &Definition,
    max_points: usize,
    threads: usize,
    seed: u64,
) -> Result<(), TestCaseError> {
    let Some(mut expected) = brute(d, max_points) else {
        return Ok(());
    };
    expected.sort();
    let space = std::sync::Arc::new(Space::new(d).unwrap());
    let limits = Limits {
        threads,
        ..Limits::default()
    };
    prop_assert_eq!(
        count(&space, |_| true, &limits).unwrap(),
        expected.len() as u128
    );
    let mut walked = Vec::new();
    visit(&space, &mut |p| {
        walked.push(ints(p));
        true
    })
    .unwrap();
    walked.sort();
    prop_assert_eq!(&walked, &expected);

    let index = Index::build(&space, &limits).unwrap();
    prop_assert_eq!(index.len(), expected.len() as u64);
    let mut listed = Vec::new();
    for i in 0..index.len() {
        let p = index.get(i).unwrap();
        prop_assert_eq!(index.position(&p), Some(i));
        listed.push(ints(&p));
    }
    let by_number = listed.clone();
    listed.sort();
    prop_assert_eq!(&listed, &expected);

    // Neighbours: exactly the points that differ in one place.
    if !expected.is_empty() {
        let mut rng = fastrand::Rng::with_seed(seed);
        let i = rng.u64(..index.len());
        let me = &by_number[i as usize];
        let differ = |q: &Vec<i64>| me.iter().zip(q).filter(|(a, b)| a != b).count();
        let mut near = index.neighbours(i);
        near.sort();
        let wanted: Vec<u64> = (0..index.len())
            .filter(|&j| differ(&by_number[j as usize]) == 1)
            .collect();
        prop_assert_eq!(near, wanted);
        for j in index.adjacent(i) {
            prop_assert_eq!(differ(&by_number[j as usize]), 1);
        }
        let mut some = index.sample(20, &mut rng, &|| false).unwrap();
        some.sort();
        some.dedup();
        prop_assert_eq!(some.len() as u64, index.len().min(20));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_brute_force(d in space(), threads in 1_usize..3, seed in any::<u64>()) {
        agrees_with_brute_force(&d, 40_000, threads, seed)?;
    }

    /// No text makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9_ ()+*/%<>=!&|\\[\\],.:'\"~^-]{0,80}") {
        let _ = greenup_space::expr::parse(&text);
        let _ = greenup_space::expr::parse_domain(&text);
    }
}

/// Number of spaces of the long test: `GREENUP_TEST_SPACES`, or a minute's worth.
fn many() -> u32 {
    let given = std::env::var("GREENUP_TEST_SPACES").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: many(), ..ProptestConfig::default() })]

    #[test]
    #[ignore = "tens of thousands of spaces: a minute"]
    fn the_engine_agrees_with_brute_force_on_many_spaces_at_length(
        d in space(), threads in 1_usize..3, seed in any::<u64>(),
    ) {
        agrees_with_brute_force(&d, 1_000, threads, seed)?;
    }
}

/// A filter without a value is an error only where a point exists, also one of constants.
#[test]
fn a_fault_counts_only_at_a_point_that_exists() {
    let space = |last: &str| {
        let text = format!(
            "[parameters]\np0 = [19]\np1 = [0]\np2 = '{last}'\n[hard]\nf = '(0 // (p0 // 20)) % (p0 * p0) == 0'"
        );
        std::sync::Arc::new(Space::read(&text, &greenup_space::Facts::new()).unwrap())
    };
    let limits = Limits::default();
    let none = space("max(1, p0) : 1 : max(1, p0)");
    assert_eq!(count(&none, |_| true, &limits), Ok(0));
    assert!(Index::build(&none, &limits).unwrap().is_empty());
    visit(&none, &mut |_| panic!("it has no point")).unwrap();
    let one = space("max(1, p0) : 19 : max(1, p0)");
    let e = Index::build(&one, &limits).err().unwrap().to_string();
    assert!(
        e.contains("division by zero in `(0 // (p0 // 20)) % (p0 * p0) == 0`"),
        "{e}"
    );
    assert!(e.ends_with('`'), "{e}");
}

/// Filters of groups that do not touch each other, each without a value somewhere.
#[test]
fn faults_of_independent_groups_are_one_error() {
    let text = |a: &str, b: &str| {
        let text =
            format!("[parameters]\na = {a}\nb = {b}\n[hard]\nf = '1 // a > 0'\ng = '1 // b > 0'");
        Space::read(&text, &greenup_space::Facts::new()).unwrap()
    };
    let limits = Limits::default();
    for (a, b) in [
        ("[0, 1]", "[0, 1]"),
        ("[0, -5]", "[0, -5]"),
        ("[0]", "[0, 2]"),
        ("[1, 2]", "[0, 1]"),
    ] {
        let e = count(&text(a, b), |_| true, &limits).unwrap_err();
        assert!(e.to_string().contains("division by zero"), "{a} {b}: {e}");
    }
    // Where the other group has no point, the fault is at none.
    assert_eq!(count(&text("[0, 1]", "[2, 3]"), |_| true, &limits), Ok(0));
}

/// A million texts made of the language's own pieces: none makes the reader, the builder or a
/// bounded count panic.
#[test]
#[ignore = "takes a while without optimisation"]
fn a_million_texts_of_the_languages_own_pieces_at_length() {
    const PIECES: [&str; 48] = [
        "a",
        "b",
        "p0",
        "1",
        "0",
        "-",
        "+",
        "*",
        "/",
        "//",
        "%",
        "**",
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        "<",
        "<=",
        "==",
        "!=",
        ">",
        " and ",
        " or ",
        " not ",
        " in ",
        " if ",
        " else ",
        " for ",
        "min(",
        "max(",
        "divisors(",
        "range(",
        "powers_of_two(",
        "'x'",
        "\"",
        "1.5",
        "1e300",
        "9223372036854775807",
        "<<",
        ">>",
        "&",
        "|",
        "^",
        "~",
        "len(",
        "é",
    ];
    let mut rng = fastrand::Rng::with_seed(2026);
    let mut built = 0;
    for _ in 0..1_000_000 {
        let n = rng.usize(1..14);
        let text: String = (0..n).map(|_| PIECES[rng.usize(..PIECES.len())]).collect();
        let _ = greenup_space::expr::parse_domain(&text);
        let Ok(e) = parse(&text) else { continue };
        let names = |n: &str| (n == "a" || n == "b").then_some(Value::Int(3));
        let _ = eval(&e, &Scope::new(&names));
        let d = Definition {
            parameters: ["a", "b"]
                .map(|name| ParameterText {
                    name: name.into(),
                    values: ValuesText::List([-2, 0, 1, 7].map(Value::Int).to_vec()),
                })
                .to_vec(),
            filters: vec![FilterText {
                name: "f".into(),
                expression: text,
                strength: Strength::Hard,
                because: None,
            }],
            ..Definition::default()
        };
        if let Ok(s) = Space::new(&d) {
            built += 1;
            let limits = Limits {
                threads: 1,
                ..Limits::default()
            };
            let _ = count(&s, |_| true, &limits);
        }
    }
    assert!(built > 1_000, "{built} of them are whole expressions");
}
