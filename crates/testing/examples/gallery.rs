//! Makes the pages of the gallery, pictures of them, and `gallery.md`: `gallery PROGRAMS DOCS`, where `PROGRAMS` is the
//! folder of the programs, as `target/release`. The commands stand in `DOCS/gallery.txt`.
use greenup_testing::browser::{Browser, WIDTHS};
use greenup_testing::succeeds;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Widths of the pages, the heights shown at most in pixels of the page, and the scale of the pictures.
const SIZES: [(u32, u32, f64); 2] = [(1280, 1600, 0.6), (400, 1600, 0.85)];
const HEAD: &str = "# Gallery

The pages of all commands at 1280 and 400 pixels, by light and by dark, and by light what they were before they began with their answer. `just gallery` makes this page: it runs the commands below
on data of this repository and takes the pictures in Chromium. Long pages are cut at 1600 pixels.
";

/// A page: a name, a title, and the command that writes it, or the file.
struct Entry<'a> {
    name: &'a str,
    title: &'a str,
    source: &'a str,
}

fn entries(list: &str) -> Vec<Entry<'_>> {
    let lines = list
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, '|').map(str::trim);
            let mut next = || parts.next().expect("three parts between bars");
            Entry {
                name: next(),
                title: next(),
                source: next(),
            }
        })
        .collect()
}

/// Runs the commands, with `PAGE` for the file of the page and `FOLDER` for a folder; a file is taken as it is.
fn page(entry: &Entry<'_>, programs: &Path, folder: &Path) -> PathBuf {
    if entry.source.ends_with(".html") && !entry.source.contains(' ') {
        return PathBuf::from(entry.source);
    }
    let file = folder.join(format!("{}.html", entry.name));
    let own = folder.join(entry.name);
    fs::create_dir_all(&own).expect("a folder of its own");
    for command in entry.source.split("&&") {
        let command = command.replace("PAGE", &file.display().to_string());
        let command = command.replace("FOLDER", &own.display().to_string());
        let mut words = command.split_whitespace();
        let name = words.next().expect("a program");
        let program = Some(programs.join(name)).filter(|p| p.is_file());
        succeeds(Command::new(program.unwrap_or_else(|| name.into())).args(words));
    }
    if file.is_file() {
        file
    } else {
        own.join("report.html")
    }
}

/// The pictures of the page as it was, folded.
fn before(pictures: &Path, entry: &Entry<'_>) -> String {
    let shown = [(1280, 420), (400, 135)];
    let images: String = (shown.iter())
        .map(|(width, shown)| (format!("before/{}-{width}-light.webp", entry.name), shown))
        .filter(|(name, _)| pictures.join(name).is_file())
        .map(|(name, shown)| {
            format!("<img src=\"gallery/{name}\" width=\"{shown}\" alt=\"as it was\">\n")
        })
        .collect();
    match images.is_empty() {
        true => images,
        false => format!("\n<details><summary>As it was</summary>\n\n{images}\n</details>\n"),
    }
}

#[expect(clippy::print_stdout, reason = "a tool")]
fn main() {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [programs, docs] = args.as_slice() else {
        panic!("gallery PROGRAMS DOCS");
    };
    let list = fs::read_to_string(docs.join("gallery.txt")).expect("the list of pages");
    let folder = tempfile::tempdir().expect("a folder");
    let pictures = docs.join("gallery");
    fs::create_dir_all(&pictures).expect("a folder for the pictures");
    let mut out = HEAD.to_owned();
    let mut browser = Browser::start();
    let mut faults = 0;
    for entry in entries(&list) {
        let file = page(&entry, programs, folder.path());
        let command = entry.source.replace("PAGE", "report.html");
        let command = command.replace("FOLDER", "out");
        let _ = write!(out, "\n## {}\n\n`{command}`\n", entry.title);
        let weight = fs::metadata(&file).map_or(0, |m| m.len());
        let mut found = 0;
        for dark in [false, true] {
            let all = browser.examine(&file, &WIDTHS, dark).0;
            found += all.len();
            let scheme = if dark { "dark" } else { "light" };
            out.push('\n');
            for (width, height, scale) in SIZES {
                let name = format!("{}-{width}-{scheme}.webp", entry.name);
                let picture = browser.open(&file, width, dark).top(height, scale);
                fs::write(pictures.join(&name), picture).expect("the picture can be written");
                let shown = if width > 1000 { 620 } else { 200 };
                let _ = writeln!(
                    out,
                    "<img src=\"gallery/{name}\" width=\"{shown}\" alt=\"{}, {width} pixels, {scheme}\">",
                    entry.title
                );
            }
        }
        out.push_str(&before(&pictures, &entry));
        println!(
            "{}: {:.2} MB, {found} findings",
            entry.name,
            weight as f64 / 1e6
        );
        faults += found;
    }
    fs::write(docs.join("gallery.md"), out).expect("the page can be written");
    assert_eq!(
        faults, 0,
        "readers cannot read everything: see `just examine`"
    );
}
