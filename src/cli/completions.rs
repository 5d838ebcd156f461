//! `lfield completions SHELL`: completion scripts, from the same definition as the help.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::DONE;

/// Print a completion script for your shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lfield completions bash > ~/.local/share/bash-completion/completions/lfield
  lfield completions zsh > ~/.zfunc/_lfield
  lfield completions fish > ~/.config/fish/completions/lfield.fish")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "lfield", &mut script);
        super::print(&script)?;
        Ok(DONE)
    }
}
