//! The `gisaxs` command.

fn main() -> std::process::ExitCode {
    greenup_gisaxs::program::main()
}
