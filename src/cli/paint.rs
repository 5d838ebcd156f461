//! `lfield paint [PHOTO|FOLDER]`: strokes in the browser.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, ValueHint};
use lfield::Error;
use lfield::dataset::batch::photos_below;
use lfield::paint::{Photo, Run, SAMPLE, Server, Settings};
use lfield::read::{Input, Limits, Recorded};
use lfield::session::{self, Bias};
use lfield::store::files;

use super::hint::explain;
use super::options::RunArgs;
use super::voice::Voice;
use super::{Cli, Global, INTERRUPTED, NOTHING, interrupt, parse};

/// Draw strokes in the browser and watch the answer: a page on this machine, without internet
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct Paint {
    /// The photo, or a folder of photos [default: a sample]
    #[arg(value_name = "PHOTO|FOLDER", value_hint = ValueHint::AnyPath)]
    photo: Option<PathBuf>,

    /// The folder for strokes and results; made when missing
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "lfield-out", help_heading = "Output")]
    output: PathBuf,

    /// The port on 127.0.0.1 to try first; the next that is free is taken
    #[arg(long, value_name = "N", default_value_t = 8737, help_heading = "Page")]
    port: u16,

    /// Do not open the browser, only print the address
    #[arg(long, help_heading = "Page")]
    no_open: bool,

    /// Refuse larger photos, before they are decoded
    #[arg(long, value_name = "N", value_parser = parse::pixels, default_value_t = Limits::default().max_pixels, help_heading = "Input")]
    max_pixels: u64,

    /// Most memory to use for results, such as 800M or 16G [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, help_heading = "Input")]
    max_memory: Option<u64>,

    #[command(flatten)]
    run: RunArgs,
}

const EXAMPLES: &str = "\
Examples:
  lfield paint cat.jpg                 strokes and results in lfield-out
  lfield paint photos -o out           a folder, photo by photo
  lfield batch photos --scribbles out -o results   and then all of them at once
  lfield paint                         a sample to play with

On another machine: ssh -L 8737:127.0.0.1:8737 HOST lfield paint cat.jpg --no-open";

/// Options of `paint` that `segment` gets in another way or does not have.
const OWN: [&str; 6] = ["photo", "output", "port", "no_open", "bias", "area"];
/// Options of every command that decide what is written.
const GLOBAL: [&str; 1] = ["seed"];

impl Paint {
    pub(super) fn run(&self, global: &Global, voice: &Voice, arguments: &[OsString]) -> Result<u8> {
        let mut options = self.run.overlay(self.max_pixels, global.seed, false)?.options()?;
        // The slider takes its place.
        let bias = match std::mem::replace(&mut options.bias, Bias::Fixed(0.0)) {
            Bias::Auto => None,
            Bias::Fixed(bias) => Some(bias),
            Bias::Area(_) => return Err(super::usage("--area: the page has a slider for it").into()),
        };
        files::probe(&self.output)?;
        let photos = self.photos(&options)?;
        if photos.is_empty() {
            voice.say(format_args!("no photo found in {}", self.folder().display()));
            return Ok(NOTHING);
        }
        let words = words(arguments)?;
        let server = Server::bind(Settings {
            photos,
            options,
            bias,
            max_memory: self.max_memory,
            recorded: Recorded { paper: self.run.model.paper(), strict: self.run.solver.strict() },
            port: self.port,
            explain,
            command: Box::new(move |run| command(run, &words)),
        });
        let server = server.context("cannot listen on 127.0.0.1; try another --port")?;
        let address = server.address()?;
        let handle = server.handle();
        interrupt::listen_and_call(move || handle.stop());
        // Also under --quiet: without it there is no way in.
        let _ = writeln!(std::io::stderr(), "listening on {address}");
        if !self.no_open && open::that_detached(&address).is_err() {
            voice.say("no browser found: open this address in one");
        }
        voice.say("Ctrl-C ends it; strokes are on disk after every stroke");
        server.run()?;
        voice.say(format_args!("ended; strokes and results are in {}", self.output.display()));
        Ok(INTERRUPTED)
    }

    fn folder(&self) -> &Path {
        self.photo.as_deref().unwrap_or(Path::new("."))
    }

    fn photos(&self, options: &session::Options) -> Result<Vec<Photo>> {
        let Some(path) = &self.photo else { return Ok(vec![self.sample()?]) };
        if !path.is_dir() {
            // Whether it is a photo at all, before a page is opened for it.
            Input { image: path.clone(), ..Input::default() }.memory(options, 1)?;
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            return Ok(vec![Photo { path: path.clone(), name, output: self.output.clone() }]);
        }
        let mut photos = Vec::new();
        let mut taken: HashSet<(PathBuf, OsString)> = HashSet::new();
        for below in photos_below(path, &self.output)? {
            let parent = below.parent().filter(|parent| !parent.as_os_str().is_empty());
            let output = parent.map_or_else(|| self.output.clone(), |parent| self.output.join(parent));
            let stem = below.file_stem().map(OsStr::to_os_string).unwrap_or_default();
            if !taken.insert((output.clone(), stem)) {
                let first = photos
                    .iter()
                    .find(|photo: &&Photo| photo.path.with_extension("") == path.join(&below).with_extension(""));
                let first = first.map_or_else(|| below.clone(), |photo| photo.path.clone());
                return Err(Error::SameOutput {
                    first,
                    second: path.join(&below),
                    output: output.join(below.with_extension("")),
                }
                .into());
            }
            photos.push(Photo { path: path.join(&below), name: below.to_string_lossy().into_owned(), output });
        }
        Ok(photos)
    }

    /// Puts the sample where results go, unless it is there.
    fn sample(&self) -> Result<Photo> {
        let (name, bytes) = SAMPLE;
        let path = self.output.join(name);
        if std::fs::read(&path).ok().as_deref() != Some(bytes) {
            anyhow::ensure!(!path.exists(), "{} is not the sample; choose another folder with -o", path.display());
            let mut staged = files::Staged::new(&self.output)?;
            staged.add(&[files::Rendered { name: name.into(), bytes: bytes.to_vec() }])?;
            staged.commit()?;
        }
        Ok(Photo { path, name: name.into(), output: self.output.clone() })
    }
}

/// The options on a command line that `segment` takes as well, as they would be typed.
fn words(arguments: &[OsString]) -> Result<Vec<String>> {
    let definition = Cli::command();
    let matches = definition.clone().try_get_matches_from(arguments)?;
    let (Some((name, matches)), mut words) = (matches.subcommand(), Vec::new()) else { return Ok(Vec::new()) };
    let mut definition = definition;
    definition.build();
    let Some(command) = definition.find_subcommand(name) else { return Ok(words) };
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_ours = !OWN.contains(&id) && (!argument.is_global_set() || GLOBAL.contains(&id));
        let Some(long) = argument.get_long().filter(|_| is_ours) else { continue };
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        for values in matches.get_raw_occurrences(id).into_iter().flatten() {
            words.push(format!("--{long}"));
            if argument.get_action().takes_values() {
                words.push(values.map(|value| value.to_string_lossy().into_owned()).collect::<Vec<_>>().join(","));
            }
        }
    }
    Ok(words)
}

/// The command that does what a save does.
fn command(run: &Run<'_>, words: &[String]) -> String {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let mut all = vec!["lfield".to_string(), "segment".into(), path(run.image)];
    all.extend(["--scribbles".into(), path(run.scribbles), "-o".into(), path(run.output)]);
    all.extend(words.iter().cloned());
    if let Bias::Fixed(bias) = run.bias {
        all.extend(["--bias".into(), bias.to_string()]);
    }
    all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Vec<String> {
        words(&text.split(' ').map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn options_of_segment_are_kept_as_typed_and_others_left_out() {
        assert!(typed("lfield paint cat.jpg -o out --port 9 --no-open -q --threads 2").is_empty());
        let kept = typed("lfield paint --beta 3 --emit mask,cutout --paper --seed 4 --layer 5,5,10 --layer 7,7,20");
        let mut sorted: Vec<String> =
            kept.join(" ").split(" --").map(|word| word.trim_start_matches("--").to_string()).collect();
        sorted.sort();
        assert_eq!(sorted, ["beta 3", "emit mask,cutout", "layer 5,5,10", "layer 7,7,20", "paper", "seed 4"]);
        // And segment understands them.
        let line: Vec<OsString> =
            ["lfield", "segment", "cat.jpg"].map(String::from).into_iter().chain(kept).map(OsString::from).collect();
        assert!(super::super::parse(&line).is_ok());
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_break_them() {
        assert_eq!(["a/b.png", "a b", "it's", "", "$x"].map(quoted), ["a/b.png", "'a b'", r"'it'\''s'", "''", "'$x'"]);
        let run = |bias| Run {
            image: Path::new("my cat.jpg"),
            scribbles: Path::new("o/s.png"),
            output: Path::new("o"),
            bias,
        };
        let expected = "lfield segment 'my cat.jpg' --scribbles o/s.png -o o --beta 3";
        let words = ["--beta".into(), "3".into()];
        assert_eq!(command(&run(Bias::Auto), &words), expected);
        assert_eq!(command(&run(Bias::Fixed(-0.5)), &words), format!("{expected} --bias -0.5"));
    }
}
