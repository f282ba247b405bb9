# Recipes for developers: `just --list`. `.ci/run` is what every commit must pass.

# Where NVRTC is; some slow tests need it (see CONTRIBUTING.md).
export GREENUP_CUDA := env("GREENUP_CUDA", justfile_directory() / "target/cuda/nvidia/cu13/lib")
# Where an MPI with the standard interface of MPI 5 is; one slow test needs it.
export GREENUP_TEST_MPI_ABI := env("GREENUP_TEST_MPI_ABI", justfile_directory() / "target/mpi")

default:
    @just --list

# Release build of all programs into target/release
build:
    cargo build --release --workspace

# The test command of the README
test *ARGS:
    cargo test --workspace {{ARGS}}

# Tests marked #[ignore]: interval coverage, the HTML page in a browser, NVRTC, MPI
slow *ARGS:
    cargo test --workspace -- --ignored {{ARGS}}

# Faults of HTML pages at five widths, in Chromium: small, overlapping or cut text, overflow, requests
examine *FILES:
    cargo run -q -p greenup-testing --example examine -- {{FILES}}

# Pages of all commands and their pictures in docs/gallery.md (needs Chromium)
gallery: build
    cargo run -q -p greenup-testing --example gallery -- target/release docs

# Lints, as in CI
clippy:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Format all Rust code
fmt:
    cargo fmt --all

# API documentation, words and links of the guide; the guide itself where mdbook is installed
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    python3 docs/check_words.py
    python3 docs/check_links.py
    python3 docs/commands.py --check
    if command -v mdbook >/dev/null; then mdbook build docs; fi

# Fuzz all targets, SECONDS each
fuzz SECONDS="60":
    fuzz/run.sh {{SECONDS}}

# Install NVRTC from PyPI into target/cuda (no GPU needed)
nvrtc:
    python3 -m pip install -q --no-deps --target target/cuda nvidia-cuda-nvrtc==13.0.88

# Licences, sources and advisories of all dependencies (needs cargo-deny and the network)
deny:
    cargo deny check

# Everything that must hold for a commit
ci:
    .ci/run

# Optional features, fuzz targets, minimum Rust version, guide, licences
extra:
    .ci/extra
