//! Any bytes as a stroke file, read as every format; and as a photo, by the same decoders.
#![no_main]

use lfield::grid::Picture;
use lfield::read::{Format, Limits, Strokes};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { max_pixels: 1 << 16 };

fuzz_target!(|bytes: &[u8]| {
    let photo = lfield_fuzz::photo();
    // The name has a say in how grey values are read.
    let name = if bytes.len() % 2 == 0 { "a.scribbles.png" } else { "a.png" };
    let path = lfield_fuzz::file(name, bytes);
    for format in Format::ALL {
        match Strokes::read(&path, &photo, format, &LIMITS) {
            Ok(strokes) => {
                assert_eq!(strokes.seeds.labels().len(), photo.shape().n_pixels());
                assert!(strokes.foreground + strokes.background <= photo.shape().n_pixels());
                assert!(strokes.format != Format::Auto && (format == Format::Auto || strokes.format == format));
            }
            Err(error) => assert!(error.to_string().contains(name), "{error}"),
        }
    }
    match Picture::read(&path, &LIMITS) {
        Ok(picture) => assert!(picture.value.rgb().len() as u64 <= LIMITS.max_pixels),
        Err(error) => assert!(error.to_string().contains(name), "{error}"),
    }
});
