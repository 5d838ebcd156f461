//! What a photo's file says beside its pixels: the ICC profile and how large a pixel is.
//!
//! Profiles are handed on, never applied. A PNG holds its profile compressed and it stays so; a profile for another kind of colours than RGB
//! would be wrong for the colours that leave this program, and is left out.

use image::ImageFormat;

use super::chunk;
use super::directory::{Tiff, per_metre_of};
use crate::grid::Profile;

/// The profile of a PNG, still compressed; `bytes` are those of the file before profiles are taken out.
pub(super) fn packed_profile(bytes: &[u8]) -> Option<Profile> {
    /// IHDR says colours (2), a palette of them (3) or colours with opacity (6); greys have profiles of their own kind.
    const COLOUR_TYPE: usize = 25;
    let is_colour = matches!(bytes.get(COLOUR_TYPE), Some(2 | 3 | 6));
    chunk::payload(bytes, *b"iCCP")
        .filter(|packed| is_colour && packed.len() <= MOST)
        .map(|packed| Profile::Packed(packed.to_vec()))
}

/// The profile of a TIFF, whose decoder does not find it.
pub(super) fn tiff_profile(bytes: &[u8]) -> Option<Profile> {
    plain_profile(Tiff::new(bytes)?.bytes(34675).map(<[u8]>::to_vec))
}

/// A profile as other formats store it.
pub(super) fn plain_profile(profile: Option<Vec<u8>>) -> Option<Profile> {
    let is_rgb = |profile: &Vec<u8>| profile.get(16..20) == Some(b"RGB ") && profile.len() <= MOST;
    profile.filter(is_rgb).map(Profile::Plain)
}

/// The largest profile that is handed on; usual ones have a few kilobytes.
const MOST: usize = 4 << 20;

/// Pixels per metre, across and down, as stored.
pub(super) fn density(format: ImageFormat, bytes: &[u8]) -> Option<[u32; 2]> {
    match format {
        ImageFormat::Png => {
            let &[a, b, c, d, e, f, g, h, unit] = chunk::payload(bytes, *b"pHYs")?.first_chunk::<9>()?;
            let sides = [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes);
            (unit == 1 && sides.iter().all(|&side| side > 0)).then_some(sides)
        }
        ImageFormat::Tiff => Tiff::new(bytes)?.density(),
        ImageFormat::Jpeg => jpeg_density(bytes),
        _ => None,
    }
}

/// What the JFIF segment says, or else the EXIF block.
fn jpeg_density(bytes: &[u8]) -> Option<[u32; 2]> {
    let (mut at, mut of_exif) = (2, None);
    while let Some(&[0xff, marker @ 0xe0..=0xef, high, low]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>())
    {
        let end = at + 2 + usize::from(u16::from_be_bytes([high, low]));
        let content = bytes.get(at + 4..end)?;
        if marker == 0xe0
            && let Some(&[b'J', b'F', b'I', b'F', 0, _, _, unit, x0, x1, y0, y1]) = content.first_chunk::<12>()
        {
            let per_metre = match unit {
                1 => 1.0 / 0.0254,
                2 => 100.0,
                _ => 0.0,
            };
            let side = |high, low| per_metre_of(f64::from(u16::from_be_bytes([high, low])) * per_metre);
            if let (Some(across), Some(down)) = (side(x0, x1), side(y0, y1)) {
                return Some([across, down]);
            }
        }
        if marker == 0xe1 {
            of_exif = of_exif.or(content.strip_prefix(b"Exif\0\0").and_then(Tiff::new).and_then(|tiff| tiff.density()));
        }
        at = end;
    }
    of_exif
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jpeg_says_it_in_its_jfif_segment() {
        let image = image::RgbImage::new(4, 3);
        for (density, expected) in [
            (image::codecs::jpeg::PixelDensity::dpi(300), Some([11811, 11811])),
            (
                image::codecs::jpeg::PixelDensity {
                    density: (10, 20),
                    unit: image::codecs::jpeg::PixelDensityUnit::Centimeters,
                },
                Some([1000, 2000]),
            ),
            (
                image::codecs::jpeg::PixelDensity {
                    density: (1, 1),
                    unit: image::codecs::jpeg::PixelDensityUnit::PixelAspectRatio,
                },
                None,
            ),
        ] {
            let mut bytes = Vec::new();
            let mut encoder = image::codecs::jpeg::JpegEncoder::new(&mut bytes);
            encoder.set_pixel_density(density);
            encoder.encode_image(&image).unwrap();
            assert_eq!(super::density(ImageFormat::Jpeg, &bytes), expected);
            for length in 0..bytes.len().min(40) {
                let _ = super::density(ImageFormat::Jpeg, &bytes[..length]);
            }
        }
    }

    #[test]
    fn only_profiles_of_rgb_colours_are_handed_on() {
        let profile = |space: &[u8; 4]| [&[0; 16][..], space, &[0; 108]].concat();
        assert!(plain_profile(Some(profile(b"RGB "))).is_some());
        for other in [Some(profile(b"GRAY")), Some(profile(b"CMYK")), Some(vec![1, 2, 3]), None] {
            assert_eq!(plain_profile(other), None);
        }
    }
}
