//! `greenup wisdom export`.

use crate::args::WisdomExportArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, stdout, wisdom};
use greenup_files::Outputs;
use greenup_wisdom::{Origin, Store};
use std::collections::HashSet;

pub fn run(args: &WisdomExportArgs) -> Result {
    let own = wisdom::path()?;
    if args.file.as_os_str() != "-" {
        let mut outputs = Outputs::new();
        if let Some(path) = &own {
            outputs.input(path);
        }
        outputs.file(&args.file, &["toml"])?;
        if args.file.symlink_metadata().is_ok() {
            let there = format!("{} is there already", args.file.display());
            return Err(AppError::new(there).hint("name a new file, or remove that one"));
        }
    }
    let mut out = Store::default();
    let mut known = HashSet::new();
    for (e, origin) in wisdom::load()?.known {
        let taken = args.select.takes(&e) && (args.shipped || origin != Origin::Shipped);
        if taken && known.insert(e.key()) {
            out.entries.push(e);
        }
    }
    if out.entries.is_empty() {
        return Err(AppError::new("there is nothing to export").hint(
            "`greenup wisdom list` shows what there is; --shipped exports the shipped entries too",
        ));
    }
    if args.file.as_os_str() == "-" && !args.json {
        stdout::bytes(out.text().map_err(AppError::new)?.as_bytes());
        return Ok(());
    }
    if args.file.as_os_str() != "-" {
        out.write(&args.file)?;
    }
    if args.json {
        return print::json(
            &serde_json::json!({ "file": print::lossy(&args.file), "entries": out.entries }),
        );
    }
    print::note(format!(
        "wrote {} entries to {}",
        out.entries.len(),
        args.file.display()
    ));
    Ok(())
}
