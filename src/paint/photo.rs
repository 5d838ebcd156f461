//! One photo and its files: where its strokes and results lie, what is there already, and how strokes get to the disk.
//!
//! Strokes are written after every stroke, under a temporary name first. The file is ours: grey labels with a text key that says
//! so. A stroke file that this program did not write is copied aside before the first stroke replaces it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::sheet::Sheet;
use crate::encode;
use crate::grid::{Picture, Seed, Seeds};
use crate::read::{Format, Input, Limits, Recorded, Strokes};
use crate::session::Options;
use crate::store::{self, files};
use crate::{Error, Result};

/// A photo and where what belongs to it is written.
#[derive(Clone, Debug)]
pub struct Photo {
    /// The file.
    pub path: PathBuf,
    /// What people call it: its path below the folder that was opened.
    pub name: String,
    /// The folder for its strokes and results.
    pub output: PathBuf,
}

impl Photo {
    /// The file of its strokes.
    pub fn strokes(&self) -> PathBuf {
        self.output.join(self.named(".scribbles.png"))
    }

    fn named(&self, ending: &str) -> OsString {
        let mut name = self.path.file_stem().unwrap_or_default().to_os_string();
        name.push(ending);
        name
    }

    /// What a run of the photo with the strokes on disk starts from.
    pub(super) fn input(&self, recorded: Recorded) -> Input {
        Input { image: self.path.clone(), scribbles: Some(self.strokes()), recorded, ..Input::default() }
    }

    /// What an earlier run left: strokes, and results that are not older than they are.
    pub(super) fn state(&self, options: &Options) -> State {
        let age = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
        let Some(strokes) = age(&self.strokes()) else { return State::Untouched };
        let names = store::output_names(&self.input(Recorded::default()), options);
        let is_saved = |name: &OsString| age(&self.output.join(name)).is_some_and(|result| result >= strokes);
        if names.last().is_some_and(is_saved) { State::Saved } else { State::Strokes }
    }

    /// The strokes on disk, or none.
    pub(super) fn restored(&self, picture: &Picture, limits: &Limits) -> Result<Sheet> {
        let path = self.strokes();
        // What a killed run left of files it had not finished.
        files::sweep_leftovers(&self.output, &[self.named(".scribbles.png")])?;
        if !path.exists() {
            return Ok(Sheet::empty(picture.shape()));
        }
        Ok(Sheet::new(&Strokes::read(&path, picture, Format::Auto, limits)?.seeds))
    }

    /// Puts strokes in place of those on disk; no strokes leave no file.
    pub(super) fn keep(&self, seeds: &Seeds) -> Result<()> {
        let path = self.strokes();
        files::refuse_overwriting(&self.output, &[self.named(".scribbles.png")], &[&self.path])?;
        self.keep_foreign(&path)?;
        if seeds.labels().iter().all(|&seed| seed == Seed::Unlabelled) {
            return match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(Error::Write { path, source }),
                _ => Ok(()),
            };
        }
        let mut staged = files::Staged::new(&self.output)?;
        let name = self.named(".scribbles.png");
        staged.add(&[files::Rendered { name, bytes: encode::strokes(seeds) }])?;
        staged.commit().map(drop)
    }

    /// Copies a stroke file of other origin to a name where nothing looks for strokes, once.
    fn keep_foreign(&self, path: &Path) -> Result<()> {
        let aside = self.named(".scribbles.png.bak");
        let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
        if encode::is_own_strokes(&bytes) || self.output.join(&aside).exists() {
            return Ok(());
        }
        let mut staged = files::Staged::new(&self.output)?;
        staged.add(&[files::Rendered { name: aside, bytes }])?;
        staged.commit().map(drop)
    }
}

/// How far a photo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No strokes.
    Untouched,
    /// Strokes, and no results of them.
    Strokes,
    /// Results of the strokes as they are.
    Saved,
}

impl State {
    /// Its letter in the list that the page is told.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Untouched => 'u',
            Self::Strokes => 's',
            Self::Saved => 'd',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;

    fn photo(folder: &Path) -> Photo {
        Photo { path: folder.join("cat.png"), name: "cat.png".into(), output: folder.join("out") }
    }

    fn seeds(labels: [Seed; 4]) -> Seeds {
        Seeds::new(Shape::new(4, 1), labels.to_vec())
    }

    const DRAWN: [Seed; 4] = [Seed::Foreground, Seed::Unlabelled, Seed::Background, Seed::Unlabelled];

    #[test]
    fn strokes_come_back_as_they_were_and_vanish_when_there_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let photo = photo(folder.path());
        let picture = Picture::new(Shape::new(4, 1), vec![[9; 3]; 4]);
        photo.keep(&seeds(DRAWN)).unwrap();
        assert_eq!(photo.restored(&picture, &Limits::default()).unwrap().seeds(), seeds(DRAWN));
        assert_eq!(photo.state(&Options::default()), State::Strokes);
        photo.keep(&seeds([Seed::Unlabelled; 4])).unwrap();
        assert!(!photo.strokes().exists());
        assert_eq!(photo.state(&Options::default()), State::Untouched);
        photo.keep(&seeds([Seed::Unlabelled; 4])).unwrap();
    }

    #[test]
    fn strokes_of_another_program_are_copied_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let photo = photo(folder.path());
        std::fs::create_dir(&photo.output).unwrap();
        std::fs::write(photo.strokes(), "foreign").unwrap();
        for _ in 0..2 {
            photo.keep(&seeds(DRAWN)).unwrap();
            assert_eq!(std::fs::read(photo.output.join("cat.scribbles.png.bak")).unwrap(), b"foreign");
        }
        assert!(encode::is_own_strokes(&std::fs::read(photo.strokes()).unwrap()));
    }

    #[test]
    fn a_photo_is_never_its_own_stroke_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.scribbles.png");
        std::fs::write(&path, "photo").unwrap();
        std::fs::hard_link(&path, folder.path().join("cat.png")).unwrap();
        let photo = Photo { output: folder.path().to_path_buf(), ..photo(folder.path()) };
        assert!(matches!(photo.keep(&seeds(DRAWN)), Err(Error::WouldOverwrite { .. })));
        assert_eq!(std::fs::read(path).unwrap(), b"photo");
    }
}
