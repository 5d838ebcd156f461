//! Which files below a folder are photos to be segmented.
//!
//! A file counts by its ending, since a folder may hold anything. What lies beside photos for their sake does not:
//! strokes, truths, and this program's own outputs, told by name; folders of such files, told by theirs; hidden files. The order is
//! that of names, folder by folder, so that it is the same on every machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::{DirEntry, WalkDir};

use crate::dataset::pair::EXTENSIONS;
use crate::read::MARKS;
use crate::read::picture::has_foreign_ending;
use crate::store::files::FileId;
use crate::{Error, Result};

/// What is wanted of a folder.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only photos that match one of these, if there are any.
    pub include: Vec<Pattern>,
    /// No photos or folders that match one of these.
    pub exclude: Vec<Pattern>,
}

/// A glob over paths below the folder: `*` stays within a name, `**` crosses folders. Without a slash it is about the last name.
#[derive(Clone, Debug)]
pub struct Pattern(Glob);

impl std::str::FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let anywhere = if text.contains('/') { text.to_string() } else { format!("**/{text}") };
        match GlobBuilder::new(&anywhere).literal_separator(true).build() {
            Ok(glob) => Ok(Self(glob)),
            Err(error) => Err(Error::parameter(
                "the pattern",
                format!("{text:?}"),
                format!("a glob such as '*.jpg' or 'night/**' ({})", error.kind()),
            )),
        }
    }
}

/// What the search came upon.
pub(super) enum Found {
    /// A photo, by its path below the folder.
    Photo(PathBuf),
    /// A file whose ending is that of a photo in a format that is not read.
    Foreign(PathBuf),
    /// Something that could not be looked at, by the same path, and why.
    Closed(PathBuf, Error),
}

/// The photos below `root` in a fixed order. The folders `aside` are passed over, unless they are `root` itself.
pub(super) fn photos(root: &Path, selection: &Selection, aside: &[&Path]) -> Result<(Vec<Found>, usize)> {
    std::fs::read_dir(root).map_err(Error::unreadable(root))?;
    let (include, exclude) = (set(&selection.include), set(&selection.exclude));
    let here = FileId::of(root);
    let aside: Vec<FileId> =
        aside.iter().filter_map(|path| FileId::of(path)).filter(|id| Some(id) != here.as_ref()).collect();

    let below = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let enter = |entry: &DirEntry| {
        entry.depth() == 0
            || !(is_hidden(entry.file_name())
                || exclude.is_match(below(entry.path()))
                || entry.file_type().is_dir()
                    && (is_sidecar_folder(entry.file_name())
                        || FileId::of(entry.path()).is_some_and(|id| aside.contains(&id))))
    };
    let mut found = Vec::new();
    let mut n_sidecars = 0;
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter().filter_entry(enter) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let path = below(entry.path());
                let is_wanted = include.is_empty() || include.is_match(&path);
                if has_photo_ending(entry.path()) {
                    if is_sidecar(entry.path()) {
                        n_sidecars += 1;
                    } else if is_wanted {
                        found.push(Found::Photo(path));
                    }
                } else if has_foreign_ending(entry.path()) && is_wanted {
                    found.push(Found::Foreign(path));
                }
            }
            Ok(_) => {}
            // A link back to a folder above: what is there is being looked at already.
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                let name = below(&path);
                // A dead link that is no photo is nobody's business.
                if has_photo_ending(&path) || path.is_dir() {
                    let source = error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
                    found.push(Found::Closed(name, Error::Unreadable { path, source }));
                }
            }
        }
    }
    Ok((found, n_sidecars))
}

/// The photos below `root` that can be looked at, by their paths below it, in a fixed order; without those in the folder `aside`.
pub fn photos_below(root: &Path, aside: &Path) -> Result<Vec<PathBuf>> {
    let (found, _) = photos(root, &Selection::default(), &[aside])?;
    let photo = |found| match found {
        Found::Photo(path) => Some(path),
        Found::Foreign(_) | Found::Closed(..) => None,
    };
    Ok(found.into_iter().filter_map(photo).collect())
}

fn set(patterns: &[Pattern]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for Pattern(glob) in patterns {
        builder.add(glob.clone());
    }
    builder.build().expect("each of the globs was built before")
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn has_photo_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| EXTENSIONS.contains(&ending.as_str()))
}

/// `scribbles`, `scribbles2`, `masks`, `trimaps`, `truth` and the like.
fn is_sidecar_folder(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '_');
    ["scribble", "scribbles", "mask", "masks", "trimap", "trimaps", "truth", "gt", "groundtruth", "ground_truth"]
        .contains(&name)
}

/// Whether a file is there for the sake of a photo.
fn is_sidecar(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let numbered = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    const ALWAYS: [&str; 8] = [".truth", ".mask", ".heatmap", ".marginals", ".overlay", ".cutout", ".trimap", ".prior"];
    const NUMBERED: [&str; 3] = [".superpixels-", ".outlines-", ".means-"];
    // These are also how people name pictures of masks; beside the photo they are not.
    const BESIDE: [&str; 8] = ["_truth", "-truth", "_mask", "-mask", "_trimap", "-trimap", "_gt", "-gt"];
    MARKS.iter().chain(&ALWAYS).any(|end| stem.ends_with(end))
        || numbered.len() < stem.len() && NUMBERED.iter().any(|end| numbered.ends_with(end))
        || BESIDE.iter().filter_map(|end| stem.strip_suffix(end)).any(|photo| has_photo_beside(path, photo))
}

fn has_photo_beside(path: &Path, stem: &str) -> bool {
    let is_there = |ending: &str| path.with_file_name(format!("{stem}.{ending}")).is_file();
    !stem.is_empty() && EXTENSIONS.iter().any(|ending| is_there(ending) || is_there(&ending.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(files: &[&str], include: &[&str], exclude: &[&str], aside: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let selection = Selection { include: patterns(include), exclude: patterns(exclude) };
        let aside: Vec<PathBuf> = aside.iter().map(|name| folder.path().join(name)).collect();
        let aside: Vec<&Path> = aside.iter().map(PathBuf::as_path).collect();
        let (found, _) = photos(folder.path(), &selection, &aside).unwrap();
        let name = |found| match found {
            Found::Photo(path) => path.to_str().unwrap().replace('\\', "/"),
            Found::Foreign(path) => format!("not read: {}", path.display()),
            Found::Closed(path, error) => panic!("{}: {error}", path.display()),
        };
        found.into_iter().map(name).collect()
    }

    #[test]
    fn what_lies_beside_photos_for_their_sake_is_no_photo() {
        let files = [
            "beetle.png",
            "beetle.scribbles.png",
            "beetle.truth.png",
            "b/cat.JPG",
            "b/cat_scribbles.png",
            "b/cat_mask.png",
            "b/gas_mask.jpg",
            "b/cat.superpixels-2.png",
            "b/cat.report.json",
            "b/cat.mask.png",
            ".hidden.png",
            "scribbles/beetle.png",
            "masks/beetle.png",
            "scribbles2/beetle.png",
            "trimaps/beetle.png",
            "notes.txt",
            "b/.lfield/x.png",
            "deep/er/means-3.tiff",
            "phone.HEIC",
        ];
        assert_eq!(
            search(&files, &[], &[], &[]),
            ["b/cat.JPG", "b/gas_mask.jpg", "beetle.png", "deep/er/means-3.tiff", "not read: phone.HEIC"]
        );
    }

    #[test]
    fn patterns_choose() {
        let files = ["a/1.jpg", "a/2.png", "b/1.jpg", "b/deep/3.jpg", "1.jpg"];
        assert_eq!(search(&files, &["*.jpg"], &[], &[]), ["1.jpg", "a/1.jpg", "b/1.jpg", "b/deep/3.jpg"]);
        assert_eq!(search(&files, &["b/*"], &[], &[]), ["b/1.jpg"]);
        assert_eq!(search(&files, &["b/**"], &[], &[]), ["b/1.jpg", "b/deep/3.jpg"]);
        assert_eq!(search(&files, &[], &["b"], &[]), ["1.jpg", "a/1.jpg", "a/2.png"]);
        assert_eq!(search(&files, &["*.jpg"], &["deep", "a/1.*"], &[]), ["1.jpg", "b/1.jpg"]);
        assert!("a[".parse::<Pattern>().unwrap_err().to_string().contains("a["));
    }

    #[test]
    fn the_output_folder_is_not_searched_unless_it_is_the_folder() {
        let files = ["1.jpg", "out/1.jpg"];
        assert_eq!(search(&files, &[], &[], &["out"]), ["1.jpg"]);
        assert_eq!(search(&files, &[], &[], &["."]), ["1.jpg", "out/1.jpg"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_in_circles_and_dead_ones_are_reported() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/1.jpg"), "x").unwrap();
        symlink("..", folder.path().join("a/up")).unwrap();
        symlink("a/1.jpg", folder.path().join("b.jpg")).unwrap();
        symlink("nowhere", folder.path().join("c.jpg")).unwrap();
        symlink("nowhere", folder.path().join("d.txt")).unwrap();
        let (found, _) = photos(folder.path(), &Selection::default(), &[]).unwrap();
        let names: Vec<(String, bool)> = found
            .into_iter()
            .map(|found| match found {
                Found::Photo(path) | Found::Foreign(path) => (path.display().to_string(), true),
                Found::Closed(path, _) => (path.display().to_string(), false),
            })
            .collect();
        assert_eq!(names, [("a/1.jpg".into(), true), ("b.jpg".into(), true), ("c.jpg".into(), false)]);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let Err(error) = photos(Path::new("no such folder"), &Selection::default(), &[]) else { panic!("found it") };
        assert!(error.to_string().contains("no such folder"), "{error}");
    }
}
