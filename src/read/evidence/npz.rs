//! NumPy's `.npz` files: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The archive is held in memory, within the limits of an image. Of the array no more is unpacked than one of the photo's size can hold, so a
//! small archive cannot fill the memory: what is longer does not have the photo's shape, which the header says before the values.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::grid::Shape;
use crate::read::{Digest, Limits, Source};
use crate::{Error, Result};

/// The array that is meant where there are several.
const NAME: &str = "prior";

/// Room for the header of an array.
const HEADER: u64 = 1 << 16;

/// Bytes of the widest pixel: two classes in 64 bits.
const PIXEL: u64 = 16;

/// Whether a file that begins like this is a ZIP archive.
pub(super) fn is_npz(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// The only array of an archive, or the one called [`NAME`], as the file it would be alone; and the digest of the archive.
pub(super) fn open(source: &mut Source, photo: Shape, limits: &Limits) -> Result<(Source, Digest)> {
    let path = source.path().to_path_buf();
    let damaged = |error: ZipError| Error::Damaged { path: path.clone(), problem: error.to_string() };
    let bytes = source.image_bytes(limits)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let names: Vec<String> =
        archive.file_names().map(|name| name.map(Into::into)).collect::<Result<_, ZipError>>().map_err(damaged)?;
    let name = chosen(&path, &names)?;
    let mut array = Vec::new();
    let most = (photo.n_pixels() as u64).saturating_mul(PIXEL).saturating_add(HEADER);
    let entry = archive.by_name(&name).map_err(damaged)?;
    entry.take(most).read_to_end(&mut array).map_err(|error| damaged(error.into()))?;
    Ok((Source::of_bytes(&path, array), source.digest()))
}

/// The entry to read.
fn chosen(path: &Path, names: &[String]) -> Result<String> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).filter(|name| name.ends_with(".npy")).collect();
    names.sort_unstable();
    let wanted = format!("{NAME}.npy");
    match names[..] {
        [] => Err(Error::unsuitable(
            path,
            "is an archive without arrays",
            "write it with numpy.savez, or give an .npy file",
        )),
        [only] => Ok(only.to_string()),
        _ if names.contains(&wanted.as_str()) => Ok(wanted),
        _ => {
            let known: Vec<&str> = names.iter().take(8).map(|name| name.trim_end_matches(".npy")).collect();
            let problem = format!("holds {} arrays ({}), and none is called {NAME}", names.len(), known.join(", "));
            Err(Error::unsuitable(
                path,
                problem,
                "save the probabilities alone, for example with numpy.savez(file, prior=p)",
            ))
        }
    }
}
