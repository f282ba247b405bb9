//! The XML of KTT as the JSON that it writes of the same results.

use super::FormatError;
use serde_json::{Map, Value as J};

/// Elements that hold elements of one kind: lists of the JSON.
const LISTS: [&str; 4] = ["Results", "Configuration", "ComputationResults", "Counters"];
/// Elements within each other, at most.
const DEEPEST: usize = 16;

/// Whether a text is XML.
pub(in super::super) fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
}

/// The JSON of the same content; all values are texts.
pub(in super::super) fn parse(text: &str) -> Result<J, FormatError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let document = roxmltree::Document::parse(text).map_err(|e| FormatError::Xml(e.to_string()))?;
    let root = document.root_element();
    match root.tag_name().name() {
        "TuningData" => Ok(value(root, DEEPEST)),
        other => Err(FormatError::NotKtt(other.to_owned())),
    }
}

fn value(node: roxmltree::Node, depth: usize) -> J {
    let children = node.children().filter(|n| n.is_element() && depth > 0);
    if LISTS.contains(&node.tag_name().name()) {
        return children.map(|n| value(n, depth - 1)).collect();
    }
    let attributes = node
        .attributes()
        .map(|a| (a.name().to_owned(), J::from(a.value())));
    let mut out: Map<String, J> = attributes.collect();
    for n in children {
        match (
            n.tag_name().name(),
            n.attribute("Key"),
            n.attribute("Value"),
        ) {
            // Texts of the user.
            ("Pair", Some(key), Some(text)) => out.insert(key.to_owned(), text.into()),
            (name, ..) => out.insert(name.to_owned(), value(n, depth - 1)),
        };
    }
    J::Object(out)
}
