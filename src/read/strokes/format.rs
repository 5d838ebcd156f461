//! The encodings of strokes that lfield reads.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// How the values of a stroke file say foreground, background or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// Whatever the file leaves no doubt about.
    #[default]
    Auto,
    /// Grey 255 foreground, 128 background, 0 unlabelled.
    Labels,
    /// Grey 255 foreground, 0 background, anything else unknown.
    Trimap,
    /// OpenCV's codes: 0 background, 1 foreground, 2 and 3 only probable, hence unlabelled.
    Grabcut,
    /// Red foreground, blue background, anything else and anything transparent unlabelled.
    Redblue,
    /// An indexed PNG by index: 1 foreground, 2 background, 0 and 255 unlabelled. A grey image is read by value.
    Palette,
    /// Red and blue painted on a copy of the photo: only pixels that differ from the photo count.
    Diff,
    /// JSON of labelme: shapes labelled background are background, those of the one other label are foreground.
    Labelme,
    /// JSON of COCO: masks as run lengths or polygons, by the names of their categories, likewise.
    Coco,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::Labels,
        Self::Trimap,
        Self::Grabcut,
        Self::Redblue,
        Self::Palette,
        Self::Diff,
        Self::Labelme,
        Self::Coco,
    ];

    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Labels => "labels",
            Self::Trimap => "trimap",
            Self::Grabcut => "grabcut",
            Self::Redblue => "redblue",
            Self::Palette => "palette",
            Self::Diff => "diff",
            Self::Labelme => "labelme",
            Self::Coco => "coco",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            Error::parameter("the scribble format", format!("\"{name}\""), Self::ALL.map(Self::name).join(", "))
        })
    }
}
