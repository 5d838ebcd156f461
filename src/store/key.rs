//! The cache key: a hash of everything that decides the result of a run.
//!
//! That is the content of every input file, every option, how the names of the stroke file help to read it, and the build of this
//! program. Paths are left out, so a folder may be moved. Options enter as their `Debug` text: a new option is part of the key
//! without anyone having to remember it.

use std::fmt::Debug;
use std::path::Path;

use crate::Result;
use crate::read::{Digest, Input, hints};
use crate::session::{Options, Origin};

/// Which sources this program was built from.
pub const BUILD: &str = env!("LFIELD_BUILD");

/// The cache key of a run that has read its files.
pub fn key(origin: &Origin, options: &Options) -> Digest {
    let strokes = origin.strokes.as_ref().map(|(path, ..)| path.as_path());
    combined(BUILD, &origin.input, options, strokes, &origin.contents)
}

/// The cache key of a run, from the files as they are now. Nothing is decoded. An evaluation runs a photo with more than one set of
/// options, and has one key for all of them.
pub fn key_of_files(input: &Input, options: &dyn Debug) -> Result<Digest> {
    let part = |role, path: &Path| Ok((role, Digest::of_file(path)?));
    let mut contents = vec![part("image", &input.image)?];
    if let Some(evidence) = &input.evidence {
        contents.push(part(evidence.role(), evidence.path())?);
    }
    let strokes = input.stroke_file()?;
    if let Some(path) = &strokes {
        contents.push(part("scribbles", path)?);
    }
    for path in &input.superpixels {
        contents.push(part("superpixels", path)?);
    }
    Ok(combined(BUILD, input, options, strokes.as_deref(), &contents))
}

fn combined(
    build: &str,
    input: &Input,
    options: &dyn Debug,
    strokes: Option<&Path>,
    contents: &[(&str, Digest)],
) -> Digest {
    let contents: Vec<String> = contents.iter().map(|(role, digest)| format!("{role} {digest}")).collect();
    let hints = strokes.map(|path| hints(path, input.scribbles_below.as_deref()));
    let text = format!("{build}\n{options:?}\n{} {hints:?}\n{}", input.format, contents.join("\n"));
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::read::EvidenceFile;

    /// A photo and its strokes, not decodable, since nothing is decoded.
    fn folder() -> (tempfile::TempDir, Input) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cat.jpg"), "photo").unwrap();
        std::fs::write(folder.path().join("cat.scribbles.png"), "strokes").unwrap();
        let input = Input { image: folder.path().join("cat.jpg"), ..Input::default() };
        (folder, input)
    }

    #[test]
    fn every_input_and_option_counts_and_the_place_does_not() {
        let ((here, input), (_there, moved)) = (folder(), folder());
        let options = Options::default();
        let print = |input: &Input, options: &Options| key_of_files(input, options).unwrap();
        let first = print(&input, &options);
        assert_eq!(first, print(&moved, &options));
        let named = Input { scribbles: Some(here.path().join("cat.scribbles.png")), ..input.clone() };
        assert_eq!(first, print(&named, &options));

        let mut other = options.clone();
        other.model.beta += 1e-9;
        assert_ne!(first, print(&input, &other));
        assert_ne!(first, print(&Input { format: crate::read::Format::Labels, ..input.clone() }, &options));
        std::fs::write(here.path().join("cat.scribbles.png"), "strokes!").unwrap();
        let changed = print(&input, &options);
        assert_ne!(first, changed);
        std::fs::write(here.path().join("cat.jpg"), "photo!").unwrap();
        assert_ne!(changed, print(&input, &options));
    }

    #[test]
    fn another_build_has_another_key() {
        let (_folder, input) = folder();
        let options = Options::default();
        let contents = [("image", Digest::of(b"photo"))];
        let of = |build| combined(build, &input, &options, None, &contents);
        assert_eq!(of(BUILD), of(BUILD));
        assert_ne!(of(BUILD), of("another"));
        assert_eq!(BUILD.len(), 32);
    }

    #[test]
    fn strokes_are_needed_unless_there_is_other_evidence() {
        let (folder, mut input) = folder();
        std::fs::remove_file(folder.path().join("cat.scribbles.png")).unwrap();
        assert!(matches!(key_of_files(&input, &Options::default()), Err(Error::NoStrokes { .. })));
        let file = folder.path().join("p.npy");
        std::fs::write(&file, "numbers").unwrap();
        let prints = [EvidenceFile::Unary(file.clone()), EvidenceFile::Prior(file)].map(|evidence| {
            input.evidence = Some(evidence);
            key_of_files(&input, &Options::default()).unwrap()
        });
        assert_ne!(prints[0], prints[1]);
    }
}
