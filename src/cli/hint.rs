//! The option that helps, behind what the library says.

use lfield::Error;

/// The sentence of an error, with the option that helps.
pub(super) fn explain(error: &Error) -> String {
    let hint = match error {
        Error::NotAGraph { .. } | Error::TooManyVariables { .. } => ": choose another with --solver",
        Error::UnknownFactor { .. } => ": leave that out (--gamma 0 for superpixels), or use --method lfield",
        Error::Busy { .. } => ", or choose another folder with -o",
        Error::OutputFolder { .. } => "; choose another with -o",
        Error::Write { .. } => "; make room there or choose another folder with -o",
        Error::WouldOverwrite { .. } => "; choose another folder with -o",
        Error::TooLarge { .. } => ": scale it down or raise --max-pixels",
        Error::NoStrokes { .. } => ", or name a file with --scribbles",
        Error::SeveralFiles { what: "stroke", .. } => "; choose one with --scribbles or remove the other",
        Error::SeveralFiles { .. } => "; remove one, or name it in a --manifest",
        Error::SameOutput { .. } => " (--exclude, or its line in the manifest)",
        Error::TooMuchMemory { is_chosen: true, .. } => ": scale the photo down, or raise --max-memory",
        Error::TooMuchMemory { .. } => ": scale the photo down, or free some (--max-memory overrides this)",
        Error::AmbiguousStrokes { options, .. } if !options.is_empty() => {
            return format!("{error}; say what it means with --scribble-format {options}");
        }
        _ => "",
    };
    format!("{error}{hint}")
}
