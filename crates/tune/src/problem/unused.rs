//! Keys that are read and would have no effect on this problem.

use super::{Language, ValueError};

/// A table, its key (empty for the whole table), whether it has no effect, and why.
type Rule = (&'static str, &'static str, bool, &'static str);

/// Refuses keys that would have no effect, with the reason.
///
/// # Errors
/// The first of them.
pub(super) fn check(table: &toml::Table, language: Language) -> Result<(), ValueError> {
    let has = |name: &str, key: &str| {
        let found = table.get(name);
        match key {
            "" => found.is_some(),
            key => found.is_some_and(|t| t.get(key).is_some()),
        }
    };
    let command = language == Language::Command;
    let on_device = matches!(language, Language::Cuda | Language::OpenCl);
    let of_host = !command && !on_device;
    let host_code = ["reference", "setup", "baseline"]
        .iter()
        .any(|t| has(t, ""));
    let rules: [Rule; 9] = [
        (
            "build",
            "timeout",
            !has("build", "command"),
            "it limits a [build] command; compilers of kernels have 120 s",
        ),
        (
            "build",
            "language",
            command,
            "it is of kernels; a [run] command is built by [build] command, or not at all",
        ),
        (
            "build",
            "entry",
            on_device,
            "[[launch]] names the kernels that run",
        ),
        (
            "build",
            "compiler",
            on_device && !host_code,
            "it is the host's, for [reference], [setup] and [baseline], and there are none; the device's own compiles the kernels",
        ),
        (
            "build",
            "arch",
            of_host,
            "it is of kernels in CUDA; for the host's compiler write it in `flags`, as -march=…",
        ),
        (
            "compiled",
            "",
            of_host,
            "only compilers of kernels in CUDA and OpenCL report registers and shared memory",
        ),
        (
            "measure",
            "drift",
            command,
            "a command may take long, so no config is measured again around others",
        ),
        (
            "measure",
            "drift",
            !command && has("baseline", ""),
            "the [baseline] is measured around each config anyway",
        ),
        (
            "measure",
            "restore",
            command,
            "a command reads its own inputs in each run",
        ),
    ];
    let found = rules
        .into_iter()
        .find(|(t, key, unused, _)| *unused && has(t, key));
    found.map_or(Ok(()), |(table, key, _, why)| {
        Err(ValueError::UnusedKey { table, key, why })
    })
}

#[cfg(test)]
mod tests {
    use crate::build::compile::Unit;
    use crate::problem::Problem;
    use greenup_space::{Facts, Value};
    use std::collections::BTreeMap;
    use std::path::Path;
    use toml::Value as T;

    const HOST: &str = r#"
name = "p"
constants = { n = 8 }
parameters = { a = [1, 2] }
build = { sources = ["k.c"], entry = "f" }
reference = { sources = ["k.c"], entry = "g" }
setup = { sources = ["k.c"], entry = "s" }
baseline = { sources = ["k.c"], entry = "b" }
check = { command = "true {outputs}" }
measure = {}
[[arguments]]
name = "y"
type = "f64"
size = 8
role = "inout"
answer = { file = "k.c" }
[[arguments]]
name = "m"
type = "i32"
value = 3
"#;

    const COMMAND: &str = r#"
name = "p"
constants = { n = 8 }
parameters = { a = [1, 2] }
build = { command = "true {build}" }
baseline = { command = "true 2" }
measure = {}
[run]
command = "{build}/x {a}"
time = { regex = "t" }
expect = { command = "echo 1" }
metrics = { m = { regex = "m" } }
"#;

    const CUDA: &str = r#"
name = "p"
constants = { n = 8 }
parameters = { a = [1, 2] }
build = { sources = ["k.c"], language = "cuda" }
measure = {}
[[launch]]
kernel = "k"
grid = [1]
block = [32]
[[maps]]
of = "y"
sizes = [64]
steps = []
box = [8]
[[textures]]
of = "y"
texel = 4
[[arguments]]
name = "y"
type = "f32"
size = 64
"#;

    /// A table or key, a value for it, and what the refusal of this value says; nothing where it changes the problem.
    type Edit = (&'static str, &'static str, &'static str);

    const HOST_EDITS: &[Edit] = &[
        ("build.sources", r#"["r.c"]"#, ""),
        ("build.entry", "'h'", ""),
        ("build.language", "'c++'", ""),
        ("build.compiler", "'gcc-1'", ""),
        ("build.arch", "'sm_90a'", "in `flags`"),
        ("build.flags", "['-O1']", ""),
        ("build.returns", "'s'", ""),
        ("build.command", "'true {build}'", "no [run] command"),
        ("build.timeout", "5", "limits a [build] command"),
        ("reference.sources", r#"["r.c"]"#, ""),
        ("reference.entry", "'h'", ""),
        ("reference.tolerance", "1e-3", ""),
        ("setup.sources", r#"["r.c"]"#, ""),
        ("setup.entry", "'h'", ""),
        ("baseline.sources", r#"["r.c"]"#, ""),
        ("baseline.entry", "'h'", ""),
        ("baseline.command", "'true'", "belongs to a [run] command"),
        ("check.command", "'false {outputs}'", ""),
        ("check.timeout", "5", ""),
        ("measure.seconds", "0.5", ""),
        ("measure.timeout", "50", ""),
        (
            "measure.drift",
            "false",
            "measured around each config anyway",
        ),
        ("measure.restore", "false", ""),
        ("arguments.0.name", "'z'", ""),
        ("arguments.0.type", "'f32'", ""),
        ("arguments.0.size", "9", ""),
        (
            "arguments.0.value",
            "9",
            "give `size` for an array or `value`",
        ),
        ("arguments.0.fill", "1", ""),
        ("arguments.0.role", "'out'", ""),
        ("arguments.0.bytes", "'00'", "give `size` for an array"),
        ("arguments.0.symbol", "'s'", "the language is not cuda"),
        ("arguments.0.answer", "{ file = 'r.c' }", ""),
        ("arguments.0.answer.file", "'r.c'", ""),
        ("arguments.0.answer.atol", "1", ""),
        ("arguments.0.answer.rtol", "1", ""),
        ("arguments.1.value", "9", ""),
        ("arguments.1.fill", "9", "a scalar has its `value`"),
        ("arguments.1.role", "'in'", "passed by value"),
        ("arguments.1.answer", "{ file = 'r.c' }", "for arrays"),
        ("work", "{ f64 = 5 }", ""),
        ("objective", "'energy'", ""),
        (
            "compiled",
            "{ f = 'registers < 3' }",
            "only compilers of kernels in CUDA",
        ),
        (
            "launch",
            "[{ kernel = 'k', grid = [1], block = [1] }]",
            "neither cuda nor opencl",
        ),
        (
            "maps",
            "[{ of = 'y', sizes = [8], steps = [], box = [8] }]",
            "not cuda",
        ),
        ("textures", "[{ of = 'y', texel = 4 }]", "not cuda"),
    ];

    const COMMAND_EDITS: &[Edit] = &[
        ("build.sources", r#"["r.c"]"#, ""),
        ("build.entry", "'h'", "belongs to a kernel"),
        ("build.language", "'c'", "it is of kernels"),
        ("build.compiler", "'gcc-1'", "belongs to a kernel"),
        ("build.arch", "'sm_90a'", "belongs to a kernel"),
        ("build.flags", "['-O1']", "belongs to a kernel"),
        ("build.returns", "'s'", "for functions in C"),
        ("build.command", "'false {build}'", ""),
        ("build.timeout", "5", ""),
        ("baseline.sources", r#"["r.c"]"#, "belong to a kernel"),
        ("baseline.entry", "'h'", "belong to a kernel"),
        ("baseline.command", "'true 3'", ""),
        ("measure.seconds", "0.5", ""),
        ("measure.timeout", "50", ""),
        ("measure.drift", "false", "may take long"),
        ("measure.restore", "false", "reads its own inputs"),
        ("run.command", "'{build}/y {a}'", ""),
        ("run.time", "{ regex = 'u' }", ""),
        ("run.time.regex", "'u'", ""),
        ("run.time.json", "'u'", "not both"),
        ("run.time.file", "'u'", ""),
        ("run.time.unit", "'ms'", ""),
        ("run.metrics", "{ k = { regex = 'm' } }", ""),
        ("run.metrics.m.regex", "'u'", ""),
        ("run.metrics.m.json", "'u'", "not both"),
        ("run.metrics.m.file", "'u'", ""),
        ("run.metrics.m.goal", "'maximize'", ""),
        ("run.check", "'true'", ""),
        ("run.expect", "{ file = 'k.c' }", ""),
        ("run.expect.command", "'echo 2'", ""),
        ("run.expect.file", "'k.c'", "give `command` or `file`"),
        ("run.expect.of", "'u'", ""),
        ("run.expect.lines", "'u'", ""),
        ("run.expect.tolerance", "0.5", ""),
        ("run.repeats", "9", ""),
        ("run.environment", "{ A = '1' }", ""),
        ("run.input", "'k.c'", ""),
        ("objective", "'metric:m'", ""),
    ];

    const CUDA_EDITS: &[Edit] = &[
        ("build.sources", r#"["r.c"]"#, ""),
        ("build.entry", "'h'", "[[launch]] names"),
        ("build.language", "'opencl'", "OpenCL kernels do not have"),
        ("build.compiler", "'gcc-1'", "the device's own compiles"),
        ("build.arch", "'sm_90a'", ""),
        ("build.flags", "['-O1']", ""),
        ("build.returns", "'s'", "for functions in C"),
        ("build.command", "'true {build}'", "no [run] command"),
        ("build.timeout", "5", "limits a [build] command"),
        ("measure.drift", "false", ""),
        ("measure.restore", "false", ""),
        ("launch.0.kernel", "'h'", ""),
        ("launch.0.grid", "[2]", ""),
        ("launch.0.block", "[64]", ""),
        ("launch.0.shared", "64", ""),
        ("launch.0.when", "'a > 1'", ""),
        ("maps.0.of", "'z'", "no such array"),
        ("maps.0.sizes", "[32]", ""),
        ("maps.0.steps", "[8]", "one step less"),
        ("maps.0.box", "[4]", ""),
        ("maps.0.swizzle", "32", ""),
        ("maps.0.when", "'a > 1'", ""),
        ("textures.0.of", "'z'", "no such array"),
        ("textures.0.texel", "8", ""),
        ("textures.0.when", "'a > 1'", ""),
        ("arguments.0.symbol", "'s'", ""),
        ("compiled", "{ f = 'registers < 3' }", ""),
    ];

    fn problem(table: &toml::Table, dir: &Path) -> Result<Problem, String> {
        Problem::parse(&table.to_string(), "p.toml", dir, &Facts::new(), &[])
            .map_err(|e| e.to_string())
    }

    /// What builds, runs and compares with the first config use.
    fn used(p: &Problem) -> String {
        let config = [Value::Int(1)];
        let units = [
            Unit::of_config(p, &config).ok(),
            Unit::of_reference(p),
            Unit::of_setup(p),
            Unit::of_baseline(p),
        ];
        let keys: Vec<_> = units.iter().flatten().map(Unit::key).collect();
        let work = p.work(&config).map(|w| w.flops());
        let rejected = p.rejects(&config, &BTreeMap::from([("registers".to_owned(), 9.0)]));
        let check = p.checking(&config, Path::new("o"));
        let parts = (
            p.build.flags(),
            &p.build.arch,
            &p.build.sources,
            &p.data,
            p.objective,
        );
        let of_device = (p.launches(&config), p.maps(&config), p.textures(&config));
        format!(
            "{parts:?} {keys:?} {:?} {:?} {:?} {of_device:?} {work:?} {rejected:?} {check:?}",
            p.measure,
            p.tolerance(),
            p.command
        )
    }

    /// The place of a key, whose tables are there.
    fn place<'t>(table: &'t mut T, path: &str) -> (&'t mut T, String) {
        let (mut at, mut rest) = (table, path);
        while let Some((key, more)) = rest.split_once('.') {
            at = match at {
                T::Array(all) => &mut all[key.parse::<usize>().unwrap()],
                other => other.get_mut(key).unwrap(),
            };
            rest = more;
        }
        (at, rest.to_owned())
    }

    fn with(table: &toml::Table, path: &str, value: &str) -> toml::Table {
        let mut all = T::Table(table.clone());
        let value = format!("v = {value}").parse::<toml::Table>().unwrap()["v"].clone();
        let (at, key) = place(&mut all, path);
        at.as_table_mut().unwrap().insert(key, value);
        all.as_table().unwrap().clone()
    }

    /// The keys that a table may have, by the reader's own word.
    fn accepted(table: &toml::Table, path: &str, dir: &Path) -> Vec<String> {
        let e = problem(&with(table, &format!("{path}.zzz"), "1"), dir)
            .err()
            .unwrap();
        let (_, list) = e
            .split_once("expected ")
            .unwrap_or_else(|| panic!("{path}: {e}"));
        let list = list.lines().next().unwrap_or_default();
        list.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn each_key_of_a_problem_has_an_effect_or_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.c"), "void f(void) {}").unwrap();
        std::fs::write(dir.path().join("r.c"), "void f(void) { }").unwrap();
        for (text, edits) in [
            (HOST, HOST_EDITS),
            (COMMAND, COMMAND_EDITS),
            (CUDA, CUDA_EDITS),
        ] {
            let base: toml::Table = text.parse().unwrap();
            let before = used(&problem(&base, dir.path()).unwrap());
            for (path, value, why) in edits {
                match (problem(&with(&base, path, value), dir.path()), *why) {
                    (Ok(p), "") => assert_ne!(used(&p), before, "{path} changes nothing"),
                    (Ok(_), why) => panic!("{path} is not refused: {why}"),
                    (Err(e), "") => panic!("{path}: {e}"),
                    (Err(e), why) => assert!(e.contains(why), "{path}: {e}"),
                }
            }
            // No key was forgotten.
            let mut tables: Vec<&str> = (edits.iter())
                .filter_map(|(path, ..)| Some(path.rsplit_once('.')?.0))
                .collect();
            tables.dedup();
            for table in tables {
                let shared = ["measure", "arguments.0", "arguments.1"].contains(&table);
                for key in accepted(&base, table, dir.path()) {
                    let path = format!("{table}.{key}");
                    let known = |edits: &[Edit]| edits.iter().any(|(p, ..)| *p == path);
                    assert!(
                        known(edits) || shared && known(HOST_EDITS) || table == "arguments.1",
                        "{path}"
                    );
                }
            }
        }
    }
}
