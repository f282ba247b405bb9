//! Measuring an item anew: the commands that make its records.

use crate::PaperError;
use crate::data::{Item, Measure};

/// The measurements of some items, each record once.
///
/// # Errors
/// There is none.
pub fn of_items<'a>(paper: &str, items: &[&'a Item]) -> Result<Vec<&'a Measure>, PaperError> {
    let mut all: Vec<&Measure> = Vec::new();
    for m in items.iter().flat_map(|i| &i.measure) {
        if all.iter().all(|known| known.record != m.record) {
            all.push(m);
        }
    }
    if all.is_empty() {
        return Err(PaperError::NothingToMeasure(paper.to_owned()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate as papers;

    #[test]
    fn measurements_name_records_of_their_item_and_programs_of_ours() {
        let mut known = 0;
        for paper in papers::list().unwrap() {
            for item in &paper.items {
                for m in &item.measure {
                    known += 1;
                    let at = format!("{} {}: {}", paper.name, item.id, m.record);
                    for record in m.records() {
                        assert!(item.records.contains(record), "{at}: {record}");
                    }
                    let also =
                        |a: &String| m.run.iter().any(|r| r.contains(&format!("{{new}}/{a}")));
                    assert!(m.also.iter().all(also), "{at}");
                    assert!(m.about_s > 0.0 && m.about_s < 3600.0, "{at}");
                    let made = m.run.iter().any(|r| r.contains("{out}"));
                    assert!(made != m.printed, "{at}");
                    for words in m.commands("new folder") {
                        let ours = ["greenup", "gisaxs", "hydro", "fmm"];
                        assert!(ours.contains(&words[0].as_str()), "{at}");
                        // A path with spaces stays one word.
                        assert!(words.iter().all(|w| w != "folder"), "{at}");
                    }
                }
            }
        }
        assert!(known >= 20, "{known}");
    }

    #[test]
    fn a_record_is_measured_once() {
        let paper = papers::find("beast").unwrap();
        let items = paper.select(None).unwrap();
        let all = of_items("beast", &items).unwrap();
        let mut names: Vec<&str> = all.iter().map(|m| m.record.as_str()).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}
