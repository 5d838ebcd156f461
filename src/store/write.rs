//! One photo's outputs on disk: their names, and all of them put in place at once.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use super::files::{Rendered, Staged, probe, refuse_overwriting};
use super::key::key;
use crate::encode::report::Report;
use crate::read::Input;
use crate::session::{Answer, Options, Output};
use crate::{Error, Result};

/// What [`write()`] has left on disk.
#[derive(Clone, Debug)]
pub struct Written {
    /// The files, in the order in which outputs are listed.
    pub files: Vec<PathBuf>,
    /// The report, also when it was not among the outputs.
    pub report: Report,
}

/// Refuses an output folder that cannot be written to, or in which an output would replace one of the inputs. To be
/// asked before the work begins.
pub fn check_folder(input: &Input, folder: &Path, options: &Options) -> Result<()> {
    probe(folder)?;
    refuse_overwriting(folder, &output_names(input, options), &input.files())
}

/// Writes the outputs that the answer's options ask for. `proceed` is called when every file is complete under a temporary
/// name; when it breaks, nothing is left behind and the answer is [`Error::Interrupted`].
pub fn write(answer: &Answer, folder: &Path, proceed: &dyn Fn() -> ControlFlow<()>) -> Result<Written> {
    let prepared = prepare(answer, folder)?;
    if proceed().is_break() {
        return Err(Error::Interrupted);
    }
    prepared.commit()
}

/// Outputs that are complete under temporary names. Dropped without [`commit`](Self::commit), they vanish.
#[derive(Debug)]
pub struct Prepared {
    staged: Staged,
    sizes: Vec<u64>,
    report: Report,
}

impl Prepared {
    /// Bytes of each file, in the order of the report's list of outputs; the report, which is the last of them, is left out.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Gives every file its name.
    pub fn commit(self) -> Result<Written> {
        Ok(Written { files: self.staged.commit()?, report: self.report })
    }
}

/// Makes the outputs that the answer's options ask for, under temporary names.
pub fn prepare(answer: &Answer, folder: &Path) -> Result<Prepared> {
    let input = answer.origin().map(|origin| &origin.input);
    if let Some(input) = input {
        check_folder(input, folder, answer.options())?;
    }
    prepare_as(answer, folder, input.map_or(OsStr::new("lfield"), Input::stem))
}

/// The same with this stem in the names of the files, whatever files lie there.
pub fn prepare_as(answer: &Answer, folder: &Path, stem: &OsStr) -> Result<Prepared> {
    let began = Instant::now();
    let options = answer.options();
    let emit: Vec<Output> = Output::ALL.into_iter().filter(|output| options.output.emit.contains(output)).collect();
    let mut staged = Staged::new(folder)?;
    let rendered: Vec<Rendered> = emit.par_iter().flat_map_iter(|&output| files(answer, output, stem)).collect();
    staged.add(&rendered)?;
    let mut names: Vec<String> = rendered.iter().map(|file| file.name.to_string_lossy().into_owned()).collect();
    let sizes = rendered.iter().map(|file| file.bytes.len() as u64).collect();
    drop(rendered);

    let wants_report = emit.contains(&Output::Report);
    let report_name = name(stem, Output::Report.suffix());
    if wants_report {
        names.push(report_name.to_string_lossy().into_owned());
    }
    let report = report(answer, names, began);
    if wants_report {
        staged.add(&[Rendered { name: report_name, bytes: report.to_json() }])?;
    }
    Ok(Prepared { staged, sizes, report })
}

/// One output in memory, and the report, for who writes it elsewhere.
pub fn single(answer: &Answer, output: Output) -> Result<(Vec<u8>, Report)> {
    let began = Instant::now();
    let bytes = match output {
        Output::Report => Vec::new(),
        output => answer.encode(output)?,
    };
    let report = report(answer, Vec::new(), began);
    Ok((if output == Output::Report { report.to_json() } else { bytes }, report))
}

/// The report with what only files have.
fn report(answer: &Answer, outputs: Vec<String>, began: Instant) -> Report {
    let mut report = answer.report();
    report.fingerprint = answer.origin().map(|origin| key(origin, answer.options()));
    report.outputs = outputs;
    report.timing.write = began.elapsed().as_secs_f64();
    report.timing.total = answer.started.elapsed().as_secs_f64();
    report
}

/// The files of one output; none for the report, which is made last.
fn files(answer: &Answer, output: Output, stem: &OsStr) -> Vec<Rendered> {
    match output {
        Output::Report => Vec::new(),
        output if !answer.has(output) => Vec::new(),
        Output::Superpixels => {
            let layers = answer.partitions().par_iter().enumerate().map(|(layer, partition)| {
                let (bytes, extension) = crate::encode::labels(partition);
                Rendered { name: layer_name(stem, layer + 1, extension), bytes }
            });
            layers.collect()
        }
        output => vec![Rendered { name: name(stem, output.suffix()), bytes: answer.encoded(output) }],
    }
}

/// The names of the files that a run may write.
pub fn output_names(input: &Input, options: &Options) -> Vec<OsString> {
    let stem = input.stem();
    let n_layers = if input.superpixels.is_empty() { options.layers.len() } else { input.superpixels.len() };
    let mut names = Vec::new();
    for output in &options.output.emit {
        match output {
            Output::Superpixels => {
                for layer in 1..=n_layers {
                    names.extend(["png", "npy"].map(|extension| layer_name(stem, layer, extension)));
                }
            }
            other => names.push(name(stem, other.suffix())),
        }
    }
    names
}

fn name(stem: &OsStr, suffix: &str) -> OsString {
    let mut name = stem.to_os_string();
    name.push(".");
    name.push(suffix);
    name
}

fn layer_name(stem: &OsStr, layer: usize, extension: &str) -> OsString {
    name(stem, &format!("superpixels-{layer}.{extension}"))
}
