//! Reading: the photo, and whatever is known about it.
//!
//! Strokes are required when colours are to be learned from them and optional, as seeds only, when a file of costs or
//! probabilities takes the place of the mixtures.

use std::path::Path;

use super::{EvidenceFile, Input, Options};
use crate::annotation::{Seeds, Strokes, discover};
use crate::field::{Partition, Unary};
use crate::input::Loaded;
use crate::picture::Picture;
use crate::unary::{self, Geodesic, Mixtures};
use crate::{Error, Result, evidence};

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
}

/// What is known about every pixel alone.
pub(super) struct Evidence {
    pub(super) unary: Unary,
    pub(super) mixtures: Option<Mixtures>,
    pub(super) geodesic: f64,
}

impl Scene {
    /// Reads every file of `input`.
    pub fn read(input: &Input, options: &Options) -> Result<Self> {
        let limits = &options.limits;
        let mut warnings = Vec::new();
        let picture = heed(Picture::read(&input.image, limits)?, &mut warnings);
        let shape = picture.shape();
        let costs = match &input.evidence {
            None => None,
            Some(EvidenceFile::Unary(path)) => Some(heed(evidence::unary(path, shape, limits)?, &mut warnings)),
            Some(EvidenceFile::Prior(path)) => Some(heed(evidence::prior(path, shape, limits)?, &mut warnings)),
        };
        let strokes = match (&input.scribbles, discover(&input.image)) {
            (Some(path), _) => Some(Strokes::read(path, &picture, input.format, limits)?),
            (None, Ok(path)) => Some(Strokes::read(&path, &picture, input.format, limits)?),
            (None, Err(Error::NoStrokes { .. })) if costs.is_some() => None,
            (None, Err(error)) => return Err(error),
        };
        if let Some(strokes) = &strokes {
            warnings.extend(strokes.warnings.iter().cloned());
            if costs.is_none() {
                strokes.require_both_classes()?;
            }
        }
        let partitions = input
            .superpixels
            .iter()
            .map(|path| Ok(heed(evidence::superpixels(path, shape, limits)?, &mut warnings)))
            .collect::<Result<_>>()?;
        Ok(Self { picture, strokes, costs, partitions, warnings })
    }

    /// The strokes as seeds.
    pub fn seeds(&self) -> Option<&Seeds> {
        self.strokes.as_ref().map(|strokes| &strokes.seeds)
    }

    /// The file the strokes came from.
    pub fn stroke_file(&self) -> Option<&Path> {
        self.strokes.as_ref().map(|strokes| strokes.path.as_path())
    }

    /// Costs from the file, plus the stroke distance if it has a fixed weight; or else what the strokes teach.
    pub(super) fn weigh(&self, options: &unary::Options) -> Result<Evidence> {
        match (&self.costs, self.seeds(), options.geodesic) {
            (Some(costs), Some(seeds), Geodesic::Fixed(weight)) if weight > 0.0 => {
                let nearer = unary::stroke_distance(&self.picture, seeds)?;
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
                let learned = unary::log_odds(&self.picture, seeds, options)?;
                Ok(Evidence { unary: learned.unary, mixtures: Some(learned.mixtures), geodesic: learned.geodesic })
            }
            (None, None, _) => unreachable!("a scene without strokes has costs"),
        }
    }
}

fn heed<T>(loaded: Loaded<T>, warnings: &mut Vec<String>) -> T {
    warnings.extend(loaded.warnings);
    loaded.value
}
