//! Texts that several charts of a page show on hovering are kept once.

use serde_json::Value;
use std::collections::HashMap;

const OPEN: &str = "<script type=\"application/json\" class=\"tips\">";
const CLOSE: &str = "</script>";
/// Where the common texts are kept, before the script of the page.
const PLACE: &str = "<!--shared-tips-->";
/// Shorter texts are not worth a number.
const SHORT: usize = 8;

/// The page with numbers in place of tips that occur more than once.
pub fn share(html: &str) -> String {
    let Some(lists) = lists(html) else {
        return html.to_owned();
    };
    let mut times: HashMap<&str, usize> = HashMap::new();
    for tip in lists.iter().flat_map(|(_, l)| &l.1) {
        *times.entry(tip.as_str()).or_default() += 1;
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut common: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(html.len());
    let mut from = 0;
    for ((start, end), (names, tips)) in &lists {
        let short: Vec<Value> = tips
            .iter()
            .map(|tip| {
                if tip.len() < SHORT || times.get(tip.as_str()).is_none_or(|n| *n < 2) {
                    return Value::from(tip.as_str());
                }
                Value::from(*places.entry(tip).or_insert_with(|| {
                    common.push(tip);
                    common.len() - 1
                }))
            })
            .collect();
        out.push_str(&html[from..*start]);
        out.push_str(&json(&(names, short)));
        from = *end;
    }
    let (before, after) = html[from..]
        .split_once(PLACE)
        .unwrap_or((&html[from..], ""));
    out.push_str(before);
    if !common.is_empty() {
        out.push_str("<script type=\"application/json\" class=\"shared-tips\">");
        out.push_str(&json(&common));
        out.push_str(CLOSE);
    }
    out.push_str(after);
    out
}

/// JSON in which no tag ends.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_default()
        .replace('<', "\\u003c")
}

/// Names of values, and tips.
type Tips = (Vec<String>, Vec<String>);

/// Where the lists of tips are, and what they hold; `None` if one is unreadable.
fn lists(html: &str) -> Option<Vec<((usize, usize), Tips)>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = html[at..].find(OPEN) {
        let start = at + found + OPEN.len();
        let end = start + html[start..].find(CLOSE)?;
        out.push(((start, end), serde_json::from_str(&html[start..end]).ok()?));
        at = end;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurs_twice_is_kept_once() {
        let list = |tips: &[&str]| format!("<p>{OPEN}{}{CLOSE}</p>", json(&(["a"], tips)));
        let html = format!(
            "{}{}{PLACE}<script>js</script>",
            list(&["config <one>", "config two", "0"]),
            list(&["config two", "config <one>", "0"])
        );
        let out = share(&html);
        assert!(out.contains(r#"[["a"],[0,1,"0"]]"#) && out.contains(r#"[["a"],[1,0,"0"]]"#));
        assert!(out.contains(
            r#"class="shared-tips">["config \u003cone>","config two"]</script><script>js"#
        ));
        assert_eq!(share(&format!("<p></p>{PLACE}x")), "<p></p>x");
    }
}
