//! What a batch remembers about a finished photo beyond its report: scores and thumbnails, in `OUT/.lfield/`.
//!
//! One file per photo, so that machines working side by side never write the same one. It is written before the outputs and names
//! the run it belongs to: without them, or beside those of another run, it means nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::Item;
use crate::encode::Thumbnails;
use crate::metric::Scores;
use crate::read::Digest;
use crate::store::files::{Rendered, Staged};
use crate::{Error, Result};

/// The folder below the output folder.
pub(super) const FOLDER: &str = ".lfield";

/// What is remembered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Notes {
    /// The run.
    pub(super) fingerprint: Digest,
    /// Bytes of each output in the order of the report, which is not counted itself: a file that was cut short later is noticed.
    #[serde(default)]
    pub(super) sizes: Vec<u64>,
    /// The content of the truth, if there is one.
    pub(super) truth: Option<Digest>,
    /// How the result compares to it.
    pub(super) scores: Option<Scores>,
    /// Pictures for the page.
    pub(super) thumbnails: Thumbnails,
}

impl Notes {
    /// What is remembered about a photo, if anything is.
    pub(super) fn read(out: &Path, item: &Item) -> Result<Option<Self>> {
        let (folder, name) = place(out, item);
        let path = folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Unreadable { path, source }),
        }
    }

    pub(super) fn write(&self, out: &Path, item: &Item) -> Result<()> {
        let (folder, name) = place(out, item);
        crate::store::files::sweep_leftovers(&folder, std::slice::from_ref(&name))?;
        let mut staged = Staged::new(&folder)?;
        let bytes = serde_json::to_vec(self).expect("notes have string keys and finite or null numbers");
        staged.add(&[Rendered { name, bytes }])?;
        staged.commit().map(|_| ())
    }
}

fn place(out: &Path, item: &Item) -> (PathBuf, std::ffi::OsString) {
    let mut name = item.stem().to_os_string();
    name.push(".json");
    (out.join(FOLDER).join(&item.folder), name)
}
