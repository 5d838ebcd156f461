//! Image bytes → [`Picture`].
//!
//! Whatever the file held (grey, 16-bit, palette, alpha, CMYK), the rest of the program sees 8-bit RGB, row by row, with EXIF
//! orientation already applied. A pixel that is not opaque is laid over white, as most viewers show it: what
//! lies under full transparency is invisible to the person who drew the strokes, so it must not move the result. Colour
//! profiles are not applied: colours only enter through differences and mixtures fitted to the photo itself. Depth, opacity and profile
//! are kept beside it for cut-outs ([`Original`]).

mod chunk;
mod complete;
mod decode;
mod directory;
mod foreign;
mod frame;
mod metadata;

use std::path::Path;

use image::DynamicImage;

pub(crate) use decode::{
    Decoded, claimed_shape, decode, decode_bytes, decode_memory, fits, format_of, orient, oriented,
};
pub(crate) use foreign::has_foreign_ending;
pub(crate) use frame::Frames;

use crate::grid::{Original, Picture};
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
        let Decoded { image, shape, digest, frames, profile, density, .. } = decoded;
        let is_deep = image.color().bytes_per_pixel() > image.color().channel_count();
        let profile = profile.filter(|_| image.color().has_color());
        let image = in_range(path, image)?;
        let deep = is_deep.then(|| image.to_rgba16());
        let mut warnings: Vec<String> = frames.iter().map(|frames| frames.note(path)).collect();
        let (rgb, kept) = if image.color().has_alpha() {
            let image = image.into_rgba8();
            let (rgb, n_translucent) = over_white(&image);
            if n_translucent > 0 {
                warnings.push(format!(
                    "{}: {n_translucent} pixels are not opaque; they were laid over white",
                    path.display()
                ));
            }
            let widened = || DynamicImage::from(image).into_rgba16();
            (rgb, deep.or_else(|| (n_translucent > 0).then(widened)))
        } else {
            (image.into_rgb8().as_raw().as_chunks::<3>().0.to_vec(), deep)
        };
        let rgba = kept.map(|image| image.as_raw().as_chunks::<4>().0.to_vec());
        let value = Self::new(shape, rgb).with_original(Original { rgba, is_deep, profile, density });
        Ok(Loaded { value, warnings, digest })
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
