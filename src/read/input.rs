//! The files of one photo: which they are, and what they hold.
//!
//! Strokes are required when colours are to be learned from them and optional, as seeds only, when a file of costs or
//! probabilities takes the place of the mixtures.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Digest, Format, Limits, Loaded, Strokes, discover, evidence, standard};
use crate::grid::{Partition, Picture, Unary};
use crate::{Checkpoint, Error, Result};

/// The files a run starts from.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The photo.
    pub image: PathBuf,
    /// The strokes; looked for beside the photo when not named.
    pub scribbles: Option<PathBuf>,
    /// The folder of strokes that `scribbles` was found in: it and the folders below it help to tell the encoding.
    pub scribbles_below: Option<PathBuf>,
    /// How the strokes are encoded.
    pub format: Format,
    /// What is known about each pixel without colour mixtures, if anything is.
    pub evidence: Option<EvidenceFile>,
    /// Label maps that replace mean shift, one per layer.
    pub superpixels: Vec<PathBuf>,
    /// Whether a box or clicks say enough without strokes.
    pub is_marked: bool,
    /// What the command line said beyond options.
    pub recorded: Recorded,
}

/// Facts of a command line that decide nothing and are written into the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// Whether the printed model was asked for.
    pub paper: bool,
    /// Whether not converging is a failure.
    pub strict: bool,
}

/// A file that replaces the colour mixtures.
#[derive(Clone, Debug)]
pub enum EvidenceFile {
    /// Costs m in nats.
    Unary(PathBuf),
    /// Probabilities of foreground.
    Prior(PathBuf),
}

impl EvidenceFile {
    /// The file of costs, or else the one of probabilities, if either is named.
    pub fn either(unary: Option<PathBuf>, prior: Option<PathBuf>) -> Option<Self> {
        unary.map(Self::Unary).or(prior.map(Self::Prior))
    }

    pub(crate) fn role(&self) -> &'static str {
        match self {
            Self::Unary(_) => "unary",
            Self::Prior(_) => "prior",
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Unary(path) | Self::Prior(path) => path,
        }
    }
}

/// What the input files hold.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The photo.
    pub picture: Picture,
    /// The strokes, if there are any.
    pub strokes: Option<Strokes>,
    /// Costs from a file, if one was given.
    pub costs: Option<Unary>,
    /// Superpixels from files.
    pub partitions: Vec<Partition>,
    /// What the readers want the user to know.
    pub warnings: Vec<String>,
    /// The content hash of every file read, by role.
    pub contents: Vec<(&'static str, Digest)>,
}

impl Input {
    /// Names the strokes beside the photo where none are named and there is exactly one such file.
    #[must_use]
    pub fn with_strokes(mut self) -> Self {
        self.scribbles = self.scribbles.or_else(|| discover(&self.image).ok());
        self
    }

    /// The strokes named, or else the ones beside the photo; none only where other evidence takes their place.
    pub fn stroke_file(&self) -> Result<Option<PathBuf>> {
        match &self.scribbles {
            Some(path) => Ok(Some(path.clone())),
            // Nothing lies beside what comes through a pipe.
            None if standard::is_meant(&self.image) && self.evidence.is_some() => Ok(None),
            None => match discover(&self.image) {
                Ok(path) => Ok(Some(path)),
                Err(Error::NoStrokes { .. }) if self.evidence.is_some() || self.is_marked => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// What the names of its outputs begin with: the photo's name without its ending.
    pub fn stem(&self) -> &OsStr {
        match standard::is_meant(&self.image) {
            true => OsStr::new("stdin"),
            false => self.image.file_stem().unwrap_or_default(),
        }
    }

    /// Every file named, for the promise that none is overwritten.
    pub fn files(&self) -> Vec<&Path> {
        let named = std::iter::once(&self.image).chain(&self.scribbles).chain(&self.superpixels);
        named.map(PathBuf::as_path).chain(self.evidence.iter().map(EvidenceFile::path)).collect()
    }

    /// Reads every file.
    pub fn read(&self, limits: &Limits, checkpoint: Checkpoint<'_>) -> Result<Scene> {
        let (mut warnings, mut contents) = (Vec::new(), Vec::new());
        let mut record = |role, notes: Vec<String>, digest| {
            warnings.extend(notes);
            contents.push((role, digest));
        };
        let Loaded { value: picture, warnings: notes, digest } = Picture::read(&self.image, limits)?;
        record("image", notes, digest);
        checkpoint()?;
        let shape = picture.shape();
        let costs = match &self.evidence {
            None => None,
            Some(file) => {
                let Loaded { value, warnings: notes, digest } = match file {
                    EvidenceFile::Unary(path) => evidence::unary(path, shape, limits)?,
                    EvidenceFile::Prior(path) => evidence::prior(path, shape, limits)?,
                };
                record(file.role(), notes, digest);
                Some(value)
            }
        };
        checkpoint()?;
        let strokes = match self.stroke_file()? {
            Some(path) => {
                let strokes =
                    Strokes::read_below(&path, self.scribbles_below.as_deref(), &picture, self.format, limits)?;
                record("scribbles", strokes.warnings.clone(), strokes.digest);
                if costs.is_none() && !self.is_marked {
                    strokes.require_both_classes()?;
                }
                Some(strokes)
            }
            None => None,
        };
        let mut partitions = Vec::new();
        for path in &self.superpixels {
            checkpoint()?;
            let Loaded { value, warnings: notes, digest } = evidence::superpixels(path, shape, limits)?;
            record("superpixels", notes, digest);
            partitions.push(value);
        }
        Ok(Scene { picture, strokes, costs, partitions, warnings, contents })
    }
}
