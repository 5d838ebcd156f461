//! Whether a run would only repeat an earlier one: a name for everything that decides its result.
//!
//! That is the content of every input file, every option, how the stroke file's name helps to read it, and the version of this
//! program. Paths are left out, so a folder may be moved. Options enter as their `Debug` text: a new option is part of the name
//! without anyone having to remember it.

use std::path::Path;

use crate::Result;
use crate::encode::report::Tool;
use crate::read::{Digest, hints};
use crate::session::{EvidenceFile, Input, Options, Segmentation};

/// What a file was read as, and its content.
pub(crate) type Part = (&'static str, Digest);

impl Input {
    /// The fingerprint of a run, from the files as they are now. Nothing is decoded.
    pub fn fingerprint(&self, options: &Options) -> Result<Digest> {
        let part = |role, path: &Path| Ok((role, Digest::of_file(path)?));
        let mut parts = vec![part("image", &self.image)?];
        if let Some(evidence) = &self.evidence {
            parts.push(part(evidence.role(), evidence.path())?);
        }
        let strokes = self.stroke_file()?;
        if let Some(path) = &strokes {
            parts.push(part("scribbles", path)?);
        }
        for path in &self.superpixels {
            parts.push(part("superpixels", path)?);
        }
        Ok(combined(self, options, strokes.as_deref(), &parts))
    }
}

impl Segmentation {
    /// The fingerprint of this run, from the files as they were read.
    pub fn fingerprint(&self, input: &Input, options: &Options) -> Digest {
        combined(input, options, self.scene.stroke_file(), &self.scene.parts)
    }
}

impl EvidenceFile {
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

fn combined(input: &Input, options: &Options, strokes: Option<&Path>, parts: &[Part]) -> Digest {
    let parts: Vec<String> = parts.iter().map(|(role, digest)| format!("{role} {digest}")).collect();
    let text =
        format!("{}\n{options:?}\n{} {:?}\n{}", Tool::THIS.version, input.format, strokes.map(hints), parts.join("\n"));
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

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
        let print = |input: &Input, options: &Options| input.fingerprint(options).unwrap();
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
    fn strokes_are_needed_unless_there_is_other_evidence() {
        let (folder, mut input) = folder();
        std::fs::remove_file(folder.path().join("cat.scribbles.png")).unwrap();
        assert!(matches!(input.fingerprint(&Options::default()), Err(Error::NoStrokes { .. })));
        let file = folder.path().join("p.npy");
        std::fs::write(&file, "numbers").unwrap();
        let prints = [EvidenceFile::Unary(file.clone()), EvidenceFile::Prior(file)].map(|evidence| {
            input.evidence = Some(evidence);
            input.fingerprint(&Options::default()).unwrap()
        });
        assert_ne!(prints[0], prints[1]);
    }
}
