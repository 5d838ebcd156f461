//! Image bytes → [`Picture`].
//!
//! Whatever the file held (grey, 16-bit, palette, alpha, CMYK), the rest of the program sees 8-bit RGB, row by row, with EXIF
//! orientation already applied. A pixel that is not opaque is laid over white, as most viewers show it: what
//! lies under full transparency is invisible to the person who drew the strokes, so it must not move the result. Colour
//! profiles are not applied: colours only enter through differences and mixtures fitted to the photo itself.

mod chunk;
mod complete;
mod decode;

use std::path::Path;

use image::DynamicImage;

pub(crate) use decode::{
    Decoded, claimed_shape, decode, decode_bytes, decode_memory, fits, format_of, orient, oriented,
};

use crate::grid::Picture;
use crate::read::{Limits, Loaded, Source};
use crate::{Error, Result};

impl Picture {
    /// Reads a PNG, JPEG, BMP, TIFF, WebP or PNM photo, told apart by content.
    pub fn read(path: &Path, limits: &Limits) -> Result<Loaded<Self>> {
        Self::of_image(path, decode(Source::open(path)?, limits, None)?)
    }

    /// The same from memory.
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let name = Path::new("the photo");
        Ok(Self::of_image(name, decode_memory(name, bytes, limits, None)?)?.value)
    }

    fn of_image(path: &Path, decoded: Decoded) -> Result<Loaded<Self>> {
        let Decoded { image, shape, digest, .. } = decoded;
        let mut warnings = Vec::new();
        let rgb = if image.color().has_alpha() {
            let (rgb, n_translucent) = over_white(&in_range(path, image)?.into_rgba8());
            if n_translucent > 0 {
                warnings.push(format!(
                    "{}: {n_translucent} pixels are not opaque; they were laid over white",
                    path.display()
                ));
            }
            rgb
        } else {
            in_range(path, image)?.into_rgb8().as_raw().as_chunks::<3>().0.to_vec()
        };
        Ok(Loaded { value: Self::new(shape, rgb), warnings, digest })
    }
}

/// Refuses floating-point colours outside [0, 1], which the conversion to 8 bits would clip.
fn in_range(path: &Path, image: DynamicImage) -> Result<DynamicImage> {
    let inside = |samples: &[f32]| samples.iter().all(|sample| (0.0..=1.0).contains(sample));
    let good = match &image {
        DynamicImage::ImageRgb32F(image) => inside(image.as_raw()),
        DynamicImage::ImageRgba32F(image) => inside(image.as_raw()),
        _ => true,
    };
    if good {
        return Ok(image);
    }
    Err(Error::unsuitable(
        path,
        "holds floating-point colours outside 0 to 1",
        "tone-map it and save an 8-bit or 16-bit PNG",
    ))
}

/// The colours over white, and how many pixels were not opaque.
fn over_white(image: &image::RgbaImage) -> (Vec<[u8; 3]>, usize) {
    let pixels = image.as_raw().as_chunks::<4>().0;
    let blend = |colour: u8, alpha: u8| {
        let (colour, alpha) = (u32::from(colour), u32::from(alpha));
        ((colour * alpha + 255 * (255 - alpha) + 127) / 255) as u8
    };
    let rgb = pixels.iter().map(|&[r, g, b, a]| [blend(r, a), blend(g, a), blend(b, a)]).collect();
    (rgb, pixels.iter().filter(|pixel| pixel[3] < 255).count())
}

#[cfg(test)]
mod tests;
