//! Which photos: a folder with `images/`, `scribbles/` and `masks/`, or a manifest.
//!
//! A [manifest](crate::dataset::manifest) names `image`, `scribbles` and `truth` of every photo, relative to its own folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::dataset::manifest::{self, Row};
use crate::dataset::pair::{STROKES, TRUTH, partner};
use crate::read::{Format, Input};
use crate::{Error, Result};

/// A photo to be judged: three files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the photo is called in tables: the stem of its file.
    pub name: String,
    /// The photo.
    pub image: PathBuf,
    /// Its strokes.
    pub scribbles: PathBuf,
    /// The right mask.
    pub truth: PathBuf,
}

impl Case {
    /// The cases of a folder or of a manifest, by name. Folders given for strokes and truth take the place of `scribbles/` and `masks/`.
    pub fn all(source: &Path, scribbles: Option<&Path>, truth: Option<&Path>) -> Result<Vec<Self>> {
        let cases = if source.is_dir() {
            let folder = |given: Option<&Path>, name| given.map_or_else(|| source.join(name), Path::to_path_buf);
            Self::of_folder(source, &folder(scribbles, "scribbles"), &folder(truth, "masks"))?
        } else {
            Self::of_manifest(source)?
        };
        let mut by_name: BTreeMap<&str, &Case> = BTreeMap::new();
        for case in &cases {
            if let Some(other) = by_name.insert(&case.name, case) {
                return Err(Error::unsuitable(
                    &case.image,
                    format!("has the same name as {}", other.image.display()),
                    "results are listed by name without extension, so rename one of the two",
                ));
            }
        }
        Ok(cases)
    }

    /// The photo and its strokes, to be read in this format.
    pub(super) fn input(&self, format: Format) -> Input {
        Input { image: self.image.clone(), scribbles: Some(self.scribbles.clone()), format, ..Input::default() }
    }

    fn of_folder(source: &Path, scribbles: &Path, truth: &Path) -> Result<Vec<Self>> {
        let images = source.join("images");
        let mut cases = Vec::new();
        for image in files(&images)? {
            let name = stem(&image);
            // What is missing is asked for under the name it should have, when the photo is read.
            let pair = |folder: &Path, kind| -> Result<PathBuf> {
                let found = partner(folder, Path::new(image.file_name().unwrap_or_default()), &image, kind)?;
                Ok(found.unwrap_or_else(|| folder.join(format!("{name}.png"))))
            };
            let (scribbles, truth) = (pair(scribbles, &STROKES)?, pair(truth, &TRUTH)?);
            cases.push(Self { scribbles, truth, name, image });
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    fn of_manifest(path: &Path) -> Result<Vec<Self>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let case = |Row { line, image, scribbles, truth, options, .. }: Row| {
            let refuse =
                |problem: String, remedy: &str| Error::unsuitable(path, format!("{problem} in line {line}"), remedy);
            if let Some((name, _)) = options.iter().next() {
                let remedy = "photos are compared under the same options, so give those on the command line";
                return Err(refuse(format!("sets {name}"), remedy));
            }
            let file = |name: Option<String>, column: &str| match name {
                Some(name) => Ok(folder.join(name)),
                None => {
                    Err(refuse(format!("names no {column}"), "the columns image, scribbles and truth are all needed"))
                }
            };
            let image = folder.join(image);
            let (scribbles, truth) = (file(scribbles, "scribbles")?, file(truth, "truth")?);
            Ok(Self { name: stem(&image), image, scribbles, truth })
        };
        manifest::read(path)?.into_iter().map(case).collect()
    }
}

/// The files of a folder that are not hidden.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |source| Error::Unreadable { path: folder.to_path_buf(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            files.push(path);
        }
    }
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(folder: &Path, name: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn a_folder_is_read_by_name_and_hidden_files_are_not_photos() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["images/b.jpg", "images/a.png", "images/.DS_Store"] {
            touch(folder.path(), name);
        }
        let cases = Case::all(folder.path(), None, Some(Path::new("elsewhere"))).unwrap();
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(cases[1].scribbles, folder.path().join("scribbles/b.png"));
        assert_eq!(cases[1].truth, Path::new("elsewhere/b.png"));
        touch(folder.path(), "images/a.jpg");
        let message = Case::all(folder.path(), None, None).unwrap_err().to_string();
        assert!(message.contains("same name") && message.contains("rename"), "{message}");
    }

    #[test]
    fn a_manifest_names_files_beside_it_in_columns_of_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, "truth,image,scribbles\nt.png,x/a.jpg,\"s, 1.png\"\n\n").unwrap();
        let cases = Case::all(&path, None, None).unwrap();
        let at = |name: &str| folder.path().join(name);
        let case = Case { name: "a".into(), image: at("x/a.jpg"), scribbles: at("s, 1.png"), truth: at("t.png") };
        assert_eq!(cases, [case]);
        for (text, says) in [
            ("image,truth\na.jpg,t.png\n", "no scribbles in line 2"),
            ("image,scribbles,truth\na,b\n", "list.csv"),
            ("image,scribbles,truth,beta\na,b,c,3\n", "sets beta in line 2"),
        ] {
            std::fs::write(&path, text).unwrap();
            let message = Case::all(&path, None, None).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("list.csv"), "{message}");
        }
    }
}
