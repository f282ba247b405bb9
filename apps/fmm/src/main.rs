//! The `fmm` command.

fn main() -> std::process::ExitCode {
    greenup_fmm::program::main()
}
