//! Formats that are not read here: what they are called, and how to export them.
//!
//! Most are told by their first bytes. Raw files of many cameras begin like a TIFF and hold a thumbnail where a TIFF has its picture, so
//! there the ending decides.

use std::path::Path;

/// What a file of a format that is not read here is, and what to do with it.
pub(super) fn named(path: &Path, head: &[u8]) -> Option<String> {
    let at = |place: usize, magic: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(magic));
    let contains = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    let is_media = at(4, b"ftyp");
    let is_tiff = at(0, b"II*\0") || at(0, b"MM\0*");
    let (name, export) = if is_media && (contains(b"avif") || contains(b"avis")) {
        ("an AVIF image", "convert it, as in `avifdec photo.avif photo.png`")
    } else if is_media && at(8, b"crx ")
        || is_tiff && (at(8, b"CR") || has_ending(path, &RAW))
        || [&b"FUJIFILMCCD-RAW"[..], b"IIRO", b"IIRS", b"MMOR", b"IIU\0", b"FOVb"].iter().any(|magic| at(0, magic))
    {
        (
            "a camera's raw file",
            "develop it and export a TIFF or JPEG (darktable, RawTherapee or the camera maker's program)",
        )
    } else if is_media && [&b"hei"[..], b"hev", b"mif1", b"msf1"].iter().any(|brand| at(8, brand)) {
        ("a HEIC photo", "export it as JPEG or PNG, or convert it, as in `heif-convert photo.heic photo.jpg`")
    } else if at(0, b"GIF8") {
        ("a GIF file", "export the frame you want as PNG, as in `magick photo.gif[0] photo.png`")
    } else if at(0, b"\xff\x0a") || at(4, b"JXL ") {
        ("a JPEG XL image", "convert it, as in `djxl photo.jxl photo.png`")
    } else if at(0, b"8BPS") || at(0, b"gimp xcf") || at(0, b"PK\x03\x04") && contains(b"image/") {
        ("a file of an image editor", "export it as PNG from there")
    } else if at(0, b"%PDF") {
        ("a PDF document", "export the page as PNG")
    } else {
        return None;
    };
    Some(format!("{name}, which is not read here; {export}"))
}

/// Endings of raw files.
const RAW: [&str; 24] = [
    "3fr", "arw", "cr2", "cr3", "dcr", "dng", "erf", "iiq", "kdc", "mef", "mos", "nef", "nrw", "orf", "pef", "raf",
    "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f", "fff",
];

/// Endings of photos in other formats that are not read.
const OTHERS: [&str; 7] = ["heic", "heif", "hif", "avif", "gif", "jxl", "jp2"];

/// Whether a name is that of a photo in a format that is not read here; the content may say otherwise.
pub(crate) fn has_foreign_ending(path: &Path) -> bool {
    has_ending(path, &RAW) || has_ending(path, &OTHERS)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_called_by_its_name_with_a_way_out() {
        for (name, head, what) in [
            ("a.heic", &b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"[..], "HEIC"),
            ("a.jpg", b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "HEIC"),
            ("a.avif", b"\0\0\0\x18ftypavif\0\0\0\0avifmif1", "AVIF"),
            ("a.avif", b"\0\0\0\x18ftypmif1\0\0\0\0avifmif1", "AVIF"),
            ("a.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01", "raw file"),
            ("a.cr2", b"II*\0\x10\0\0\0CR\x02\0", "raw file"),
            ("a.NEF", b"MM\0*\0\0\0\x08", "raw file"),
            ("a.dng", b"II*\0\x08\0\0\0", "raw file"),
            ("a.raf", b"FUJIFILMCCD-RAW 0201", "raw file"),
            ("a.gif", b"GIF89a\x01\0\x01\0", "GIF"),
            ("a.jxl", b"\xff\x0a\x00", "JPEG XL"),
            ("a.psd", b"8BPS\0\x01", "editor"),
            ("a.kra", b"PK\x03\x04mimetypeapplication/x-kritaimage/", "editor"),
        ] {
            let found = named(Path::new(name), head).unwrap_or_else(|| panic!("{name}"));
            assert!(found.contains(what), "{found}");
            assert!(["export", "convert"].iter().any(|way| found.contains(way)), "{found}");
        }
        assert_eq!(named(Path::new("a.tif"), b"II*\0\x08\0\0\0"), None);
        assert_eq!(named(Path::new("a.png"), b"\x89PNG\r\n\x1a\n"), None);
        assert!(has_foreign_ending(Path::new("b/a.HEIC")) && !has_foreign_ending(Path::new("heic")));
    }
}
