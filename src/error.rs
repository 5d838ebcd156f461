//! What can go wrong, one variant per thing a user can act on.
//!
//! Variants carry facts, not prose: the sentence is made once, here, and always ends with what to do about it. The
//! program adds the file's name in front of it.

use std::path::PathBuf;

use crate::field::Shape;

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;

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

    /// The colours of a class have nothing to be learned from.
    #[error("the strokes mark no {class} pixel: draw at least one {class} stroke")]
    MissingStroke {
        /// `foreground` or `background`.
        class: &'static str,
    },

    /// The output folder cannot be made.
    #[error("cannot make the output folder {}; choose another with -o", path.display())]
    OutputFolder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// An output cannot be written.
    #[error("cannot write {}; make room there or choose another folder with -o", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// An output would take the place of an input.
    #[error("{} would be written over the input {}; choose another folder with -o", output.display(), input.display())]
    WouldOverwrite {
        /// The output.
        output: PathBuf,
        /// The input that is the same file.
        input: PathBuf,
    },
}
