//! The `lfield` program. Everything is in the library, its command line too: the Python module calls the same one.

fn main() -> std::process::ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    lfield::cli::main(&arguments).into()
}
