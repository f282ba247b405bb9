# All configs of the template, by a release. on_device.tar.xz: results compared by the host (`old`) and by the GPU (`new`), longer windows;
# predicted.tar.xz: energies predict those of slower configs, two builds, by what follows.
export GREENUP_WISDOM=none
greenup init cuda t >/dev/null; cd t
run() { greenup tune problem.toml --strategy exhaustive --budget 100% --out "s$1" --json $2 >"$1.json"; cp "s$1/trials.jsonl" "$1.jsonl"; }
run f1; run f2; run all "--energy all"; run f3; run en "--objective energy"
greenup tune problem.toml --budget 10s --out b10 --json >b10.json
