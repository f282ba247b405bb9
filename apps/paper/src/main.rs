//! The program `greenup-paper`.

fn main() -> std::process::ExitCode {
    greenup_paper::program::main()
}
