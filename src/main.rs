//! The `lfield` program. Everything it can do is in the library; here are the command line and its manners.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
