//! Reading: the photo, and whatever is known about it.
//!
//! Strokes are required when colours are to be learned from them and optional, as seeds only, when a file of costs or
//! probabilities takes the place of the mixtures.

use std::path::{Path, PathBuf};

use super::fingerprint::Part;
use super::{EvidenceFile, Input, Options};
use crate::annotation::{Seeds, Strokes, discover};
use crate::field::{Partition, Unary};
use crate::input::Loaded;
use crate::picture::Picture;
use crate::unary::{self, Geodesic, Mixtures};
use crate::{Checkpoint, Error, Result, evidence};

/// What the input files say.
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
    /// The content of every file read, by role.
    pub(super) parts: Vec<Part>,
}

/// What is known about every pixel alone.
pub(super) struct Evidence {
    pub(super) unary: Unary,
    pub(super) mixtures: Option<Mixtures>,
    pub(super) geodesic: f64,
}

impl Input {
    /// The strokes named, or else the ones beside the photo; none only where other evidence takes their place.
    pub fn stroke_file(&self) -> Result<Option<PathBuf>> {
        match &self.scribbles {
            Some(path) => Ok(Some(path.clone())),
            None => match discover(&self.image) {
                Ok(path) => Ok(Some(path)),
                Err(Error::NoStrokes { .. }) if self.evidence.is_some() => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}

impl Scene {
    /// Reads every file of `input`.
    pub fn read(input: &Input, options: &Options, checkpoint: Checkpoint<'_>) -> Result<Self> {
        let limits = &options.limits;
        let mut notes = Notes::default();
        let picture = notes.heed("image", Picture::read(&input.image, limits)?);
        let shape = picture.shape();
        checkpoint()?;
        let costs = match &input.evidence {
            None => None,
            Some(file) => {
                let loaded = match file {
                    EvidenceFile::Unary(path) => evidence::unary(path, shape, limits)?,
                    EvidenceFile::Prior(path) => evidence::prior(path, shape, limits)?,
                };
                Some(notes.heed(file.role(), loaded))
            }
        };
        checkpoint()?;
        let strokes = match input.stroke_file()? {
            Some(path) => Some(Strokes::read(&path, &picture, input.format, limits)?),
            None => None,
        };
        if let Some(strokes) = &strokes {
            notes.warnings.extend(strokes.warnings.iter().cloned());
            notes.parts.push(("scribbles", strokes.digest));
            if costs.is_none() {
                strokes.require_both_classes()?;
            }
        }
        let partitions = input
            .superpixels
            .iter()
            .map(|path| {
                checkpoint()?;
                Ok(notes.heed("superpixels", evidence::superpixels(path, shape, limits)?))
            })
            .collect::<Result<_>>()?;
        let Notes { warnings, parts } = notes;
        Ok(Self { picture, strokes, costs, partitions, warnings, parts })
    }

    /// The strokes as seeds.
    pub fn seeds(&self) -> Option<&Seeds> {
        self.strokes.as_ref().map(|strokes| &strokes.seeds)
    }

    /// The file the strokes came from.
    pub fn stroke_file(&self) -> Option<&Path> {
        self.strokes.as_ref().map(|strokes| strokes.path.as_path())
    }

    /// Costs from the file, plus the stroke distance if it has a fixed weight; or else what the strokes teach. `seeds` are the
    /// strokes to learn from, all of them or some.
    pub(super) fn weigh(
        &self,
        seeds: Option<&Seeds>,
        options: &unary::Options,
        checkpoint: Checkpoint<'_>,
    ) -> Result<Evidence> {
        match (&self.costs, seeds, options.geodesic) {
            (Some(costs), Some(seeds), Geodesic::Fixed(weight)) if weight > 0.0 => {
                let nearer = unary::stroke_distance(&self.picture, seeds, checkpoint)?;
                let values = costs.as_slice().iter().zip(nearer).map(|(m, nearer)| m - weight * nearer).collect();
                Ok(Evidence { unary: Unary::new(costs.shape(), values)?, mixtures: None, geodesic: weight })
            }
            (Some(_), None, Geodesic::Fixed(weight)) if weight > 0.0 => Err(Error::Parameter {
                name: "--geodesic".into(),
                value: format!("{weight} without strokes"),
                expected: "0, or accompanied by --scribbles: it weighs the distance to the strokes".into(),
            }),
            (Some(costs), ..) => Ok(Evidence { unary: costs.clone(), mixtures: None, geodesic: 0.0 }),
            (None, Some(seeds), _) => {
                let learned = unary::log_odds(&self.picture, seeds, options, checkpoint)?;
                Ok(Evidence { unary: learned.unary, mixtures: Some(learned.mixtures), geodesic: learned.geodesic })
            }
            (None, None, _) => unreachable!("a scene without strokes has costs"),
        }
    }
}

/// What is learned on the way, beside the values.
#[derive(Default)]
struct Notes {
    warnings: Vec<String>,
    parts: Vec<Part>,
}

impl Notes {
    fn heed<T>(&mut self, role: &'static str, loaded: Loaded<T>) -> T {
        self.warnings.extend(loaded.warnings);
        self.parts.push((role, loaded.digest));
        loaded.value
    }
}
