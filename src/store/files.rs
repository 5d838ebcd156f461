//! Putting finished bytes in place: all of them or none, and never on top of an input.
//!
//! Every file is first written under a temporary name in the folder it belongs in, side by side; only when all are complete
//! are they renamed, so a full disk or an interrupt leaves the old files as they were. Complete means on the disk: some systems accept bytes
//! and refuse them later, and a name may outlive a power cut that its bytes do not. The file added last (the report) is put
//! in place last and its old version removed first: where it stands, the files beside it belong to it. Inputs are recognised by canonical path
//! and, on Unix, by device and inode, so that neither a symbolic nor a hard link leads to one.

use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::NamedTempFile;

use crate::read::Digest;
use crate::{Error, Result};

/// A finished file, still in memory.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Name of the file in the output folder.
    pub name: OsString,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Files that are complete on disk under temporary names. Dropped without [`Staged::commit`], they vanish.
#[derive(Debug)]
pub struct Staged {
    folder: PathBuf,
    files: Vec<(NamedTempFile, PathBuf)>,
}

impl Staged {
    /// Makes the folder when it is missing.
    pub fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|source| Error::OutputFolder { path: folder.to_path_buf(), source })?;
        Ok(Self { folder: folder.to_path_buf(), files: Vec::new() })
    }

    /// Writes the bytes under temporary names, in parallel.
    pub fn add(&mut self, rendered: &[Rendered]) -> Result<()> {
        let stage = |file: &Rendered| {
            let target = self.folder.join(&file.name);
            let refuse = |source| Error::Write { path: target.clone(), source };
            if target.is_dir() {
                return Err(refuse(std::io::ErrorKind::IsADirectory.into()));
            }
            let mut temporary = temporary_in(&self.folder, &part_prefix(&file.name)).map_err(refuse)?;
            temporary.write_all(&file.bytes).map_err(refuse)?;
            Ok((temporary, target))
        };
        let staged: Vec<_> = rendered.par_iter().map(stage).collect::<Result<_>>()?;
        self.files.extend(staged);
        Ok(())
    }

    /// Lets `write` produce a file of any length under a temporary name.
    pub fn add_written(
        &mut self,
        name: OsString,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<()> {
        let target = self.folder.join(&name);
        let refuse = |source| Error::Write { path: target.clone(), source };
        let temporary = temporary_in(&self.folder, &part_prefix(&name)).map_err(refuse)?;
        let mut writer = BufWriter::new(temporary);
        write(&mut writer).map_err(refuse)?;
        let temporary = writer.into_inner().map_err(|error| refuse(error.into_error()))?;
        self.files.push((temporary, target));
        Ok(())
    }

    /// Whether the file of that name already holds what the `i`-th file added here says.
    pub fn is_unchanged(&self, i: usize) -> Result<bool> {
        let (temporary, target) = &self.files[i];
        Ok(target.is_file() && Digest::of_file(temporary.path())? == Digest::of_file(target)?)
    }

    /// Gives every file its name; returns the paths in the order in which they were added.
    pub fn commit(self) -> Result<Vec<PathBuf>> {
        let rename = |(temporary, target): (NamedTempFile, PathBuf)| match temporary.persist(&target) {
            Ok(_) => Ok(target),
            Err(failure) => Err(Error::Write { path: target, source: failure.error }),
        };
        // Nothing gets its name before everything is on the disk.
        let sync = |(temporary, target): &(NamedTempFile, PathBuf)| {
            temporary.as_file().sync_data().map_err(|source| Error::Write { path: target.clone(), source })
        };
        self.files.par_iter().try_for_each(sync)?;
        if let [_, .., (_, seal)] = &self.files[..] {
            // What cannot be removed cannot be replaced either, and the renaming will say so.
            let _ = std::fs::remove_file(seal);
        }
        self.files.into_iter().map(rename).collect()
    }
}

/// Refuses a folder that cannot be made or written to, without making it: tries the nearest one that exists, with a file
/// that has no name where the system knows such, so that not even a kill leaves a trace.
pub fn probe(folder: &Path) -> Result<()> {
    match tempfile::tempfile_in(nearest(folder)) {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::OutputFolder { path: folder.to_path_buf(), source }),
    }
}

/// The folder itself or the first above it that exists.
fn nearest(folder: &Path) -> &Path {
    folder.ancestors().map(or_here).find(|ancestor| ancestor.exists()).unwrap_or(Path::new("."))
}

/// The last ancestor of a relative path is the empty one, which means here.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Removes what a run that was killed left behind in a folder of its temporary files for `names`. Nobody else may be writing
/// these names; other names are left alone.
pub fn sweep_leftovers(folder: &Path, names: &[OsString]) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let prefixes: Vec<String> = names.iter().map(|name| part_prefix(name)).collect();
    let is_left_over =
        |name: &str| name.ends_with(PART_SUFFIX) && prefixes.iter().any(|prefix| name.starts_with(prefix));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.file_name().and_then(OsStr::to_str).is_some_and(is_left_over)
            && let Err(source) = std::fs::remove_file(&path)
            && source.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::Write { path, source });
        }
    }
    Ok(())
}

const PART_SUFFIX: &str = ".part";

/// A temporary name tells whose it is, in a fixed number of letters.
fn part_prefix(name: &OsStr) -> String {
    format!(".lfield-{}-", &Digest::of(name.as_encoded_bytes()).to_string()[..16])
}

/// Refuses output names that are one of the inputs, under whatever name, or longer than the file system allows. To be asked before
/// the work begins.
pub fn refuse_overwriting(folder: &Path, names: &[OsString], inputs: &[&Path]) -> Result<()> {
    for name in names {
        let output = folder.join(name);
        if let Err(source) = nearest(folder).join(name).symlink_metadata()
            && source.kind() == std::io::ErrorKind::InvalidFilename
        {
            return Err(Error::OutputName { path: output, source });
        }
        if let Some(input) = inputs.iter().find(|input| same_file(&output, input)) {
            return Err(Error::WouldOverwrite { output, input: input.to_path_buf() });
        }
    }
    Ok(())
}

/// A new file with the permissions that the user's umask gives to new files (tempfile's own default is 0600).
fn temporary_in(folder: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(PART_SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((FileId::of(a), FileId::of(b)), (Some(a), Some(b)) if a == b)
}

/// What a file that exists is, whatever it is called. The handles of the crate `same-file` would keep every file of a batch open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileId {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

impl FileId {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            std::fs::metadata(path).ok().map(|file| Self::Inode(file.dev(), file.ino()))
        }
        #[cfg(not(unix))]
        {
            path.canonicalize().ok().map(Self::Path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(name: &str, text: &str) -> Rendered {
        Rendered { name: name.into(), bytes: text.into() }
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_appear_together_and_only_on_commit() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/deep");
        let mut staged = Staged::new(&out).unwrap();
        staged.add(&[rendered("a", "one"), rendered("b", "two")]).unwrap();
        assert!(!out.join("a").exists() && !out.join("b").exists());
        assert_eq!(staged.commit().unwrap(), [out.join("a"), out.join("b")]);
        assert_eq!(names_in(&out), ["a", "b"]);
        assert_eq!(std::fs::read_to_string(out.join("b")).unwrap(), "two");
    }

    #[test]
    fn what_is_not_committed_leaves_no_trace_and_the_old_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "old").unwrap();
        let mut staged = Staged::new(folder.path()).unwrap();
        staged.add(&[rendered("a", "new")]).unwrap();
        drop(staged);
        assert_eq!(names_in(folder.path()), ["a"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), "old");
    }

    #[test]
    fn a_folder_in_the_way_of_one_file_stops_all_of_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let mut staged = Staged::new(folder.path()).unwrap();
        let error = staged.add(&[rendered("a", "one"), rendered("b", "two")]).unwrap_err();
        assert!(error.to_string().contains("b"), "{error}");
        drop(staged);
        assert_eq!(names_in(folder.path()), ["b"]);
    }

    #[test]
    fn a_folder_is_probed_without_being_made() {
        let folder = tempfile::tempdir().unwrap();
        probe(&folder.path().join("a/b/c")).unwrap();
        assert!(names_in(folder.path()).is_empty());
        std::fs::write(folder.path().join("file"), "").unwrap();
        for taken in ["file", "file/below"] {
            let error = probe(&folder.path().join(taken)).unwrap_err();
            assert!(error.to_string().contains(taken), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn written_files_obey_the_umask_and_not_tempfile() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let mut staged = Staged::new(folder.path()).unwrap();
        staged.add(&[rendered("a", "one")]).unwrap();
        staged.commit().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&folder.path().join("a")), mode(&plain));
    }

    #[test]
    fn leftovers_are_swept_by_the_name_they_were_meant_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut mine = Staged::new(folder.path()).unwrap();
        mine.add(&[rendered("cat.mask.png", "half")]).unwrap();
        let mut theirs = Staged::new(folder.path()).unwrap();
        theirs.add(&[rendered("dog.mask.png", "half")]).unwrap();
        std::fs::write(folder.path().join("cat.mask.png.part"), "no business of ours").unwrap();
        sweep_leftovers(folder.path(), &["cat.mask.png".into(), "cat.report.json".into()]).unwrap();
        assert!(mine.commit().is_err());
        theirs.commit().unwrap();
        assert_eq!(names_in(folder.path()), ["cat.mask.png.part", "dog.mask.png"]);
        sweep_leftovers(&folder.path().join("missing"), &[]).unwrap();
    }

    #[test]
    fn the_old_report_goes_before_anything_comes() {
        let folder = tempfile::tempdir().unwrap();
        let put = |names: [&str; 2], text: &str| {
            let mut staged = Staged::new(folder.path()).unwrap();
            staged.add(&names.map(|name| rendered(name, text))).unwrap();
            staged
        };
        put(["mask", "report"], "old").commit().unwrap();
        let staged = put(["mask", "report"], "new");
        // The first rename fails: a folder has come in its way.
        std::fs::remove_file(folder.path().join("mask")).unwrap();
        std::fs::create_dir(folder.path().join("mask")).unwrap();
        assert!(staged.commit().is_err());
        assert_eq!(names_in(folder.path()), ["mask"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_input_is_recognised_through_any_link() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("input.png");
        std::fs::write(&input, "photo").unwrap();
        std::fs::hard_link(&input, folder.path().join("hard.png")).unwrap();
        std::os::unix::fs::symlink(&input, folder.path().join("soft.png")).unwrap();
        std::fs::write(folder.path().join("other.png"), "photo").unwrap();
        for name in ["input.png", "hard.png", "soft.png"] {
            assert!(refuse_overwriting(folder.path(), &[name.into()], &[&input]).is_err(), "{name}");
        }
        for name in ["other.png", "missing.png"] {
            assert!(refuse_overwriting(folder.path(), &[name.into()], &[&input]).is_ok(), "{name}");
        }
    }
}
