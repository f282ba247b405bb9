//! The `greenup` command.

fn main() -> std::process::ExitCode {
    greenup_command::main()
}
