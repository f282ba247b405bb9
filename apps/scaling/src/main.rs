//! The program `greenup-scaling`.

fn main() -> std::process::ExitCode {
    greenup_scaling::program::main()
}
