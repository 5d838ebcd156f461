//! `-` for the standard streams: one file may come in through a pipe, and one may go out.

use std::io::IsTerminal;
use std::path::Path;

use lfield::read::standard;
use lfield::session::Output;

use super::usage;

/// Whether a path means a standard stream.
pub(super) fn is_meant(path: &Path) -> bool {
    path.as_os_str() == standard::NAME
}

/// Opens the standard input to the readers, if one of these files, each with the option that names it, is to come from there.
pub(super) fn open(files: &[(&str, Option<&Path>)]) -> Result<(), clap::Error> {
    let piped: Vec<&str> =
        files.iter().filter(|(_, path)| path.is_some_and(is_meant)).map(|(option, _)| *option).collect();
    match piped[..] {
        [] => Ok(()),
        [only] if std::io::stdin().is_terminal() => Err(usage(&format!(
            "{only} is to come from the standard input, which is the terminal: pipe a file into it, as in `lfield … - < photo.jpg`"
        ))),
        [_] => {
            standard::allow();
            Ok(())
        }
        [first, second, ..] => Err(usage(&format!(
            "{first} and {second} cannot both come from the standard input: give one of them as a file"
        ))),
    }
}

/// The one output that goes to the standard output.
pub(super) fn output(emit: &[Output], is_chosen: bool, is_json: bool) -> Result<Output, clap::Error> {
    if is_json {
        return Err(usage(
            "-o - and --json both write to the standard output: leave out one, or choose a folder with -o",
        ));
    }
    let wanted: Vec<Output> = Output::ALL.into_iter().filter(|output| emit.contains(output)).collect();
    match wanted[..] {
        [only] if std::io::stdout().is_terminal() && !only.is_text() => Err(usage(&format!(
            "-o - would write {} to the terminal: redirect it, as in `> out.{}`",
            only.name(),
            only.suffix()
        ))),
        [only] => Ok(only),
        _ if !is_chosen => Err(usage("-o - writes exactly one output: choose it, as in --emit mask")),
        _ => Err(usage(&format!(
            "-o - writes exactly one output, and --emit asks for {}: choose one, as in --emit mask",
            wanted.len()
        ))),
    }
}

/// Refuses `-` where a folder is needed.
pub(super) fn refuse(command: &str, paths: &[(&str, Option<&Path>)]) -> Result<(), clap::Error> {
    match paths.iter().find(|(_, path)| path.is_some_and(is_meant)) {
        None => Ok(()),
        Some((option, _)) => Err(usage(&format!(
            "{option} of {command} cannot be a pipe: give a name; only `lfield segment` reads and writes `-`"
        ))),
    }
}
