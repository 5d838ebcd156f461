//! Bad input: each case is refused with the documented exit code and one line that names the file, the problem and the remedy,
//! and leaves nothing behind. What looks bad but is sound must work.

/// Photos, and bytes that pretend to be photos.
mod files;

/// Stroke files.
mod strokes;

/// Costs, probabilities, label maps and truths.
mod arrays;

/// Numbers on the command line and in manifests.
mod numbers;

/// Where results go, and what things are called.
pub(crate) mod places;

/// The standard streams.
mod pipes;

/// Little memory, no listener.
mod scarcity;

/// Files of every format, sound and not.
mod forge;

use std::collections::BTreeSet;

use crate::desk::Desk;

/// A run that must be refused.
struct Case {
    /// The whole command line.
    arguments: Vec<String>,
    /// 1 for input, 2 for usage.
    code: i32,
    /// What the message must name: the file, or the option.
    file: &'static str,
    /// What must be said about it.
    problem: &'static str,
    /// What to do must be said with these words.
    remedy: &'static str,
    /// What comes through the standard input.
    fed: Vec<u8>,
}

/// An input that is refused with exit code 1; `arguments` are separated by blanks.
fn case(arguments: &str, file: &'static str, problem: &'static str, remedy: &'static str) -> Case {
    let arguments = arguments.split_whitespace().map(String::from).collect();
    Case { arguments, code: 1, file, problem, remedy, fed: Vec::new() }
}

/// A command line that makes no sense, exit code 2.
fn usage(arguments: &str, option: &'static str, remedy: &'static str) -> Case {
    Case { code: 2, ..case(arguments, option, "", remedy) }
}

impl Case {
    fn fed(self, bytes: &[u8]) -> Self {
        Self { fed: bytes.to_vec(), ..self }
    }

    /// What is wrong with what the program does, if anything is.
    fn fault(&self, desk: &Desk) -> Option<String> {
        let before = listing(desk);
        let output = desk.lfield(&[]).args(&self.arguments).write_stdin(self.fed.clone()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        let missing = [self.file, self.problem, self.remedy].into_iter().find(|part| !said.contains(part));
        let is_alone = self.code == 1 && !["batch", "evaluate"].contains(&self.arguments[0].as_str());
        let fault = if code != Some(self.code) {
            format!("exit code {code:?} instead of {}", self.code)
        } else if said.contains("panicked") || said.contains("internal error") {
            "a bug".to_string()
        } else if let Some(part) = missing {
            format!("no {part:?}")
        } else if is_alone && !(said.starts_with("error: ") && said.lines().count() == 1) {
            "not one line".to_string()
        } else if !output.stdout.is_empty() {
            "something on stdout".to_string()
        } else if is_alone && listing(desk) != before {
            "something left behind".to_string()
        } else {
            return None;
        };
        Some(format!("{}: {fault}\n{said}", self.arguments.join(" ")))
    }
}

/// Every path below the desk.
fn listing(desk: &Desk) -> BTreeSet<std::path::PathBuf> {
    let entries = walk(&desk.path(""));
    entries.into_iter().collect()
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}

/// Checks every case of a table, and that no two of them are the same.
fn check_all(desk: &Desk, cases: &[Case]) {
    let different: BTreeSet<&Vec<String>> = cases.iter().map(|case| &case.arguments).collect();
    assert_eq!(different.len(), cases.len(), "two cases are the same");
    let faults: Vec<String> = cases.iter().filter_map(|case| case.fault(desk)).collect();
    assert!(faults.is_empty(), "{} of {} cases:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn there_are_more_than_sixty_distinct_cases() {
    let tables = [files::cases(), strokes::cases(), arrays::cases(), numbers::cases(), places::cases(), pipes::cases()];
    let different: BTreeSet<Vec<String>> = tables.into_iter().flatten().map(|case| case.arguments).collect();
    // For `scripts/refresh_docs.py refusals`.
    println!("{} bad inputs", different.len());
    assert!(different.len() > 60, "{}", different.len());
}
