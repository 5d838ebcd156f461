//! How the program talks: stderr only, quiet when asked, in colour when it is seen.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use super::hint::explain;
use super::{Global, When};

/// The program's voice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voice {
    quiet: bool,
    verbose: bool,
    color: bool,
}

impl Voice {
    pub(super) fn new(global: &Global) -> Self {
        let color = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                std::io::stderr().is_terminal() && !unwanted
            }
        };
        Self { quiet: global.quiet, verbose: global.verbose > 0, color }
    }

    pub(super) fn is_quiet(self) -> bool {
        self.quiet
    }

    pub(super) fn is_verbose(self) -> bool {
        self.verbose && !self.quiet
    }

    /// A line for people, unless they asked for silence.
    pub(super) fn say(self, line: impl Display) {
        if !self.quiet {
            self.put(printable(&line.to_string()));
        }
    }

    /// A line that begins with a word in [`bold`](Self::bold) or [`dim`](Self::dim).
    pub(super) fn say_of(self, head: &str, text: impl Display) {
        if !self.quiet {
            self.put(format!("{head} {}", printable(&text.to_string())).trim_end());
        }
    }

    /// A line of a summary.
    pub(super) fn fact(self, label: &str, text: impl Display) {
        self.say_of(&format!("  {}", self.dim(&format!("{label:<8}"))), text);
    }

    /// Something they should know but that stops nothing.
    pub(super) fn warn(self, line: impl Display) {
        self.say_of(&self.paint("warning:", "1;33"), line);
    }

    /// The last line, which a bar may be in the way of.
    pub(super) fn break_off(self, line: &str) {
        if !self.quiet {
            self.put(format_args!("\n{line}"));
        }
    }

    /// The whole chain of causes on one line, each said once.
    pub(super) fn error(self, error: &anyhow::Error) {
        let explained = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<lfield::Error>().map_or_else(|| cause.to_string(), explain)
        };
        let mut line = String::new();
        for cause in error.chain() {
            let text = explained(cause);
            if line.is_empty() {
                line = text;
            } else if !line.contains(&text) {
                line = format!("{line}: {text}");
            }
        }
        self.put(format_args!("{} {}", self.paint("error:", "1;31"), printable(&line)));
    }

    /// Text in bold, where there is colour.
    pub(super) fn bold(self, text: &str) -> String {
        self.paint(&printable(text), "1")
    }

    /// Text that steps back, where there is colour.
    pub(super) fn dim(self, text: &str) -> String {
        self.paint(&printable(text), "2")
    }

    fn paint(self, text: &str, code: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    fn put(self, line: impl Display) {
        // When nobody listens any more there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

pub(super) use lfield::encode::printable;

/// `1 photo`, `2 photos`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
