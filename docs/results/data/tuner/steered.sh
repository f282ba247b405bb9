# Replays `steered` on every sweep whose problem is here and states its work. Run in the root of a checkout.
# Usage: docs/results/data/tuner/steered.sh GREENUP OUT.csv
greenup=$1; out=$2
rm -f "$out"
part=$(mktemp -d)
replay() {
    sweep=$1; problem=$2; shift 2
    "$greenup" replay "sweeps/$sweep" --problem "$problem" "$@" --machine h200 \
        --strategy steered,random,forest,portfolio --budget 5%,10%,20% --seeds 50 -o "$part/t.csv" || exit 1
    if [ -f "$out" ]; then tail -n +2 "$part/t.csv" >> "$out"; else cp "$part/t.csv" "$out"; fi
    rm "$part/t.csv"
}
gisaxs=apps/gisaxs/src/kernels/gpu/problem.toml
fmm=apps/fmm/src/kernels/tune/problem.toml
hydro=apps/hydro/src/kernels/tune/problem.toml
gemm=crates/gemm/src/kernels/gpu/problem.toml
replay dgemm_h200 $gemm --set texture=0 --set edges=0
replay one_board_h200/dgemm_h200 $gemm --set texture=0 --set edges=0
replay hydro_corner_h200 $hydro
replay one_board_h200/hydro_corner_h200 $hydro
replay form_factor_h200 $gisaxs
replay one_board_h200/form_factor_h200 $gisaxs
replay form_factor_h200_block $gisaxs
replay form_factor_h200_yz $gisaxs
replay form_factor_h200_zt $gisaxs
replay one_board_h200/fmm_ulist_h200 $fmm
replay one_board_h200/fmm_ulist_f64_h200 $fmm --set elem=1
rmdir "$part"
