//! Scripts against Python's results (`tests/data/python/scripts.py`), and what is refused.

use super::Scripts;
use super::error::ScriptError;
use crate::expr::{Scope, eval, parse};
use crate::value::Value;
use proptest::prelude::*;

fn call(text: &str, args: &[Value]) -> Result<Vec<Value>, String> {
    Scripts::new(text)
        .map_err(|e| match e.hint {
            Some(hint) => format!("{}; {hint}", e.message),
            None => e.message,
        })?
        .call("f", args)
        .map_err(|e| e.to_string())
}

fn refused(text: &str) -> String {
    match call(text, &[Value::Int(3)]) {
        Err(e) => e,
        Ok(v) => panic!("{text} has {v:?}"),
    }
}

#[test]
fn functions_return_what_python_returns() {
    let all = [
        include_str!("../../tests/data/python/scripts.json"),
        include_str!("../../tests/data/python/statements.json"),
    ];
    let all: Vec<Vec<serde_json::Value>> =
        (all.iter().map(|text| serde_json::from_str(text).unwrap())).collect();
    let mut wrong = Vec::new();
    let mut number = 0;
    for case in all.iter().flatten() {
        let script = case["script"].as_str().unwrap();
        for row in case["calls"].as_array().unwrap() {
            let (one, expected) = (row[0].as_str().unwrap(), row[1].as_str());
            // Texts are compared, since lists are no values of expressions.
            let text = format!("{script}\ndef f():\n    return [str(list({one}))]\n");
            let found = call(&text, &[]);
            number += 1;
            let same = match (&found, expected) {
                (Ok(v), Some(e)) => {
                    matches!(v.as_slice(), [Value::Str(s)] if s == e)
                }
                (Err(e), None) => e.contains("failed in line"),
                _ => false,
            };
            if !same {
                wrong.push(format!("{one}: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(number >= 210, "{number}");
    assert!(
        wrong.is_empty(),
        "{} of {number}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (body, words) in [
        (
            "return [m]",
            "line 2 of the script, column 13: `m` is not known here",
        ),
        ("total = 1\n    return [totl]", "did you mean `total`?"),
        (
            "return [lenn(n)]",
            "unknown function `lenn`: did you mean `len`?",
        ),
        ("return [len]", "`len` is a function: call it"),
        ("sum = 1\n    return [sum([n])]", "`sum` is a value here"),
        (
            "n.apend(1)\n    return [n]",
            "there is no method `apend`: did you mean `append`?",
        ),
        (
            "n.append(1)\n    return [n]",
            "line 2 of the script, column 5: a number has no method `append`",
        ),
        (
            "return [1 // (n - 3)]",
            "line 2 of the script, column 13: division by zero",
        ),
        ("return [9223372036854775807 + n]", "does not fit 64 bits"),
        ("return [[1, 2][n]]", "index 3 of 2 values"),
        ("return [{1: 2}[n]]", "the dictionary has no key 3"),
        (
            "return [n + 'a']",
            "`+` does not work on a number and a string",
        ),
        (
            "return [[1] + (2,)]",
            "`+` does not work on a list and a tuple",
        ),
        ("return [n < 'a']", "a number has no order with a string"),
        (
            "a, b = [1, 2, 3]\n    return [a]",
            "2 names stand on the left, but there are 3 values",
        ),
        ("for x in n:\n        pass", "a number has no elements"),
        (
            "t = (1, 2)\n    t[0] = 3",
            "the elements of a tuple cannot be changed",
        ),
        ("return [{[1]}]", "a list cannot be a key or in a set"),
        (
            "if n > 5:\n        x = 1\n    return [x]",
            "line 4 of the script, column 13: `x` has no value yet",
        ),
        ("return f(n, 2)", "`f` takes 1 value, not 2"),
        ("return n", "returns a number, not a list"),
        ("n += 1", "returns `None`, not a list: is `return` missing?"),
        (
            "return [{1: 2}]",
            "line 2 of the script, column 5: it returns a list with a dictionary in it",
        ),
        ("return f(n)", "calls within each other more than 64 deep"),
        (
            "while True:\n        pass",
            "more than 20000000 steps in one call",
        ),
        (
            "l = [1]\n    for x in l:\n        l.append(x)",
            "more than 1000000 values",
        ),
        (
            "s = 'ab'\n    while True:\n        s += s",
            "more than 1000000 characters",
        ),
        ("l = []\n    l.append(l)\n    return l", "more than 64 deep"),
        ("return [0] * 2000000", "more than 1000000 values"),
        ("return range(3000000)", "more than 1000000 values"),
        (
            "d = {1: 2}\n    for k in d:\n        d[n] = 1",
            "line 3 of the script, column 5: a dictionary changed while a loop goes through it: loop over a list",
        ),
        (
            "if n:\n        return [range(3000000)]\n    return []",
            "line 3 of the script, column 9: a list of more than 1000000 values",
        ),
        ("return [{x: 1 for x in [[n]]}]", "a list cannot be a key"),
        ("return [sum(['a'], '')]", "`sum` adds no strings"),
        // Syntax.
        ("return [9223372036854775808]", "does not fit 64 bits"),
        ("return [f'{n}']", "`f` has no meaning before a string"),
        ("return [R'\\d']", "write `\\\\` for a backslash"),
        ("return ['a' 'b']", "write `+` between them"),
        ("return ['a\\d']", "invalid escape `\\d`"),
        ("return ['\\x4']", "`\\x` takes the 2 hexadecimal digits"),
        ("return ['''a\\\nb''']", "`\\` joins no lines: leave it out"),
        (
            "n = n + \\\n    1",
            "`\\` joins no lines: put the expression",
        ),
        ("a, *b = [n]", "`*` unpacks nothing here"),
        ("return [max(*[n])]", "`*` unpacks nothing here"),
        ("return [sum((x for x in [n]), 1)]", "write a list"),
        (
            "return [sum([n], 1, 2)]",
            "`sum` takes 1 to 2 values, not 3",
        ),
        (
            "class A:\n        pass",
            "`class` is not available in scripts",
        ),
        (
            "import math",
            "`import` is not available in scripts: nothing outside",
        ),
        ("try:\n        pass", "`try` is not available"),
        ("del n", "`del` is not available"),
        ("assert n", "`assert` is not available"),
        ("print(n)", "scripts print nothing"),
        ("return [open('x')]", "scripts reach nothing outside"),
        (
            "def g():\n        pass",
            "functions do not stand within each other",
        ),
        ("return [lambda x: x]", "`lambda` is not available"),
        (
            "return sorted([n], reverse=True)",
            "arguments have no names",
        ),
        ("if n = 3:\n        pass", "`=` does not compare"),
        (
            "if n:\n    return [n]",
            "indented statements are expected below",
        ),
        ("a = 1\n      b = 2", "indented more than the one above"),
        (
            "if n:\n            a = 1\n        b = 2",
            "fits no block above",
        ),
        ("if n:\n\t\ta = 1", "blanks and tabs are mixed"),
        ("break", "`break` stands in no loop"),
        ("else:\n        pass", "`else` stands below no `if`"),
        (
            "while n:\n        break\n    else:\n        pass",
            "a loop has no `else` here",
        ),
        ("a = 1; b = 2", "write one statement a line"),
        ("n == 3", "nothing uses this value"),
        ("n + 1 = 3", "nothing can be assigned to this"),
        ("n: int = 3", "variables have no types"),
        ("l = [n]\n    l[0:1] = [2]", "a slice cannot be assigned to"),
        ("return [n", "this bracket is not closed"),
        ("return ['a\n    ']", "this string has no end in its line"),
        ("return [n.real]", "attributes are not available"),
        ("x = while", "`while` is no name"),
        ("yield from [n]", "write a loop"),
    ] {
        let e = refused(&format!("def f(n):\n    {body}\n"));
        assert!(e.contains(words), "{body}: {e}");
    }
    for (text, words) in [
        ("", "a script has at least one function"),
        ("x = 1", "only functions stand here"),
        (
            "  def f(n):\n    return [n]",
            "without blanks before its `def`",
        ),
        (
            "def f(n):\n    return [n]\ndef f(n):\n    return [n]",
            "`f` is defined twice",
        ),
        (
            "def range(n):\n    return [n]",
            "`range` is a function of expressions",
        ),
        ("def f(n, n):\n    return [n]", "`n` stands here twice"),
        ("def f(n=[]):\n    return [n]", "a default is a number"),
        (
            "def f(n=(1, [2])):\n    return [n]",
            "a default is a number",
        ),
        ("def f(n=1, m):\n    return [n]", "without a default"),
        ("def f(n: int):\n    return [n]", "parameters have no types"),
        ("def f(n) -> list:\n    return [n]", "results have no types"),
        ("@cache\ndef f(n):\n    return [n]", "no decorators"),
        (
            "def f(n)\n    return [n]",
            "`:` is expected here, but the line ends",
        ),
        ("def f(a, b):\n    return [a]", "`f` takes 2 values, not 1"),
        ("fn f(n, m) { let x = `a`; [x] }", "`def f(n, m):`"),
    ] {
        let e = refused(text);
        assert!(e.contains(words), "{text}: {e}");
    }
}

#[test]
fn a_line_is_quoted_with_its_place() {
    let e = Scripts::new("def f(n):\n    x = n +\n    return [x]")
        .err()
        .unwrap();
    assert!(
        e.message.ends_with("\n        x = n +\n               ^"),
        "{}",
        e.message
    );
}

#[test]
fn statements_stand_in_one_line_and_behind_tabs() {
    let list = |text: &str| call(text, &[Value::Int(3)]).unwrap();
    assert_eq!(list("def f(n): return [n]"), [Value::Int(3)]);
    assert_eq!(
        list("def f(n):\n\tif n: return [n]\n\treturn []"),
        [Value::Int(3)]
    );
    assert_eq!(
        list("'What it is.'\ndef f(n, m=-2):\n    \"\"\"Of\n  n.\"\"\"\n    return n, m"),
        [3, -2].map(Value::Int)
    );
    assert_eq!(
        list("def f(n):\r\n    for i in range(n):\r\n        yield i\r\n"),
        [0, 1, 2].map(Value::Int)
    );
}

#[test]
fn all_calls_together_have_a_budget() {
    let text = "def f(n):\n    x = 0\n    while x < 2000:\n        x += 1\n    return [x]";
    let scripts = Scripts::with_budget(text, 100_000).unwrap();
    let one = [Value::Int(1)];
    assert_eq!(scripts.call("f", &one), Ok(vec![Value::Int(2000)]));
    let failed = (0..1000).find_map(|_| scripts.call("f", &one).err());
    assert_eq!(failed, Some(ScriptError::TooManySteps));
}

/// What takes much memory, time or stack at once takes as many steps.
#[test]
fn hostile_scripts_end() {
    for body in [
        "t = (1, 2)\n    for i in range(60):\n        t = (t, t)\n    return [str(t)]",
        "t = (1, 2)\n    for i in range(60):\n        t = (t, t)\n    return [{t}]",
        "t = (1, 2)\n    for i in range(60):\n        t = (t, t)\n    return t",
        "t = [1]\n    u = [1, 2]\n    for i in range(1000):\n        t = [t]\n        u = [u, 1]\n    return [t < u]",
        "t = []\n    for i in range(1000000):\n        t = [t]\n    return [t == [t]]",
        "l = [0] * 1000000\n    while True:\n        m = l + []",
        "s = 'a' * 1000000\n    while len(s) > 0:\n        t = s < s",
        "d = {}\n    while True:\n        d[len(d)] = 1\n        d.pop(len(d) - 1)\n        for k in d:\n            pass",
        "return [x for x in range(9223372036854775807)]",
        "l = [0] * 1000\n    while True:\n        l *= 2",
        "return {k: k for k in range(9223372036854775807)}",
        "return sum([[0] * 1000] * 1000000, [])",
        "for x in enumerate(zip(range(9223372036854775807))):\n        pass",
        "s = {0}\n    while True:\n        s |= {len(s)}",
        "return g(n)\ndef g(n):\n    return [-g(n) for a in [1] for b in [g(n)]]",
    ] {
        refused(&format!("def f(n):\n    {body}\n"));
    }
    let deep = |one: &str, end: &str| {
        format!(
            "def f(n):\n    return [{}n{}]",
            one.repeat(3000),
            end.repeat(3000)
        )
    };
    for (one, end) in [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("not ", ""),
        ("n[", "]"),
        ("n if n else ", ""),
        ("n.copy(", ")"),
        ("{", "}"),
    ] {
        refused(&deep(one, end));
    }
    refused(&format!("def f(n):\n    return [n{}]", " + n".repeat(1500)));
    let mut blocks = "def f(n):\n".to_owned();
    for i in 1..40 {
        blocks.push_str(&format!("{}if n:\n", " ".repeat(i)));
    }
    assert!(refused(&blocks).contains("blocks within each other"));
    // The largest expression and the deepest blocks within all calls that there may be.
    let text = format!(
        "def f(n):\n    return [{}f(n){}]",
        "abs(".repeat(45),
        ")".repeat(45)
    );
    refused(&text);
}

#[test]
fn sorting_has_one_order_also_with_nan() {
    let e = "sorted([float('nan') if k % 3 else k * 7919 % 101 for k in range(200)])";
    let outside = eval(&parse(e).unwrap(), &Scope::new(&|_: &str| None)).unwrap();
    let inside = call(&format!("def f():\n    return {e}"), &[]).unwrap();
    assert_eq!(outside.literal(), Value::Tuple(inside).literal());
    assert!(outside.literal().starts_with("(0, "), "{outside}");
}

/// A random expression of the names `a`, `b` and `x`.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "a", "b", "x", "1", "0", "-3", "2.5", "True", "None", "'s'"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        let operators = vec![
            "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", "==", "!=",
            "and", "or", "is",
        ];
        let functions = vec![
            "abs", "int", "float", "round", "floor", "ceil", "sqrt", "log2", "str", "bool", "exp",
        ];
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(operators),
                inner.clone()
            )
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (prop::sample::select(functions), inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (
                prop::sample::select(vec!["-", "+", "~", "not "]),
                inner.clone()
            )
                .prop_map(|(op, a)| format!("({op}{a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a}, {b})[{c}]")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// An expression has the same value, or none, in a script and outside.
    #[test]
    fn expressions_have_one_meaning(e in expression(), a in -20_i64..20, b in any::<i64>(), x in -4.0_f64..4.0) {
        let names = |n: &str| match n {
            "a" => Some(Value::Int(a)),
            "b" => Some(Value::Int(b)),
            "x" => Some(Value::Float(x)),
            _ => None,
        };
        let outside = eval(&parse(&e).unwrap(), &Scope::new(&names));
        let inside = call(&format!("def f(a, b, x):\n    return [{e}]"), &[Value::Int(a), Value::Int(b), Value::Float(x)]);
        match (&outside, &inside) {
            (Ok(v), Ok(w)) => prop_assert_eq!(v.literal(), w[0].literal(), "{}", e),
            (Err(v), Err(w)) => prop_assert!(w.contains(&v.message) || v.message.contains("tuple"), "{}: {} / {}", e, v.message, w),
            _ => prop_assert!(false, "{}: {:?} / {:?}", e, outside, inside),
        }
    }

    /// No text of the language's words makes a panic.
    #[test]
    fn any_text_is_read_or_refused(words in prop::collection::vec(prop::sample::select(vec![
        "def ", "f", "(", "n", ")", ":", "\n", "\n ", "\n  ", "\t", "if ", "else", "elif ", "while ", "for ", " in ", "range", "return ", "yield ",
        "[", "]", "{", "}", ",", "=", "+=", "-", "**", "1", "0.5", "'a'", "\"\"\"", "#", ".append", ".", "é", "\\", "break", "pass", "not ",
    ]), 0..40)) {
        let text: String = words.concat();
        for text in [text.clone(), format!("def f(n):\n  {text}")] {
            if let Ok(s) = Scripts::with_budget(&text, 10_000) {
                let _ = s.call("f", &[Value::Int(2)]);
            }
        }
    }
}
