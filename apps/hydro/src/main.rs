//! The `hydro` command.

fn main() -> std::process::ExitCode {
    greenup_hydro::program::main()
}
