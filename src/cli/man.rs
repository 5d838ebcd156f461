//! `lfield man`: the manual page, from the same definition as the help.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lfield man | man -l -
  lfield man > /usr/local/share/man/man1/lfield.1")]
pub(super) struct Man {}

impl Man {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let mut command = super::Cli::command().disable_help_subcommand(true);
        command.build();
        let mut page = Vec::new();
        Page::new(command.clone()).render(&mut page)?;
        // The options are those of the subcommands: one page holds them all.
        for subcommand in command.get_subcommands() {
            let section = Page::new(subcommand.clone());
            let title = format!(".SH \"LFIELD {}\"\n", subcommand.get_name().to_uppercase());
            page.extend_from_slice(title.as_bytes());
            section.render_description_section(&mut page)?;
            section.render_options_section(&mut page)?;
        }
        super::print(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}
