//! PNG encoding: one setting for every picture.
//!
//! Fast compression, because these files are written once per run and mostly looked at once: on a 640×427 heatmap it takes a
//! twentieth of the default's time for a file a sixth larger. Rows are predicted adaptively, which suits flat masks and smooth
//! probabilities alike.

use png::{BitDepth, ColorType, Compression, Encoder, Info, PixelDimensions, Unit};

use crate::grid::{Original, Profile, Shape};

/// Encodes 8-bit samples.
pub(super) fn encode8(shape: Shape, color: ColorType, samples: &[u8]) -> Vec<u8> {
    encode(shape, color, BitDepth::Eight, samples)
}

/// Encodes 16-bit grey samples.
pub(super) fn encode16(shape: Shape, samples: impl Iterator<Item = u16>) -> Vec<u8> {
    let bytes: Vec<u8> = samples.flat_map(u16::to_be_bytes).collect();
    encode(shape, ColorType::Grayscale, BitDepth::Sixteen, &bytes)
}

fn encode(shape: Shape, color: ColorType, depth: BitDepth, bytes: &[u8]) -> Vec<u8> {
    encode_like(&Original::default(), shape, color, depth, bytes)
}

/// Encodes samples with the colour profile and the size of a pixel that the photo has.
pub(super) fn encode_like(
    original: &Original,
    shape: Shape,
    color: ColorType,
    depth: BitDepth,
    bytes: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut info = Info::with_size(shape.width as u32, shape.height as u32);
    (info.color_type, info.bit_depth) = (color, depth);
    info.pixel_dims = original.density.map(|[xppu, yppu]| PixelDimensions { xppu, yppu, unit: Unit::Meter });
    if let Some(Profile::Plain(profile)) = &original.profile {
        info.icc_profile = Some(profile.into());
    }
    let mut encoder = Encoder::with_info(&mut file, info).expect("no animation");
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().expect("a decoded photo has a size that PNG can hold");
    if let Some(Profile::Packed(chunk)) = &original.profile {
        writer.write_chunk(png::chunk::iCCP, chunk).expect("written to memory");
    }
    writer.write_image_data(bytes).expect("one sample per channel and pixel, written to memory");
    writer.finish().expect("written to memory");
    file
}
