//! `lfield man`: manual pages, from the same definition as the help.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use super::DONE;

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lfield man | man -l -
  lfield man segment | man -l -
  lfield man > /usr/local/share/man/man1/lfield.1")]
pub(super) struct Man {
    /// The command that the page is about [default: all of them on one page]
    command: Option<String>,
}

impl Man {
    pub(super) fn run(&self) -> Result<u8> {
        let mut program = super::Cli::command().disable_help_subcommand(true);
        program.build();
        let mut page = Vec::new();
        match &self.command {
            None => whole(&program, &mut page)?,
            Some(name) => match program.find_subcommand(name) {
                Some(command) => Page::new(command.clone()).render(&mut page)?,
                None => {
                    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
                    return Err(super::usage(&format!("no command `{name}`: give one of {}", names.join(", "))).into());
                }
            },
        }
        super::print(&page)?;
        Ok(DONE)
    }
}

/// The options are those of the subcommands: one page holds them all.
fn whole(program: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    Page::new(program.clone()).render(page)?;
    for command in program.get_subcommands() {
        let section = Page::new(command.clone());
        let title = format!(".SH \"LFIELD {}\"\n", command.get_name().to_uppercase());
        page.extend_from_slice(title.as_bytes());
        section.render_description_section(page)?;
        section.render_options_section(page)?;
    }
    Ok(())
}
