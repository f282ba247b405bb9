#!/usr/bin/env python3
"""Tables of the batched kernels as JSON records.

usage: batched_tables.py sweeps FOLDER MACHINE -o FILE   what batched.sh wrote, or the recorded sweeps (sweeps/hydro_batched_h100)
       batched_tables.py counts -o FILE            numbers and sizes of the matrices, by the problems' own expressions
       batched_tables.py kernels NCU.csv[.xz] -o FILE   the kernels of a step: times, shares and fractions of the roof
"""
import csv
import gzip
import json
import lzma
import pathlib
import statistics
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PROBLEMS = HERE.parent / "src/kernels/batched"


def values(problem, given):
    """Constants of a problem, as the tuner computes them."""
    text = tomllib.loads((PROBLEMS / problem / "problem.toml").read_text())
    names = {}
    for k, v in text["constants"].items():
        names[k] = given.get(k, v)
        if isinstance(names[k], str):
            names[k] = 0 if "device." in names[k] else eval(names[k], {"min": min, "max": max}, dict(names))
    work = {k: eval(str(v), {}, dict(names)) for k, v in text.get("work", {}).items()}
    return names, work


def interval(x):
    x = sorted(x)
    return {"value": statistics.median(x), "lo": x[0], "hi": x[-1]}


def lines(folder, name):
    """Lines of a sweep's file: those of a packed one come first; None without either."""
    plain, packed = folder / name, folder / f"{name}.gz"
    found = gzip.open(packed, "rt").read().splitlines() if packed.exists() else []
    if plain.exists():
        found += plain.read_text().splitlines()
    return found if packed.exists() or plain.exists() else None


class Sweep:
    def __init__(self, folder):
        self.facts = json.loads((folder / "sweep.json").read_text())
        self.names = self.facts["parameters"]
        trials = [json.loads(t) for t in lines(folder, "trials.jsonl")]
        self.trials = [(self.config(t["config"]), t) for t in trials if "measured" in t]
        self.failed = len(trials) - len(self.trials)
        self.constants = {}
        for word in self.facts["more"]["constants"].split():
            k, v = word.split("=")
            try:
                self.constants[k] = int(v)
            except ValueError:
                pass
        self.finals = self.counters = None
        if (folder / "finals.json").exists():
            self.finals = json.loads((folder / "finals.json").read_text())
        counted = lines(folder, "counters.jsonl")
        if counted is not None:
            found = [json.loads(c) for c in counted]
            self.counters = [(self.config(c["config"]), c["counters"]) for c in found]

    def config(self, given):
        return dict(zip(self.names, given))

    def shown(self, config):
        return " ".join(f"{k} {v}" for k, v in config.items())

    def time(self, keep=lambda c: True):
        """The fastest config by single trials: config and seconds."""
        found = [(t["measured"]["time_s"], c) for c, t in self.trials if keep(c)]
        return min(found, key=lambda f: f[0], default=None)

    def best(self):
        """The fastest config of the final rounds, with its times and energies."""
        f = self.finals
        n = len(f["configs"])
        i = min(range(n), key=lambda i: statistics.median(f["times_s"][i]))
        joules = f["energies_j"][i] if f["energies_j"] else []
        return self.config(f["configs"][i]), interval(f["times_s"][i]), interval(joules) if joules else None

    def baseline(self):
        f = self.finals
        if not f or not f.get("with_baseline"):
            return None, None
        joules = f["energies_j"][-1] if f["energies_j"] else []
        return interval(f["times_s"][-1]), interval(joules) if joules else None

    def ratio(self):
        """The baseline's time over the best config's, round by round."""
        f = self.finals
        n = len(f["configs"])
        i = min(range(n), key=lambda i: statistics.median(f["times_s"][i]))
        return interval([b / t for b, t in zip(f["times_s"][-1], f["times_s"][i])])


# Name of the sweep, problem, the paper's kernel, case.
CASES = [
    ("products", "products", "5, 6", "3D: matrices of 3 × 3"),
    ("products_steps", "products", "5, 6", "3D: matrices of 3 × 3"),
    ("products_soa", "products", "5, 6", "3D: 3 × 3, a structure of arrays"),
    ("products_flat", "products", "5, 6", "2D: matrices of 2 × 2"),
    ("products_streams", "products", "5, 6", "3D: 4,096 of 3 × 3"),
    ("jacobians_q2", "forces", "3", "3D Q2Q1"),
    ("forces_q2", "forces", "7", "3D Q2Q1"),
    ("forces_q2_cublas", "forces", "7", "3D Q2Q1, with energy"),
    ("forces_q4", "forces", "7", "3D Q4Q3"),
    ("forces_q2_flat", "forces", "7", "2D Q2Q1"),
    ("forces_q4_flat", "forces", "7", "2D Q4Q3"),
    ("vectors_8", "vectors", "8", "3D Q2Q1"),
    ("vectors_8_gemv", "vectors", "8", "3D Q2Q1, with energy"),
    ("vectors_8_gemm", "vectors", "8", "3D Q2Q1"),
    ("vectors_8_table4", "vectors", "8", "3D Q2Q1, 4,096 zones"),
    ("vectors_10", "vectors", "10", "3D Q2Q1"),
    ("vectors_10_gemm", "vectors", "10", "3D Q2Q1"),
]
LIBRARY = {
    "products": ["cublasDgemmBatched", "cublasDgemmStridedBatched", "cublasDgemm on 32 streams"],
    "forces": ["cublasDgemmBatched", "cublasDgemmStridedBatched", "cublasDgemm on 32 streams"],
    "vectors": ["cublasDgemmStridedBatched", "cublasDgemvStridedBatched", "cublasDgemv on 32 streams"],
}
VERSIONS = ["straightforward", "improved", "tuned", "tuned", "tuned, tensor cores"]


def sizes(problem, c):
    if problem == "products":
        return f"{c['total']:,} × ({c['dim']} × {c['dim']})"
    if problem == "forces":
        return f"{c['zones']:,} × ({c['rows']} × {c['inner']} · {c['inner']} × {c['columns']})"
    return f"{c['zones']:,} × ({c['rows']} × {c['columns']})"


def version(problem, number, config):
    """The paper's versions: straightforward, improved, tuned."""
    if problem == "products":
        return ["staged elements", "staged matrices", "straightforward"][config["METHOD"]]
    if number == 3 and config["VERSION"] == 4 and config["TM"] == config["TN"] == 1:
        return "improved"
    return VERSIONS[config["VERSION"] - 1]


def sweeps(folder, machine):
    def read(name):
        at = folder / name
        return Sweep(at) if lines(at, "trials.jsonl") is not None else None

    # The best rate of DRAM of the machine file, by its microbenchmarks.
    roof = 1 / tomllib.loads((HERE.parents[2] / "machines" / f"{machine}.toml").read_text())["cost"]["dram"]["time_s"]["value"]
    device = read("products").facts["device"]
    out = {"device": device, "machine": machine, "roof_bytes_per_s": roof, "cases": [], "versions": [], "widths": []}
    out |= {"other_widths": [], "workspaces": [], "levels": []}
    for name, problem, kernel, case in CASES:
        s = read(name)
        if not s or not s.finals:
            continue
        c = s.constants
        _, work = values(problem, c)
        flops, least = work["f64"], work["dram"]
        config, time, joules = s.best()
        other, other_j = s.baseline()
        row = {
            "sweep": name, "kernel": kernel, "case": case, "sizes": sizes(problem, c), "config": s.shown(config),
            "version": version(problem, c.get("number"), config), "trials": len(s.trials), "failed": s.failed,
            "time_s": time, "flop_per_s": flops / time["value"], "bytes_per_s": least / time["value"],
            "of_roof": least / time["value"] / roof, "intensity": flops / least,
        }
        if joules:
            row |= {"energy_j": joules, "flop_per_j": flops / joules["value"], "power_w": joules["value"] / time["value"]}
        if other:
            row |= {
                "library": LIBRARY[problem][c["baseline_kind"]], "library_s": other,
                "library_flop_per_s": flops / other["value"], "library_of_roof": least / other["value"] / roof,
                "speedup": s.ratio(),
            }
        if other_j:
            row |= {"library_j": other_j, "greenup": other_j["value"] / joules["value"]}
        out["cases"].append(row)
        if name == "vectors_8":
            out["vectors_bound_flop_per_s"] = roof * flops / least
        # The versions of figure 6, by the fastest single trial of each.
        if "VERSION" in s.names and len(s.trials) > 3:
            label = f"kernel {kernel}, {case}"
            for v in ["straightforward", "improved", "tuned", "tuned, tensor cores"]:
                found = s.time(lambda x: version(problem, c.get("number"), x) == v)
                if found:
                    out["versions"].append({
                        "kernel": kernel, "case": label, "version": v, "time_s": found[0],
                        "flop_per_s": flops / found[0], "of_roof": least / found[0] / roof, "config": s.shown(found[1]),
                    })
            out["versions"].append({
                "kernel": kernel, "case": label, "version": row["library"], "time_s": other["value"],
                "flop_per_s": flops / other["value"], "of_roof": least / other["value"] / roof, "config": "",
            })
        # Figure 4: matrices of a block.
        if name in ("products", "products_soa", "products_flat"):
            methods = ["element by element", "a thread a matrix, staged", "a thread a matrix, direct"]
            for m in (0, 1, 2):
                for n in sorted({x["MATRICES"] for x, _ in s.trials}):
                    found = s.time(lambda x: x["METHOD"] == m and x["MATRICES"] == n)
                    if found:
                        out["widths" if name == "products" else "other_widths"].append({
                            "case": case, "method": methods[m], "matrices": n, "time_s": found[0],
                            "flop_per_s": flops / found[0], "of_roof": least / found[0] / roof,
                        })
    # Figure 3: registers against local memory.
    for number in (1, 2):
        s = read(f"points_{number}")
        if not s:
            continue
        kept = {}
        for w in (0, 1):
            found = s.time(lambda x: x["WORKSPACE"] == w)
            if not found:
                continue
            row = {"kernel": number, "workspace": ["registers", "local memory"][w], "time_s": found[0], "config": s.shown(found[1])}
            row["points"] = s.constants["total"]
            counted = next((k for x, k in s.counters or [] if x == found[1]), None)
            if counted is None:
                counted = next((k for x, k in s.counters or [] if x["WORKSPACE"] == w), None)
            if counted:
                local = ["l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"]
                row["local_bytes_per_point"] = sum(counted.get(k, 0) for k in local) / s.constants["total"]
                row["local_loads"] = counted.get("local_loads")
                row["dram_bytes_per_point"] = counted["dram_bytes"] / s.constants["total"]
            kept[w] = row
        if len(kept) == 2:
            kept[0]["speedup"] = kept[1]["time_s"] / kept[0]["time_s"]
        out["workspaces"] += kept.values()
    # Figure 7: three levels of memory, of the base and of the fastest that was counted.
    for name, problem, kernel, case in [("points_1", "points", "1", "3D Q2Q1"), ("points_2", "points", "2", "3D Q2Q1"), *CASES]:
        s = read(name)
        if not s or not s.counters:
            continue
        if problem == "points":
            is_base = lambda x: x["WORKSPACE"] == 1
        else:
            is_base = lambda x: version(problem, s.constants.get("number"), x) == "straightforward"
        for which, keep in (("base", is_base), ("tuned", lambda x: not is_base(x))):
            found = [(k["gpu__time_duration.sum"] * 1e-9, x, k) for x, k in s.counters if keep(x)]
            if not found:
                continue
            t, x, k = min(found, key=lambda f: f[0])
            out["levels"].append({
                "kernel": f"kernel {kernel}", "case": case, "version": which, "config": s.shown(x), "time_s": t,
                "l1_bytes_per_s": (k["l1tex__t_bytes.sum"] + k["shared_traffic_bytes"]) / t,
                "l2_bytes_per_s": k["l2_bytes"] / t, "dram_bytes_per_s": k["dram_bytes"] / t,
                "dram_of_peak": 0.01 * k["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
            })
    return out


def counts():
    rows = []
    for case, given in [
        ("2D Q2Q1, 128² zones", {"dim": 2, "order": 2, "zones": 128**2}),
        ("2D Q4Q3, 128² zones", {"dim": 2, "order": 4, "zones": 128**2}),
        ("3D Q2Q1, 16³ zones", {"dim": 3, "order": 2, "zones": 16**3}),
        ("3D Q4Q3, 16³ zones", {"dim": 3, "order": 4, "zones": 16**3}),
    ]:
        small, _ = values("products", given)
        z, q, d = small["zones"], small["points"], small["dim"]
        three, _ = values("forces", given | {"number": 3})
        seven, _ = values("forces", given | {"number": 7})
        n = three["inner"]

        def row(kernel, a, b, c, shape):
            rows.append({"case": case, "kernel": kernel, "a": a, "b": b, "c": c, "shape": shape})

        row("3", z, q, z * q, f"{d} × {n} · {n} × {d}")
        row("4", z * q, q, z * q, f"{d} × {d} · {d} × {n}")
        row("5, 6", small["total"], small["total"], small["total"], f"{d} × {d} · {d} × {d}")
        row("7", z, 1, z, f"{seven['rows']} × {seven['inner']} · {seven['inner']} × {seven['columns']}")
    return {"rows": rows}


# The paper's kernels and those of hydro that do their work.
KERNELS = [
    ("1", "kernel_CalcAjugate_det", "SVD, eigenvalues, adjugate", "corner", "FP64"),
    ("2", "kernel_loop_grad_v", "equation of state, stress", "corner", "FP64"),
    ("3", "kernel_PzVz_Phi_F_Batched", "gradients, Jacobians", "corner", "FP64"),
    ("4", "kernel_Phi_sigma_hat_z", "stress in the reference zone", "corner", "FP64"),
    ("5", "kernel_NN_dgemmBatched", "products of dim × dim matrices", "corner", "FP64"),
    ("6", "kernel_NT_dgemmBatched", "products of dim × dim matrices", "corner", "FP64"),
    ("7", "kernel_loop_zones", "A Bᵀ", "corner_matrix", "FP64"),
    ("8", "kernel_loop_zones_dv_dt", "−F 1", "corner_ones", "DRAM"),
    ("10", "kernel_dgemvt", "Fᵀ v", "corner_transposed", "DRAM"),
    ("9", "CUDA_PCG", "solve of the velocities", "solve", "DRAM"),
    ("11", "SpMV", "solve of the energies", "energy_solve", "DRAM"),
]
ROOF = {
    "FP64": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}


def kernels(path):
    rows = list(csv.DictReader(lzma.open(path, "rt") if path.suffix == ".xz" else path.open()))
    # The name of the first case is that of the first column; each case begins with a header of its own.
    first = next(k for k in rows[0] if k not in ("ID", "Process ID", "Process Name", "Kernel Name") and "Q" in k)
    found = {}
    for r in rows:
        if r["Metric Name"] == "Metric Name":
            continue
        value = float(r["Metric Value"].replace(",", ""))
        found.setdefault((r[first], r["Kernel Name"], r["Metric Name"]), []).append(value)

    def metric(case, kernel, name):
        v = found.get((case, kernel, name))
        return statistics.median(v) if v else None

    out = []
    for case, label in (("Q2 full", "Q2Q1, 48³ zones"), ("Q3 full", "Q3Q2, 32³ zones")):
        times = {k: metric(case, k, "gpu__time_duration.sum") for k in {k[3] for k in KERNELS}}
        whole = sum(times.values())
        for number, name, purpose, own, roof in KERNELS:
            fused = own == "corner"
            out.append({
                "case": label, "number": number, "name": name, "purpose": purpose,
                "own": "corner (1 to 6 in one)" if fused else own, "roof": roof,
            })
            # What is one kernel has one number.
            if number in ("1", "7", "8", "9", "10", "11"):
                of_roof = 0.01 * metric(case, own, ROOF[roof])
                out[-1] |= {"time_s": 1e-9 * times[own], "share": times[own] / whole, "of_roof": of_roof}
    return {"record": path.name, "rows": out}


def main():
    arguments = sys.argv[1:]
    if "-o" not in arguments:
        sys.exit(__doc__)
    to = pathlib.Path(arguments[arguments.index("-o") + 1])
    match arguments[: arguments.index("-o")]:
        case ["sweeps", folder, machine]:
            table = sweeps(pathlib.Path(folder), machine)
        case ["counts"]:
            table = counts()
        case ["kernels", path]:
            table = kernels(pathlib.Path(path))
        case _:
            sys.exit(__doc__)
    table["command"] = "apps/hydro/benches/batched_tables.py " + " ".join(arguments)
    to.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
