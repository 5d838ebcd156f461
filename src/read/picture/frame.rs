//! Files with several pictures: animations and multi-page files. The first picture is taken, and the user is told so.

use std::path::Path;

use image::ImageFormat;

use super::chunk;
use super::directory::Tiff;

/// The pictures of a file that has more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    count: usize,
    name: &'static str,
}

impl Frames {
    pub(super) fn of(format: ImageFormat, bytes: &[u8]) -> Option<Self> {
        let (count, name) = match format {
            ImageFormat::Png => (png_frames(bytes), "frames"),
            ImageFormat::WebP => (webp_frames(bytes), "frames"),
            ImageFormat::Tiff => (Tiff::new(bytes).map_or(1, |tiff| tiff.pages()), "pages"),
            _ => (1, ""),
        };
        (count > 1).then_some(Self { count, name })
    }

    /// A sentence for the user.
    pub(crate) fn note(&self, path: &Path) -> String {
        format!("{}: it holds {} {}; the first was taken", path.display(), self.count, self.name)
    }
}

/// What the animation control chunk of a PNG says.
fn png_frames(bytes: &[u8]) -> usize {
    let payload = chunk::payload(bytes, *b"acTL");
    payload.and_then(|payload| payload.first_chunk()).map_or(1, |&count| u32::from_be_bytes(count) as usize)
}

/// The frame chunks of a WebP, whose chunks are known to end inside it.
fn webp_frames(bytes: &[u8]) -> usize {
    let (mut at, mut count) = (12, 0);
    while let Some(&[kind @ .., a, b, c, d]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        count += usize::from(kind == *b"ANMF");
        at = at.saturating_add(8 + size + size % 2);
    }
    count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_and_a_single_picture_says_nothing() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_animated(3, 0).unwrap();
        let mut writer = encoder.write_header().unwrap();
        (0..3).for_each(|_| writer.write_image_data(&[7, 9]).unwrap());
        writer.finish().unwrap();
        let frames = Frames::of(ImageFormat::Png, &bytes).unwrap();
        assert_eq!(frames.note(Path::new("a.png")), "a.png: it holds 3 frames; the first was taken");

        let webp = |n: usize| {
            let mut bytes = b"RIFF....WEBP".to_vec();
            bytes.extend(b"VP8X\x03\0\0\0...\0");
            (0..n).for_each(|_| bytes.extend(b"ANMF\x02\0\0\0.."));
            bytes
        };
        assert_eq!(Frames::of(ImageFormat::WebP, &webp(5)).unwrap().count, 5);
        for n in [0, 1] {
            assert_eq!(Frames::of(ImageFormat::WebP, &webp(n)), None);
        }
        assert_eq!(Frames::of(ImageFormat::Jpeg, b"anything"), None);
    }

    #[test]
    fn the_first_page_of_a_tiff_is_the_picture() {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let mut encoder = tiff::encoder::TiffEncoder::new(&mut bytes).unwrap();
        for level in [10, 200] {
            encoder.write_image::<tiff::encoder::colortype::Gray8>(2, 1, &[level; 2]).unwrap();
        }
        let bytes = bytes.into_inner();
        let loaded = super::super::decode_memory(Path::new("a.tif"), &bytes, &crate::Limits::default(), None).unwrap();
        assert_eq!(loaded.frames.unwrap().note(Path::new("a.tif")), "a.tif: it holds 2 pages; the first was taken");
        assert_eq!(loaded.image.as_bytes(), [10, 10]);
    }
}
