//! The options of a row of a manifest, read by the same parser as the command line and on top of it.
//!
//! A row's options are typed behind those of the command line, where the last word counts. An option that collects values (`layer`)
//! is taken from the row alone if the row has it. Few rows differ in their options, so each set is parsed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, CommandFactory, FromArgMatches};
use lfield::dataset::batch::Wishes;
use lfield::dataset::batch::manifest::Row;
use lfield::read::Format;
use lfield::session::{EvidenceFile, Options};

use super::options::{ModelArgs, OutputArgs, SolverArgs, refuse_many_layers};
use super::{Cli, Command};

/// Options and encoding of strokes, as parsed.
type Parsed = (Arc<Options>, Format);

/// Options by the words that ask for them.
#[derive(Debug, Default)]
pub(super) struct Wishing {
    known: RefCell<HashMap<(Vec<OsString>, bool), Parsed>>,
}

impl Wishing {
    /// What the command line asks for, with the options of a row on top. Files in the row are below `base`.
    pub(super) fn wishes(&self, row: &Row, base: &Path) -> Result<Wishes, String> {
        let (mut evidence, mut superpixels) = (None, Vec::new());
        let mut words: Vec<OsString> = Vec::new();
        for (name, values) in &row.options {
            let file = || values.first().map(|value| base.join(value)).ok_or_else(|| format!("no file under `{name}`"));
            match name.as_str() {
                "unary" => evidence = Some(EvidenceFile::Unary(file()?)),
                "prior" => evidence = Some(EvidenceFile::Prior(file()?)),
                "superpixels" => superpixels = values.iter().map(|value| base.join(value)).collect(),
                name if !names().iter().any(|known| known == name) => {
                    return Err(format!("an unknown option `{name}` (known: {})", names().join(", ")));
                }
                name if values.is_empty() => words.push(format!("--{name}").into()),
                name => words.extend(values.iter().map(|value| OsString::from(format!("--{name}={value}")))),
            }
        }
        refuse_many_layers(superpixels.len()).map_err(|error| first_line(&error))?;
        let key = (words, evidence.is_some());
        let mut known = self.known.borrow_mut();
        let (options, format) = match known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let parsed = parsed(&key.0, key.1)?;
                known.insert(key, parsed.clone());
                parsed
            }
        };
        Ok(Wishes { options, format, evidence, superpixels })
    }
}

/// The command line with `words` behind its options.
fn parsed(words: &[OsString], from_file: bool) -> Result<Parsed, String> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let collects = ["--layer", "--emit"].into_iter().filter(|name| {
        words.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with(&format!("{name}="))))
    });
    for name in collects {
        remove(&mut arguments, name);
    }
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    arguments.splice(end..end, words.iter().cloned());
    let command =
        Cli::command().args_override_self(true).mut_subcommand("batch", |batch| batch.args_override_self(true));
    let cli = command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let options = cli.and_then(|cli| match &cli.command {
        Command::Batch(batch) => batch.options(cli.global.seed, from_file),
        _ => unreachable!("the same command line was parsed before"),
    });
    match options {
        Ok((options, format)) => Ok((Arc::new(options), format)),
        Err(error) => Err(first_line(&error)),
    }
}

/// The first line of what clap says, without its "error: ".
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_string()
}

/// Takes an option with its values out of the words of a command line.
fn remove(arguments: &mut Vec<OsString>, name: &str) {
    let mut takes_next = false;
    arguments.retain(|word| {
        let text = word.to_str().unwrap_or_default();
        if std::mem::take(&mut takes_next) {
            return false;
        }
        takes_next = text == name;
        !takes_next && !text.starts_with(&format!("{name}="))
    });
}

/// The options that a row may set, as they are typed. There is one exit code for all rows, so `strict` is not among them.
fn names() -> Vec<String> {
    let command = clap::Command::new("");
    let command = OutputArgs::augment_args(SolverArgs::augment_args(ModelArgs::augment_args(command)));
    let typed = command.get_arguments().filter_map(|argument| argument.get_long());
    let typed = typed.filter(|&name| name != "strict").map(str::to_string);
    typed
        .chain(["scribble-format", "max-pixels", "seed", "unary", "prior", "superpixels"].map(str::to_string))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_taken_out_in_both_its_forms() {
        let mut words: Vec<OsString> =
            ["lfield", "batch", "d", "--layer", "1,2,3", "--beta", "2", "--layer=4,5,6", "-q"].map(Into::into).to_vec();
        remove(&mut words, "--layer");
        assert_eq!(words, ["lfield", "batch", "d", "--beta", "2", "-q"].map(OsString::from));
    }

    #[test]
    fn every_option_of_the_model_can_be_set_by_a_row() {
        let names = names();
        for name in ["beta", "paper", "emit", "tolerance", "scribble-format", "prior"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert!(!names.iter().any(|known| known == "strict"));
    }
}
