//! Filters against the points that Python keeps, and the faults that it finds: `tests/data/python/cases.py`.

use greenup_space::expr::{Scope, eval, parse};
use greenup_space::{
    Definition, Facts, FilterText, Limits, ParameterText, Space, Strength, Value, ValuesText,
    count, visit,
};

struct Case {
    parameters: Vec<(String, Vec<Value>)>,
    filter: String,
    /// Numbers of the points, the last parameter fastest; `None` where Python raises an error.
    kept: Option<Vec<usize>>,
}

fn value(v: &serde_json::Value) -> Value {
    serde_json::from_value(v.clone()).unwrap()
}

fn cases() -> Vec<Case> {
    let all: serde_json::Value =
        serde_json::from_str(include_str!("data/python/cases.json")).unwrap();
    let mut out = Vec::new();
    for group in all.as_array().unwrap() {
        let parameters: Vec<(String, Vec<Value>)> = group["parameters"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, values)| {
                let values = values.as_array().unwrap();
                (name.clone(), values.iter().map(value).collect())
            })
            .collect();
        for (filter, kept) in group["filters"].as_object().unwrap() {
            out.push(Case {
                parameters: parameters.clone(),
                filter: filter.clone(),
                kept: serde_json::from_value(kept.clone()).unwrap(),
            });
        }
    }
    out
}

impl Case {
    fn points(&self) -> Vec<Vec<Value>> {
        let mut all = vec![Vec::new()];
        for (_, values) in &self.parameters {
            let longer = |p: &Vec<Value>| {
                let p = p.clone();
                values
                    .iter()
                    .map(move |v| p.iter().cloned().chain([v.clone()]).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    fn definition(&self) -> Definition {
        Definition {
            name: "python".into(),
            parameters: self
                .parameters
                .iter()
                .map(|(name, values)| ParameterText {
                    name: name.clone(),
                    values: ValuesText::List(values.clone()),
                })
                .collect(),
            filters: vec![FilterText {
                name: "f".into(),
                expression: self.filter.clone(),
                strength: Strength::Hard,
                because: None,
            }],
            ..Definition::default()
        }
    }

    fn same(a: &[Value], b: &[Value]) -> bool {
        a.iter().zip(b).all(|(a, b)| a.literal() == b.literal())
    }

    /// The compiled space: numbers of its points, or why it has none.
    fn compiled(&self) -> Result<Vec<usize>, String> {
        let space = Space::new(&self.definition()).map_err(|e| e.message)?;
        let number = count(&space, |_| true, &Limits::default()).map_err(|e| e.to_string())?;
        let all = self.points();
        let mut out = Vec::new();
        visit(&space, &mut |p| {
            out.push(all.iter().position(|q| Self::same(p, q)).unwrap());
            true
        })
        .map_err(|e| e.message)?;
        assert_eq!(number, out.len() as u128, "{}", self.filter);
        out.sort_unstable();
        Ok(out)
    }

    /// The interpreter at each point.
    fn interpreted(&self) -> Result<Vec<usize>, String> {
        let e = parse(&self.filter).map_err(|e| e.message)?;
        let mut out = Vec::new();
        for (i, point) in self.points().iter().enumerate() {
            let names = |n: &str| {
                let at = self.parameters.iter().position(|(name, _)| name == n)?;
                Some(point[at].clone())
            };
            if eval(&e, &Scope::new(&names))
                .map_err(|e| e.message)?
                .truth()
            {
                out.push(i);
            }
        }
        Ok(out)
    }
}

#[test]
fn filters_keep_what_python_keeps() {
    let all = cases();
    assert!(all.len() > 300);
    let mut wrong = Vec::new();
    for case in &all {
        for (how, found) in [
            ("compiled", case.compiled()),
            ("interpreted", case.interpreted()),
        ] {
            if found.as_ref().ok() != case.kept.as_ref() {
                wrong.push(format!(
                    "{how} `{}`: {found:?}, not {:?}",
                    case.filter, case.kept
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn refusal(text: &str) -> String {
    match Space::read(text, &Facts::new()) {
        Err(e) => e.message,
        Ok(s) => match count(&s, |_| true, &Limits::default()) {
            Err(e) => e.to_string(),
            Ok(n) => panic!("{text} has {n} points"),
        },
    }
}

#[test]
fn what_has_no_meaning_here_is_refused_in_true_words() {
    for (values, filter, words) in [
        (
            "[1, 2]",
            "round(x, 1, 2) == 1",
            "`round` takes 1 to 2 values, not 3",
        ),
        ("[1, 2]", "abs(x, 2) == 1", "`abs` takes 1 value, not 2"),
        ("[1, 2]", "pow(x) == 1", "`pow` takes 2 to 3 values, not 1"),
        (
            "[1, 2]",
            "min() == 1",
            "`min` takes 1 or more values, not 0",
        ),
        ("[1, 2]", "frob(x)", "unknown function `frob`"),
        ("[[1, 2], [3, 4]]", "x[2] == 3", "index 2 of 2 values"),
        ("[[1, 2], [3, 4]]", "x[-3] == 3", "index -3 of 2 values"),
        (
            "[[1, 2], [3, 4]]",
            "-x == 3",
            "`-` does not work on a tuple or list",
        ),
        (
            "[[1, 2], [3, 4]]",
            "abs(x) == 3",
            "a number is expected, not a tuple or list",
        ),
        (
            "[[1, 2], [3, 4]]",
            "x < 3",
            "a tuple or list has no order with a number",
        ),
        ("'[None, None]'", "x", "None stands there twice"),
        (
            "[1, 2]",
            "x + None == 1",
            "`+` does not work on a number and `None`",
        ),
        (
            "[1, 2]",
            "x in 5",
            "`in` needs a list, a tuple or a string on its right, not a number",
        ),
        (
            "['a', 'b']",
            "1 in x",
            "`in` a string needs a string on its left, not a number",
        ),
        (
            "[1, 2]",
            "sum(x) == 1",
            "a list, a tuple or a string is expected, not a number",
        ),
        (
            "[[1, 2], [3, 4]]",
            "x == [1, 2]",
            "a list equals only a list: write a tuple",
        ),
        (
            "[[1, 2], [3, 4]]",
            "x in [[1, 2]]",
            "a list equals only a list: write a tuple",
        ),
        ("[1, 2]", "{x} < {3}", "sets and ranges have no order"),
        ("[1, 2]", "x is (1, 2)", "`is` never holds"),
        (
            "[1, 2]",
            "{1: 2}[x] == 2",
            "a dictionary has no meaning here",
        ),
        (
            "[1, 2]",
            "len(k for k in (x, 1)) == 2",
            "`len` takes no generator",
        ),
        (
            "[1, 2]",
            "x in [i * j for i in (1, 2) for j in (1, 2)]",
            "one `for`",
        ),
        (
            "[1, 2]",
            "any(i for i, j in ((1, 2), (3, 4)))",
            "takes one name",
        ),
        ("[1, 2]", "x <> 1", "write `!=`"),
        ("[1, 2]", "x == 05", "starts with 0: write 5"),
        ("[1, 2]", "2.0 ** (x * 2000) > 1", "a float is too large"),
        (
            "'1 : 100000'",
            "str(x) == '7'",
            "`str` is found for each value of its parameters here",
        ),
        (
            "'1 : 100000'",
            "(x if x > 2 else 1.5) > (x * 9007199254740993 if x > 1 else 0.5)",
            "an integer beyond 2^53",
        ),
    ] {
        let text = format!("[parameters]\nx = {values}\n[hard]\nf = {}", quoted(filter));
        let e = refusal(&text);
        assert!(e.contains(words), "{filter}: {e}");
    }
}

fn quoted(filter: &str) -> String {
    format!("\"{}\"", filter.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Lists of expressions are compiled where the parameters have too many values to look at each.
#[test]
fn lists_of_expressions_need_no_short_parameters() {
    let size = |filters: &[&str]| {
        let mut text = "[parameters]\n".to_owned();
        for name in ["a", "b", "c"] {
            text.push_str(&format!("{name} = '1 : 200'\n"));
        }
        text.push_str("[hard]\n");
        for (i, f) in filters.iter().enumerate() {
            text.push_str(&format!("f{i} = {}\n", quoted(f)));
        }
        let space = Space::read(&text, &Facts::new()).unwrap_or_else(|e| panic!("{}", e.message));
        count(&space, |_| true, &Limits::default()).unwrap()
    };
    let n = 200_u128;
    let differ = n * (n - 1) * (n - 2);
    assert_eq!(size(&["len({a, b, c}) == 3"]), differ);
    assert_eq!(size(&["len(set([a, b, c])) == 3"]), differ);
    assert_eq!(size(&["not len({a, b, c}) == 3"]), n * n * n - differ);
    assert_eq!(size(&["len({a, b, c}) == 1"]), n);
    assert_eq!(size(&["(a, b) == (c, 3)"]), n);
    assert_eq!(size(&["(a, b) in [(1, 2), (2, c)]"]), n + n);
    assert_eq!(size(&["(a, b) < (c, 1)"]), n * n * (n - 1) / 2);
    assert_eq!(size(&["all(k % 100 == 0 for k in (a, b, c))"]), 8);
    assert_eq!(size(&["any([a == 1, b == 1])", "c == 1"]), 2 * n - 1);
    assert_eq!(size(&["(a, b, 7)[c % 3] == 7", "c == 2"]), n * n);
    assert_eq!(size(&["sum({a, b}) == 4", "c == 1"]), 3);
    assert_eq!(size(&["gcd(a, b, c) == 100"]), 8 - 1);
    assert_eq!(
        size(&["log(a, 10) == 2 or log(a, 2) == 3", "b == c"]),
        2 * n
    );
}
