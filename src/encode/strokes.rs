//! `STEM.scribbles.png`: strokes as grey labels, with a text key that says so.

use png::{BitDepth, ColorType, Compression, Encoder};

use crate::grid::{Seed, Seeds};
use crate::read::Format;

/// The key under which a stroke file names its encoding.
const KEY: &str = "lfield";

/// Grey 255 where a stroke says foreground, 128 for background, 0 elsewhere; the text key `lfield` says `labels`, so that no name is
/// needed to read it.
pub fn strokes(seeds: &Seeds) -> Vec<u8> {
    let grey = |seed: &Seed| match seed {
        Seed::Foreground => 255,
        Seed::Background => 128,
        Seed::Unlabelled => 0,
    };
    let shape = seeds.shape();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, shape.width as u32, shape.height as u32);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.add_text_chunk(KEY.into(), Format::Labels.name().into()).expect("a short Latin key and text");
    let mut writer = encoder.write_header().expect("a decoded photo has a size that PNG can hold");
    let samples: Vec<u8> = seeds.labels().iter().map(grey).collect();
    writer.write_image_data(&samples).expect("one sample per pixel, written to memory");
    writer.finish().expect("written to memory");
    file
}

/// Whether bytes are a stroke file that [`strokes`] could have written, by its head.
pub fn is_own_strokes(bytes: &[u8]) -> bool {
    let Ok(reader) = png::Decoder::new(std::io::Cursor::new(bytes)).read_info() else { return false };
    let texts = &reader.info().uncompressed_latin1_text;
    texts.iter().any(|chunk| chunk.keyword == KEY && chunk.text == Format::Labels.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Picture, Shape};
    use crate::read::Limits;

    #[test]
    fn strokes_read_back_without_a_name_to_go_by() {
        let shape = Shape::new(3, 2);
        let labels = [0, 1, 2, 2, 0, 0].map(|i| [Seed::Unlabelled, Seed::Background, Seed::Foreground][i]);
        let seeds = Seeds::new(shape, labels.to_vec());
        let file = strokes(&seeds);
        let photo = Picture::new(shape, vec![[7; 3]; 6]);
        assert_eq!(Seeds::decode(&file, Format::Auto, &photo, &Limits::default()).unwrap(), seeds);
        assert!(is_own_strokes(&file));
        assert!(!is_own_strokes(&crate::encode::mask(&crate::grid::Mask::new(shape, vec![true; 6]))));
        assert!(!is_own_strokes(b"no picture") && !is_own_strokes(&file[..20]));
    }
}
