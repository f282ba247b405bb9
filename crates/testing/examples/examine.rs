//! Prints what a reader cannot read on HTML pages: `examine [--dark] [--png FOLDER] FILE …`.
use greenup_testing::browser::{Browser, WIDTHS};
use std::path::PathBuf;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "a tool")]
fn main() {
    let (mut dark, mut folder, mut files) = (false, None, Vec::new());
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--dark") => dark = true,
            Some("--png") => folder = args.next().map(PathBuf::from),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    let mut browser = Browser::start();
    for file in files {
        let start = Instant::now();
        let found = browser.examine(&file, &WIDTHS, dark);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}: {} findings in {seconds:.1} s",
            file.display(),
            found.0.len()
        );
        for ((kind, width), n) in found.counts() {
            println!("  {n} {kind:?} at {width} px");
        }
        print!("{found}");
        if let Some(folder) = &folder {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            for width in WIDTHS {
                let png = browser.open(&file, width, dark).screenshot();
                let path = folder.join(format!("{name}-{width}.png"));
                std::fs::write(path, png).expect("the folder exists");
            }
        }
    }
}
