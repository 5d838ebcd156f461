//! Is a JPEG complete?
//!
//! Decoders fill the missing part of a cut JPEG with grey and report success. A complete file has an end-of-image
//! marker, but looking for its two bytes is not enough: an embedded thumbnail has one too, and cameras append data after
//! the real one. So walk the segments: headers by their length, compressed scans up to the next true marker.

/// Whether the marker structure of `bytes` reaches the end-of-image marker.
pub(super) fn is_complete(bytes: &[u8]) -> bool {
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
        assert!(is_complete(&bytes));
        for length in 2..bytes.len() {
            assert!(!is_complete(&bytes[..length]), "cut to {length} of {} bytes", bytes.len());
        }
        bytes.extend([0xff, 0x00, 7, 7, 7]);
        assert!(is_complete(&bytes));
    }

    #[test]
    fn the_end_of_a_thumbnail_is_not_the_end_of_the_photo() {
        let (photo, thumbnail) = (jpeg(40, 30), jpeg(8, 8));
        let mut segment = vec![0xff, 0xe1];
        segment.extend(u16::try_from(thumbnail.len() + 2).unwrap().to_be_bytes());
        segment.extend(&thumbnail);
        let bytes = [&photo[..2], &segment, &photo[2..]].concat();
        assert!(is_complete(&bytes));
        assert!(!is_complete(&bytes[..bytes.len() - 2]));
    }
}
