//! Is a file complete? Two formats whose decoders do not ask.
//!
//! JPEG decoders fill the missing part of a cut file with grey and report success. A complete file has an end-of-image
//! marker, but looking for its two bytes is not enough: an embedded thumbnail has one too, and cameras append data after
//! the real one. So walk the segments: headers by their length, compressed scans up to the next true marker.
//!
//! The WebP decoder makes room for whatever length a chunk claims, before it finds out that the file is shorter.

use image::ImageFormat;

/// What is missing from the end of a file that begins as this format, if that can be told without decoding.
pub(super) fn missing_end(format: ImageFormat, bytes: &[u8]) -> Option<&'static str> {
    match format {
        ImageFormat::Jpeg if !jpeg_is_complete(bytes) => {
            Some("it ends before its end-of-image marker, so part of the picture is missing")
        }
        ImageFormat::WebP if !webp_is_complete(bytes) => Some("it ends inside one of its chunks"),
        _ => None,
    }
}

/// Whether the marker structure of `bytes` reaches the end-of-image marker.
fn jpeg_is_complete(bytes: &[u8]) -> bool {
    let mut at = 2; // behind the start-of-image marker
    while let Some(marker) = next_marker(bytes, &mut at) {
        match marker {
            END_OF_IMAGE => return true,
            // Markers without a segment: stuffed bytes and restarts inside a scan, and TEM.
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            _ => match bytes.get(at..at + 2) {
                Some(&[high, low]) => at += usize::from(u16::from_be_bytes([high, low])).max(2),
                _ => return false,
            },
        }
    }
    false
}

const END_OF_IMAGE: u8 = 0xd9;

/// The next byte behind one or more 0xff, and moves `at` behind it.
fn next_marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    *at += bytes.get(*at..)?.iter().position(|&byte| byte == 0xff)?;
    *at += bytes[*at..].iter().position(|&byte| byte != 0xff)?;
    *at += 1;
    Some(bytes[*at - 1])
}

/// Whether every chunk of a RIFF file ends inside it.
fn webp_is_complete(bytes: &[u8]) -> bool {
    let mut at = 12; // behind the RIFF header
    while let Some(&[a, b, c, d]) = bytes.get(at + 4..at + 8) {
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        at += 8;
        if size > bytes.len() - at {
            return false;
        }
        at = (at + size + size % 2).min(bytes.len());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(width: u32, height: u32) -> Vec<u8> {
        let image =
            image::RgbImage::from_fn(width, height, |x, y| image::Rgb([(x * 37) as u8, (y * 91) as u8, (x * y) as u8]));
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn every_cut_is_seen_and_trailing_bytes_are_not_minded() {
        let mut bytes = jpeg(23, 17);
        assert!(jpeg_is_complete(&bytes));
        for length in 2..bytes.len() {
            assert!(!jpeg_is_complete(&bytes[..length]), "cut to {length} of {} bytes", bytes.len());
        }
        bytes.extend([0xff, 0x00, 7, 7, 7]);
        assert!(jpeg_is_complete(&bytes));
    }

    #[test]
    fn the_end_of_a_thumbnail_is_not_the_end_of_the_photo() {
        let (photo, thumbnail) = (jpeg(40, 30), jpeg(8, 8));
        let mut segment = vec![0xff, 0xe1];
        segment.extend(u16::try_from(thumbnail.len() + 2).unwrap().to_be_bytes());
        segment.extend(&thumbnail);
        let bytes = [&photo[..2], &segment, &photo[2..]].concat();
        assert!(jpeg_is_complete(&bytes));
        assert!(!jpeg_is_complete(&bytes[..bytes.len() - 2]));
    }

    #[test]
    fn a_chunk_that_claims_more_than_the_file_holds_is_seen() {
        let image = image::RgbImage::from_pixel(3, 3, image::Rgb([1, 2, 3]));
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::WebP).unwrap();
        let mut bytes = bytes.into_inner();
        assert_eq!(missing_end(ImageFormat::WebP, &bytes), None);
        bytes.extend(b"EXIF\xf0\xff\xff\xff....");
        assert!(missing_end(ImageFormat::WebP, &bytes).is_some());
    }
}
