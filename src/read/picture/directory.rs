//! The directories of a TIFF, which a JPEG's EXIF block is as well: how many pages there are, and how large a pixel is.
//!
//! Offsets come from strangers: each is looked up inside the bytes or not at all, and a chain of directories ends after 10,000.

/// The bytes of a TIFF, or of an EXIF block.
pub(super) struct Tiff<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

const MOST_PAGES: usize = 10_000;
const SUBFILE: u16 = 254;

impl<'a> Tiff<'a> {
    /// Nothing for what does not begin like a classic TIFF.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let is_big_endian = match bytes.get(..4)? {
            b"II*\0" => false,
            b"MM\0*" => true,
            _ => return None,
        };
        Some(Self { bytes, is_big_endian })
    }

    /// Pages that are no smaller copies of another.
    pub(super) fn pages(&self) -> usize {
        let is_page = |directory: &usize| self.value(*directory, SUBFILE).is_none_or(|kind| kind & 1 == 0);
        self.directories().iter().filter(|directory| is_page(directory)).count()
    }

    /// Pixels per metre across and down, of the first page.
    pub(super) fn density(&self) -> Option<[u32; 2]> {
        let first = *self.directories().first()?;
        let per_metre = match self.value(first, 296) {
            None | Some(2) => 1.0 / 0.0254,
            Some(3) => 100.0,
            _ => return None,
        };
        let side = |tag| {
            let (_, place) = self.entry(first, tag)?;
            let at = self.long(place + 8)? as usize;
            let (top, bottom) = (self.long(at)?, self.long(at + 4)?);
            per_metre_of(f64::from(top) / f64::from(bottom) * per_metre)
        };
        Some([side(282)?, side(283)?])
    }

    /// The content of an entry of single bytes that lies elsewhere in the file.
    pub(super) fn bytes(&self, tag: u16) -> Option<&'a [u8]> {
        let first = *self.directories().first()?;
        let (kind, place) = self.entry(first, tag)?;
        let (count, at) = (self.long(place + 4)? as usize, self.long(place + 8)? as usize);
        if matches!(kind, 1 | 7) && count > 4 { self.bytes.get(at..at.checked_add(count)?) } else { None }
    }

    /// Where the directories begin.
    fn directories(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut next = self.long(4);
        while let Some(at) = next.map(|at| at as usize).filter(|&at| at > 0 && found.len() < MOST_PAGES) {
            let Some(n_entries) = self.short(at) else { break };
            found.push(at);
            next = self.long(at + 2 + 12 * usize::from(n_entries));
        }
        found
    }

    /// The kind of an entry of a directory, and where it begins.
    fn entry(&self, directory: usize, tag: u16) -> Option<(u16, usize)> {
        let n_entries = usize::from(self.short(directory)?);
        let mut places = (0..n_entries).map(|i| directory + 2 + 12 * i);
        let place = places.find(|&place| self.short(place) == Some(tag))?;
        Some((self.short(place + 2)?, place))
    }

    /// A whole number that fits into its entry.
    fn value(&self, directory: usize, tag: u16) -> Option<u32> {
        match self.entry(directory, tag)? {
            (3, place) => self.short(place + 8).map(u32::from),
            (4, place) => self.long(place + 8),
            _ => None,
        }
    }

    fn short(&self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

/// A sensible density, in whole pixels.
pub(super) fn per_metre_of(density: f64) -> Option<u32> {
    (1.0..1e8).contains(&density).then(|| density.round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories one behind the other, each with the entries (tag, kind, value); values behind the last are appended.
    fn made_of(pages: &[&[(u16, u16, u32)]], behind: &[u32]) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        for (i, entries) in pages.iter().enumerate() {
            bytes.extend((entries.len() as u16).to_le_bytes());
            for &(tag, kind, value) in *entries {
                bytes.extend(tag.to_le_bytes());
                bytes.extend(kind.to_le_bytes());
                bytes.extend(1_u32.to_le_bytes());
                bytes.extend(value.to_le_bytes());
            }
            let next = if i + 1 < pages.len() { bytes.len() as u32 + 4 } else { 0 };
            bytes.extend(next.to_le_bytes());
        }
        behind.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    }

    #[test]
    fn pages_are_counted_and_smaller_copies_are_not() {
        let (page, copy): (&[_], &[_]) = (&[(256, 4, 10)], &[(SUBFILE, 4, 1)]);
        assert_eq!(Tiff::new(&made_of(&[page], &[])).unwrap().pages(), 1);
        assert_eq!(Tiff::new(&made_of(&[page, copy, page], &[])).unwrap().pages(), 2);
        let mut circle = made_of(&[page], &[]);
        let end = circle.len();
        circle[end - 4] = 8;
        assert_eq!(Tiff::new(&circle).unwrap().pages(), MOST_PAGES);
        assert!(Tiff::new(b"\x89PNG").is_none());
    }

    #[test]
    fn the_size_of_a_pixel_is_read_or_left_out() {
        let entries: &[_] = &[(282, 5, 50), (283, 5, 58), (296, 3, 2)];
        let bytes = made_of(&[entries], &[300, 1, 600, 2]);
        assert_eq!(bytes.len(), 66);
        assert_eq!(Tiff::new(&bytes).unwrap().density(), Some([11811, 11811]));
        for length in 0..bytes.len() {
            assert_eq!(Tiff::new(&bytes[..length]).and_then(|tiff| tiff.density()), None);
        }
        assert_eq!(Tiff::new(&made_of(&[entries], &[300, 0, 600, 2])).unwrap().density(), None);
    }
}
