//! Finding the strokes that belong to a photo.
//!
//! Only these names are tried, and exactly one may exist: picking one of two silently would segment from the wrong strokes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::annotation;
use crate::{Error, Result};

/// What follows the stem of the photo in the name of a stroke file beside it.
pub(crate) const MARKS: [&str; 5] = [".scribbles", "_scribbles", "-scribbles", ".scribble", "_scribble"];

/// Endings that are looked for beside `.png`.
const ENDINGS: [&str; 6] = ["webp", "tif", "tiff", "jpg", "jpeg", "json"];

/// The one stroke file of `image`: `STEM.scribbles.png`, `STEM_scribbles.png`, `STEM-scribbles.png`, `STEM.scribble.png` or
/// `STEM_scribble.png` beside it, or `scribbles/STEM.png` in its folder or the folder above; all of them also as WebP, TIFF, JPEG or
/// JSON. Without any, `STEM.json` beside it, if labelme or a tool that writes COCO has made it.
pub fn discover(image: &Path) -> Result<PathBuf> {
    let looked_for = candidates(image);
    let mut found: Vec<(&PathBuf, PathBuf)> = Vec::new();
    let mut unreadable = None;
    let photo = image.canonicalize().ok();
    let others = looked_for.iter().flat_map(|path| ENDINGS.map(|ending| path.with_extension(ending)));
    let names: Vec<PathBuf> = looked_for.iter().cloned().chain(others).collect();
    for candidate in &names {
        match file_at(candidate) {
            // Two spellings of one file are one file, and the photo is not its own strokes.
            Ok(Some(file)) if Some(&file) != photo.as_ref() && found.iter().all(|(_, known)| *known != file) => {
                found.push((candidate, file));
            }
            Ok(_) => {}
            Err(source) => unreadable = unreadable.or(Some(Error::Unreadable { path: candidate.clone(), source })),
        }
    }
    let image = image.to_path_buf();
    match found[..] {
        [(only, _)] => Ok(only.clone()),
        [(first, _), (second, _), ..] => {
            Err(Error::SeveralFiles { what: "stroke", image, first: first.clone(), second: second.clone() })
        }
        // Strokes that the system keeps from us are not strokes that are missing.
        [] if unreadable.is_none() && annotation::is_file(&image.with_extension("json")) => {
            Ok(image.with_extension("json"))
        }
        [] => Err(unreadable.unwrap_or(Error::NoStrokes { image, looked_for })),
    }
}

/// The file of that name by its canonical path, if there is one; an error if the system will not say.
fn file_at(path: &Path) -> std::io::Result<Option<PathBuf>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match path.metadata() {
        Ok(file) if file.is_file() => path.canonicalize().map(Some),
        Ok(_) => Ok(None),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn candidates(image: &Path) -> Vec<PathBuf> {
    let stem = image.file_stem().unwrap_or_default();
    let named = |suffix: &str| {
        let mut name = OsString::from(stem);
        name.push(suffix);
        name
    };
    let folder = image.parent().unwrap_or(Path::new(""));
    let above = match folder.file_name() {
        Some(_) => folder.parent().unwrap_or(Path::new("")).to_path_buf(),
        None => folder.join(".."),
    };
    let mut paths: Vec<PathBuf> = MARKS.iter().map(|mark| folder.join(named(&format!("{mark}.png")))).collect();
    paths.extend([folder, &above].map(|base| base.join("scribbles").join(named(".png"))));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the given files, some in subfolders.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        folder
    }

    #[test]
    fn each_documented_name_is_found() {
        for name in [
            "images/cat.scribbles.png",
            "images/cat_scribbles.png",
            "images/cat-scribbles.png",
            "images/cat.scribble.png",
            "images/cat_scribble.png",
            "images/scribbles/cat.png",
            "scribbles/cat.png",
        ] {
            let folder = folder(&["images/cat.jpg", name]);
            let found = discover(&folder.path().join("images/cat.jpg")).unwrap();
            assert_eq!(found, folder.path().join(name));
        }
    }

    #[test]
    fn two_candidates_are_both_named() {
        let folder = folder(&["images/cat.jpg", "images/cat_scribble.png", "scribbles/cat.png"]);
        let message = discover(&folder.path().join("images/cat.jpg")).unwrap_err().to_string();
        assert!(message.contains("images/cat_scribble.png") && message.contains("scribbles/cat.png"), "{message}");
    }

    #[test]
    fn with_none_the_message_lists_the_names_and_the_remedy() {
        let folder = folder(&["a b.c.png", "scribbles.png"]);
        let message = discover(&folder.path().join("a b.c.png")).unwrap_err().to_string();
        for part in ["a b.c.scribbles.png", "a b.c-scribbles.png", "scribbles/a b.c.png", "red", "blue"] {
            assert!(message.contains(part), "{part} in {message}");
        }
    }

    #[test]
    fn a_photo_in_a_folder_called_scribbles_is_not_its_own_strokes() {
        let folder = folder(&["scribbles/cat.png"]);
        assert!(matches!(discover(&folder.path().join("scribbles/cat.png")), Err(Error::NoStrokes { .. })));
    }

    #[test]
    fn bare_names_look_in_the_current_folder_and_the_one_above() {
        let paths = candidates(Path::new("cat.png"));
        assert_eq!(paths[0], Path::new("cat.scribbles.png"));
        assert_eq!(paths[5..], [PathBuf::from("scribbles/cat.png"), PathBuf::from("../scribbles/cat.png")]);
        assert_eq!(candidates(Path::new("images/cat.png"))[6], Path::new("scribbles/cat.png"));
        assert_eq!(candidates(Path::new("../cat.png"))[6], Path::new("../../scribbles/cat.png"));
    }

    #[cfg(unix)]
    #[test]
    fn strokes_that_cannot_be_reached_are_not_taken_for_missing() {
        let folder = folder(&["cat.png"]);
        let strokes = folder.path().join("cat.scribbles.png");
        std::os::unix::fs::symlink(&strokes, &strokes).unwrap();
        let photo = folder.path().join("cat.png");
        assert!(matches!(discover(&photo), Err(Error::Unreadable { path, .. }) if path == strokes));
        // Others that can be reached will do.
        std::fs::write(folder.path().join("cat_scribbles.png"), b"").unwrap();
        assert_eq!(discover(&photo).unwrap(), folder.path().join("cat_scribbles.png"));
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_unicode() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let path = |bytes: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(bytes));
        std::fs::write(path(b"caf\xe9.png"), b"").unwrap();
        std::fs::write(path(b"caf\xe9.scribbles.png"), b"").unwrap();
        assert_eq!(discover(&path(b"caf\xe9.png")).unwrap(), path(b"caf\xe9.scribbles.png"));
    }
}
