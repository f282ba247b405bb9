//! Tables as several versions of the profiler print them.

use super::*;

const RAW: &str = "==PROF== Connected to process 7 (/home/me/app)
result: 42
==PROF== Profiling \"scale\": 0%....100% - 3 passes
==PROF== Disconnected from process 7
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"device__attribute_display_name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"new__thing.sum\"
\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"usecond\",\"inst\"
\"0\",\"7\",\"/home/me/app\",\"h\",\"void scale<(int)4, (bool)1>(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 2, 1)\",\"0\",\"9.0\",\"NVIDIA H100\",\"1,234.50\",\"12.34\",\"n/a\"
\"1\",\"7\",\"/home/me/app\",\"h\",\"gemm\",\"1\",\"7\",\"(128, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"NVIDIA H100\",\"0.50\",\"5.00\",\"3\"
";

fn of<'a>(l: &'a Launch, name: &str) -> Option<&'a f64> {
    l.values.iter().find(|(n, _)| n == name).map(|(_, x)| x)
}

#[test]
fn the_raw_page_has_units_and_words_around_it() {
    let t = parse(RAW).unwrap();
    let l = &t.launches[0];
    assert_eq!(
        (l.kernel.as_str(), l.process.as_str()),
        ("void scale<(int)4, (bool)1>", "app")
    );
    assert_eq!((l.grid, l.block), (Some([40, 2, 1]), Some([256, 1, 1])));
    assert_eq!(
        (l.gpu.as_deref(), l.device.as_str()),
        (Some("NVIDIA H100"), "0")
    );
    assert_eq!(of(l, "dram__bytes_read.sum"), Some(&1_234_500_000.0));
    assert_eq!(of(l, DURATION), Some(&12_340.0));
    assert_eq!(of(l, "new__thing.sum"), None);
    assert_eq!(of(&t.launches[1], "new__thing.sum"), Some(&3.0));
    assert!(t.notes.is_empty(), "{:?}", t.notes);
}

#[test]
fn numbers_are_in_the_language_of_the_user() {
    let german = RAW
        .replace("1,234.50", "1.234,50")
        .replace("12.34", "12,34")
        .replace("\"0.50\"", "\"0,50\"");
    let german = german.replace("5.00", "5,00");
    assert_eq!(
        parse(&german).unwrap().launches,
        parse(RAW).unwrap().launches
    );
    let e = parse(&RAW.replace("12.34", "12,34"))
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("lines 7 and 7") && e.contains("`1,234.50`") && e.contains("`12,34`"),
        "{e}"
    );
}

#[test]
fn counts_have_no_decimals() {
    let head = "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"byte\"\n";
    for (text, bytes) in [("1.024", 1024.0), ("1,024", 1024.0), ("24", 24.0)] {
        let t = parse(&format!("{head}\"0\",\"k\",\"{text}\"\n")).unwrap();
        assert_eq!(
            of(&t.launches[0], "dram__bytes_read.sum"),
            Some(&bytes),
            "{text}"
        );
    }
}

#[test]
fn other_delimiters_marks_and_appended_tables_are_read() {
    let rows: String = RAW
        .lines()
        .skip(4)
        .flat_map(|l| [l.replace("\",\"", "\";\""), "\r\n".into()])
        .collect();
    let t = parse(&format!("\u{feff}{rows}{rows}done\r\n==PROF== end\r\n")).unwrap();
    assert_eq!(t.launches.len(), 4);
    assert_eq!(t.launches[0], parse(RAW).unwrap().launches[0]);
    assert!(t.notes[0].contains("1 lines between"), "{:?}", t.notes);
}

const DETAILS: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"
\"0\",\"7\",\"app\",\"h\",\"scale\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"10.00\",
\"0\",\"7\",\"app\",\"h\",\"scale\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"Memory Throughput\",\"%\",\"46.10\",
\"0\",\"7\",\"app\",\"h\",\"scale\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"SpeedOfLight\",\"\",\"\",\"\",\"Bottleneck\",\"WRN\",\"Long text,
in two lines\"
\"0\",\"7\",\"app\",\"h\",\"scale\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"Memory Workload Analysis\",\"Memory Throughput\",\"Gbyte/second\",\"200.00\",
\"1\",\"7\",\"app\",\"h\",\"scale\",\"1\",\"7\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"dram__bytes_read.sum\",\"Kbyte\",\"64\",
";

#[test]
fn the_details_page_has_a_row_for_each_metric() {
    let t = parse(DETAILS).unwrap();
    assert_eq!(t.launches.len(), 2);
    assert_eq!(of(&t.launches[0], DURATION), Some(&10_000.0));
    let bytes = of(&t.launches[0], "dram__bytes.sum").unwrap();
    assert!((bytes / 2e6 - 1.0).abs() < 1e-9, "{bytes}");
    assert_eq!(of(&t.launches[1], "dram__bytes_read.sum"), Some(&64_000.0));
}

#[test]
fn what_is_broken_says_where() {
    for (text, why) in [
        (RAW[..RAW.len() - 6].to_owned(), "line 8: the row"),
        (RAW[..RAW.len() - 60].to_owned(), "line 8: the row"),
        (DETAILS[..DETAILS.len() - 12].to_owned(), "line 7: the row"),
        (String::new(), "it printed nothing"),
        ("no table\n".to_owned(), "no table"),
        (
            RAW.lines().take(6).collect::<Vec<_>>().join("\n"),
            "no row of a kernel",
        ),
    ] {
        let e = parse(&text).unwrap_err().to_string();
        assert!(e.contains(why), "{why}: {e}");
    }
    for (unit, note) in [
        ("Qbyte", "line 7: the unit `Qbyte` of dram__bytes_read.sum"),
        (
            "sector",
            "line 7: the unit `sector` of dram__bytes_read.sum",
        ),
        ("%", "line 7: the unit `%` of dram__bytes_read.sum"),
        (
            "usecond",
            "line 7: the unit `usecond` of dram__bytes_read.sum",
        ),
        ("", "line 7: dram__bytes_read.sum has no unit"),
    ] {
        let odd = parse(&RAW.replace("Mbyte", unit)).unwrap();
        assert!(odd.notes[0].contains(note), "{:?}", odd.notes);
        assert_eq!(of(&odd.launches[0], "dram__bytes_read.sum"), None);
    }
}

#[test]
fn values_that_cannot_be_are_missing() {
    for text in ["-1,234.50", "1e300", "nan"] {
        let t = parse(&RAW.replace("1,234.50", text)).unwrap();
        assert_eq!(of(&t.launches[0], "dram__bytes_read.sum"), None, "{text}");
        assert_eq!(of(&t.launches[0], DURATION), Some(&12_340.0), "{text}");
    }
}

#[test]
fn a_table_without_units_is_in_base_units() {
    let units = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"usecond\",\"inst\"\n";
    for line in [
        String::new(),
        units.replace(|c: char| c.is_alphabetic(), ""),
    ] {
        let t = parse(&RAW.replace(units, &line)).unwrap();
        assert!(t.notes[0].contains("no line of units"), "{:?}", t.notes);
        assert_eq!(of(&t.launches[0], "dram__bytes_read.sum"), Some(&1234.5));
    }
}

#[test]
fn names_and_sizes_are_read() {
    for (name, short) in [
        ("gemm(int)", "gemm"),
        (
            "a::(anonymous namespace)::k(float*, int (*)(int))",
            "a::(anonymous namespace)::k",
        ),
        ("f<(int)4>", "f<(int)4>"),
        ("k", "k"),
        (")", ")"),
    ] {
        assert_eq!(without_parameters(name), short);
    }
    assert_eq!(
        (three("(4, 2, 1)"), three("128"), three("(32,32,1)")),
        (Some([4, 2, 1]), Some([128, 1, 1]), Some([32, 32, 1]))
    );
    assert_eq!((three("(4, 2)"), three("")), (None, None));
}
