//! What can go wrong, one variant per thing a user can act on.
//!
//! Variants carry facts, not prose: the sentence is made once, here, and says what to do about it where no option of the program is needed for that. A
//! function that reads a file takes its path, and its errors name it.

use std::path::PathBuf;

use crate::grid::Shape;
use crate::read::Format;

/// A result of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Called often, and from any thread, by everything that takes long. An error, usually [`Error::Interrupted`], ends the work at once
/// and is passed on; `&|| Ok(())` lets it run to its end.
pub type Checkpoint<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// Why lfield refused its input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside the range in which the mathematics holds.
    #[error("{name} is {value}: it must be {expected}")]
    Parameter {
        /// The parameter, as the user knows it.
        name: String,
        /// What was given.
        value: String,
        /// What would be right.
        expected: String,
    },

    /// Two inputs that describe the same picture differ in size.
    #[error("{what} is {found}, the photo is {photo}: both must have the same size (after any EXIF rotation)")]
    SizeMismatch {
        /// The input that does not fit.
        what: String,
        /// Its size.
        found: Shape,
        /// The size of the photo.
        photo: Shape,
    },

    /// A solver by minimum cuts was given a model that is no graph.
    #[error("the divide-conquer solver needs a model that is a graph, but {why}")]
    NotAGraph {
        /// What stands in the way.
        why: String,
    },

    /// A rival was given a model with a factor it has no rule for.
    #[error("{method} cannot take this model, because {why}")]
    UnknownFactor {
        /// The method, as the user knows it.
        method: &'static str,
        /// What stands in the way.
        why: String,
    },

    /// A solver for small models was given a large one.
    #[error("the {solver} solver takes at most {limit} free pixels, this model has {found}")]
    TooManyVariables {
        /// The solver, as the user knows it.
        solver: &'static str,
        /// Free variables of the model.
        found: usize,
        /// The most it takes.
        limit: usize,
    },

    /// The output folder cannot be made or written to.
    #[error("cannot write to the folder {}: {source}", path.display())]
    OutputFolder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// An output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// Another process writes to the same output folder.
    #[error("another batch is running here: {} is being written to; run this again when that has ended", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },

    /// An output cannot be called what it has to be called.
    #[error("cannot write {}: {source}; give the photo a shorter name", path.display())]
    OutputName {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// An output would take the place of an input.
    #[error("{} would be written over the input {}", output.display(), input.display())]
    WouldOverwrite {
        /// The output.
        output: PathBuf,
        /// The input that is the same file.
        input: PathBuf,
    },

    /// The operating system did not hand the file over.
    #[error("cannot read {}: {source}; check the name and that the file may be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The content is no image format that lfield knows.
    #[error("{} is {found}: give a PNG, JPEG, BMP, TIFF, WebP or PNM image (the content counts, not the name)", .path.display())]
    NotAnImage {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        found: String,
    },

    /// The format is right but the content is broken or cut short.
    #[error("{} is damaged: {problem}; copy or export the file again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// A sound file of a kind that has no meaning where it was given.
    #[error("{} {problem}: {remedy}", .path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// What it holds, as a verb phrase.
        problem: String,
        /// What to do about it.
        remedy: String,
    },

    /// More pixels than the limit allows.
    #[error(
        "{} is {width}×{height}, more than the {max_pixels} pixels allowed",
        .path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Columns it claims to have.
        width: u64,
        /// Rows it claims to have.
        height: u64,
        /// The limit in force.
        max_pixels: u64,
    },

    /// A single value of a file is not what it must be.
    #[error("{}: the value in row {row}, column {column} (from 0) is {value}; it must be {expected}", .path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Row of the pixel, from 0.
        row: usize,
        /// Column of the pixel, from 0.
        column: usize,
        /// What is there.
        value: String,
        /// What would be right, and how to get there.
        expected: String,
    },

    /// No stroke file beside the photo.
    #[error(
        "no strokes found for {}; looked for {}, also as .webp, .tif, .jpg or .json. Paint red on the object and blue on the background, on a transparent or \
         white canvas of the photo's size, and save it under one of these names",
        .image.display(), list(.looked_for)
    )]
    NoStrokes {
        /// The photo.
        image: PathBuf,
        /// Every name that was tried.
        looked_for: Vec<PathBuf>,
    },

    /// More than one file of a kind for one photo.
    #[error(
        "two {what} files for {}: {} and {}",
        .image.display(), .first.display(), .second.display()
    )]
    SeveralFiles {
        /// What the files are.
        what: &'static str,
        /// The photo.
        image: PathBuf,
        /// One file.
        first: PathBuf,
        /// Another.
        second: PathBuf,
    },

    /// Two photos of a batch lead to the same output files.
    #[error(
        "{} and {} would both be written to {}.*; rename one, or leave one out",
        .first.display(), .second.display(), .output.display()
    )]
    SameOutput {
        /// One photo.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// What both outputs begin with.
        output: PathBuf,
    },

    /// A photo would need more memory than there is, or than the user allows.
    #[error(
        "{} is {shape} and needs about {needed} MB of memory, more than the {} of {limit} MB",
        .path.display(),
        if *.is_chosen { "limit" } else { "free memory" }
    )]
    TooMuchMemory {
        /// The photo.
        path: PathBuf,
        /// Its size.
        shape: Shape,
        /// Megabytes it is expected to need.
        needed: u64,
        /// Megabytes there are.
        limit: u64,
        /// Whether the limit is the user's own.
        is_chosen: bool,
    },

    /// The values of a stroke file can be read in more than one way, or in none.
    #[error("{} holds {found}: {why}", .path.display())]
    AmbiguousStrokes {
        /// The stroke file.
        path: PathBuf,
        /// The values in it and how many pixels have each.
        found: String,
        /// Why they do not decide.
        why: String,
        /// The formats that would do, separated by `|`.
        options: String,
    },

    /// A stroke file does not hold what its format says.
    #[error("{} does not read as {format}: it holds {found}, but {expected}", .path.display())]
    StrokeEncoding {
        /// The stroke file.
        path: PathBuf,
        /// The format it was read as.
        format: Format,
        /// What is in it.
        found: String,
        /// What the format asks for, and the remedy.
        expected: String,
    },

    /// A class has no stroke at all.
    #[error("{what} has no {class} stroke: paint at least one on the {class}")]
    MissingStroke {
        /// The strokes, as the user knows them.
        what: String,
        /// The class without a stroke: foreground, background, or both.
        class: &'static str,
    },

    /// Something that should not happen has happened to one photo of a batch.
    #[error("internal error: {what}; please report it, and segment the photo alone to see more")]
    Failure {
        /// What happened.
        what: String,
    },

    /// The observer asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl Error {
    pub(crate) fn parameter(name: impl Into<String>, value: impl ToString, expected: impl Into<String>) -> Self {
        Self::Parameter { name: name.into(), value: value.to_string(), expected: expected.into() }
    }

    pub(crate) fn unsuitable(path: impl Into<PathBuf>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unsuitable { path: path.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// Whether it is about room on the disk, which the next photo would not find either.
    pub(crate) fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        matches!(self, Self::Write { source, .. } | Self::OutputFolder { source, .. }
            if [StorageFull, QuotaExceeded, ReadOnlyFilesystem].contains(&source.kind()))
    }

    /// For `map_err`.
    pub(crate) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        |source| Self::Unreadable { path: path.into(), source }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}
