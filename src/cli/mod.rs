//! The command line: parsing, exit codes, and one file per subcommand.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done, also when a batch had nothing left to do |
//! | 1 | an input failed |
//! | 2 | the command line makes no sense |
//! | 3 | no photo was found |
//! | 4 | not certified, under `--strict` |
//! | 130 | interrupted |
//!
//! Human text goes to stderr, bars only to a terminal. A reader that hangs up early (`lfield man | head`) is no failure.

mod batch;
mod completions;
mod evaluate;
mod hint;
mod interrupt;
mod man;
mod merge;
mod options;
#[cfg(feature = "paint")]
mod paint;
mod parse;
mod pipe;
mod progress;
mod segment;
mod summary;
mod superpixels;
mod voice;

use std::ffi::OsString;
use std::io::Write;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{ArgAction, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use voice::Voice;

const DONE: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOTHING: u8 = 3;
const NOT_CERTIFIED: u8 = 4;
const INTERRUPTED: u8 = 130;

/// Cuts objects out of photos from a few brush strokes, and says for every pixel how sure it is
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 110,
    long_about = "Cuts objects out of photos from a few brush strokes, and says for every pixel how sure it is.\n\n\
        Paint a few strokes on the object and a few on the background, save them beside the photo, and run `lfield segment`. \
        It writes a mask, a probability for every pixel, and a report that proves how close both are to the optimum of the \
        model (Djolonga & Krause, \"Scalable Variational Inference in Log-supermodular Models\", ICML 2015).",
    after_help = EXAMPLES,
    after_long_help = EXAMPLES_AND_CODES,
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    global: Global,
}

macro_rules! examples {
    () => {
        "\
Examples:
  lfield segment cat.jpg         strokes in cat.scribbles.png, results in lfield-out
  lfield segment cat.jpg --scribbles strokes.png -o out --emit all
  lfield paint cat.jpg           draw the strokes in the browser
  lfield batch photos -o out     every photo below a folder, with one report
  lfield evaluate photos         scores on photos with known truth
  lfield segment --help          every option, explained"
    };
}

const EXAMPLES: &str = examples!();

const EXAMPLES_AND_CODES: &str = concat!(
    examples!(),
    "
  lfield completions bash > ~/.local/share/bash-completion/completions/lfield

Exit codes:
  0    done
  1    an input failed
  2    the command line makes no sense
  3    no photo found
  4    not certified, under --strict
  130  interrupted"
);

#[derive(Debug, Subcommand)]
enum Command {
    Segment(Box<segment::Segment>),
    Batch(Box<batch::Batch>),
    Merge(merge::Merge),
    Superpixels(superpixels::Superpixels),
    Evaluate(Box<evaluate::Evaluate>),
    #[cfg(feature = "paint")]
    Paint(Box<paint::Paint>),
    Completions(completions::Completions),
    Man(man::Man),
}

/// What every subcommand understands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Print errors and nothing else
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Print more: how the strokes were read, what the mixtures and superpixels look like, every bound
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,

    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Seed of every random choice; the same seed gives the same files
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Colour in messages
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    color: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// Runs the program on a command line, the first word of which is the program's name, and returns its exit code. To be called once
/// in a process: it starts the threads of the whole process and takes over Ctrl-C, which ends the process with code 130.
pub fn main(arguments: &[OsString]) -> u8 {
    let cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let voice = Voice::new(&cli.global);
    // Zero means as many as there are cores. Started here, because the first use of threads could only panic without them.
    let threads = cli.global.threads.map_or(0, usize::from);
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        voice.error(&anyhow::anyhow!(error).context("cannot start threads; try --threads 1, or allow more memory"));
        return FAILED;
    }
    let result = match &cli.command {
        Command::Segment(command) => command.run(&cli.global, &voice),
        Command::Batch(command) => command.run(&cli.global, &voice),
        Command::Merge(command) => command.run(&voice),
        Command::Superpixels(command) => command.run(&voice),
        Command::Evaluate(command) => command.run(&cli.global, &voice),
        #[cfg(feature = "paint")]
        Command::Paint(command) => command.run(&cli.global, &voice, arguments),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => failure(&error, &voice),
    }
}

/// Reads a command line; the first argument is the program.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let color = match color_wanted(arguments) {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    };
    let matches = Cli::command().color(color).try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Options that are fine one by one and make no sense together.
fn usage(message: &str) -> clap::Error {
    Cli::command().error(ErrorKind::ArgumentConflict, message)
}

/// Prints what clap has to say. Help and version are successes; their reader may hang up.
fn explain(error: &clap::Error) -> u8 {
    match error.print().and_then(|()| std::io::stdout().flush()) {
        _ if error.use_stderr() => USAGE,
        Err(failure) if !hung_up(&failure) => {
            let _ = writeln!(std::io::stderr(), "error: {NO_STDOUT}: {failure}");
            FAILED
        }
        _ => DONE,
    }
}

/// Why what was asked for cannot be had.
const NO_STDOUT: &str = "cannot write to standard output; check where it leads";

/// Prints what is meant for another program or a file.
fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context(NO_STDOUT)
}

/// `--color` has to be known before the arguments are parsed, because parsing may already have something to say.
fn color_wanted(arguments: &[OsString]) -> When {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let value = texts.iter().enumerate().find_map(|(i, text)| match *text {
        "--color" => texts.get(i + 1).copied(),
        text => text.strip_prefix("--color="),
    });
    value.and_then(|value| When::from_str(value, false).ok()).unwrap_or(When::Auto)
}

/// Says what went wrong and picks the exit code.
fn failure(error: &anyhow::Error, voice: &Voice) -> u8 {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return explain(usage);
    }
    if let Some(lfield::Error::Interrupted) = error.downcast_ref() {
        voice.say(error);
        return INTERRUPTED;
    }
    if error.chain().any(hung_up) {
        return DONE;
    }
    voice.error(error);
    FAILED
}

fn hung_up(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
