use std::path::PathBuf;

use image::ExtendedColorType::{L8, L16, La8, Rgb8, Rgba8};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::grid::{Picture, Shape, Truth};
use crate::read::Limits;

const F: Seed = Seed::Foreground;
const B: Seed = Seed::Background;
const U: Seed = Seed::Unlabelled;

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255, 255, 255];

/// A one-row stroke file called `name` in a fresh folder, which lives as long as this.
struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        // The folder's own name must not give a hint by chance.
        let folder = tempfile::Builder::new().prefix("x").rand_bytes(4).tempdir().unwrap();
        let path = folder.path().join("plain").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        Self { _folder: folder, path }
    }

    fn row(name: &str, colour: ExtendedColorType, samples: &[u8]) -> Self {
        let mut bytes = Vec::new();
        let width = samples.len() as u32 * 8 / u32::from(colour.bits_per_pixel());
        PngEncoder::new(&mut bytes).write_image(samples, width, 1, colour).unwrap();
        Self::new(name, &bytes)
    }

    fn grey(name: &str, values: &[u8]) -> Self {
        Self::row(name, L8, values)
    }

    fn rgb(name: &str, colours: &[[u8; 3]]) -> Self {
        Self::row(name, Rgb8, colours.as_flattened())
    }

    /// An indexed PNG of 8 bits per index.
    fn indexed(palette: &[[u8; 3]], indices: &[u8]) -> Self {
        Self::new(
            "x.png",
            &png_with(png::ColorType::Indexed, indices, |encoder| encoder.set_palette(palette.as_flattened().to_vec())),
        )
    }

    fn read(&self, photo: &[[u8; 3]], format: Format) -> Result<Strokes> {
        let photo = Picture::new(Shape::new(photo.len(), 1), photo.to_vec());
        Strokes::read(&self.path, &photo, format, &Limits::default())
    }

    /// Reads with a photo that has nothing in common with the strokes.
    fn seeds(&self, n_pixels: usize, format: Format) -> Result<(Format, Vec<Seed>)> {
        let strokes = self.read(&vec![[90, 120, 60]; n_pixels], format)?;
        Ok((strokes.format, strokes.seeds.labels().to_vec()))
    }
}

fn png_with(colour: png::ColorType, row: &[u8], set: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, row.len() as u32, 1);
    encoder.set_color(colour);
    set(&mut encoder);
    encoder.write_header().unwrap().write_image_data(row).unwrap();
    bytes
}

#[test]
fn each_grey_encoding_when_named() {
    let cases = [
        (Format::Labels, vec![0, 128, 255], vec![U, B, F]),
        (Format::Trimap, vec![0, 128, 255, 7], vec![B, U, F, U]),
        (Format::Grabcut, vec![0, 1, 2, 3], vec![B, F, U, U]),
        (Format::Palette, vec![0, 1, 2, 255], vec![U, F, B, U]),
    ];
    for (format, values, expected) in cases {
        let file = File::grey("x.png", &values);
        assert_eq!(file.seeds(values.len(), format).unwrap(), (format, expected));
    }
}

#[test]
fn counts_and_the_reason_come_with_the_seeds() {
    let strokes = File::grey("x.scribbles.png", &[0, 128, 255, 128]).read(&[WHITE; 4], Format::Auto).unwrap();
    assert_eq!((strokes.foreground, strokes.background, strokes.format), (1, 2, Format::Labels));
    assert!(strokes.reason.unwrap().contains("scribble"));
    assert!(strokes.warnings.is_empty());
}

#[test]
fn names_and_folders_decide_between_labels_and_trimap() {
    let values = [0, 128, 255];
    for (name, expected) in [
        ("cat_Scribbles.png", Some(Format::Labels)),
        ("scribbles2/cat.png", Some(Format::Labels)),
        ("cat.trimap.png", Some(Format::Trimap)),
        ("TRIMAPS/cat.png", Some(Format::Trimap)),
        ("scribbles/cat_trimap.png", None),
        ("scribbles/deeper/cat.png", None),
        ("cat.png", None),
    ] {
        let found = File::grey(name, &values).seeds(3, Format::Auto).ok().map(|(format, _)| format);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn auto_refuses_what_has_two_readings_and_lists_the_values() {
    for values in [&[0, 1, 2][..], &[0, 64, 128, 255], &[0, 255], &[0, 128, 255], &[0, 1], &[3, 4]] {
        let error = File::grey("cat.png", values).seeds(values.len(), Format::Auto).unwrap_err();
        assert!(matches!(error, Error::AmbiguousStrokes { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("cat.png"), "{message}");
        for value in values {
            assert!(message.contains(&format!("{value} (1 px)")), "{value} in {message}");
        }
    }
    // A name does not make these any clearer.
    for values in [&[0, 1, 2][..], &[0, 64, 128, 255], &[0, 255]] {
        let file = File::grey("scribbles/cat.png", values);
        assert!(matches!(file.seeds(values.len(), Format::Auto), Err(Error::AmbiguousStrokes { .. })), "{values:?}");
    }
}

#[test]
fn auto_knows_grabcut_by_its_three() {
    assert_eq!(File::grey("x.png", &[0, 1, 2, 3]).seeds(4, Format::Auto).unwrap(), (Format::Grabcut, vec![B, F, U, U]));
}

type AddText = fn(&mut png::Encoder<'_, &mut Vec<u8>>, &str);

#[test]
fn a_text_in_the_png_speaks_first() {
    let texts: [AddText; 3] = [
        |encoder, text| encoder.add_text_chunk("lfield".into(), text.into()).unwrap(),
        |encoder, text| encoder.add_ztxt_chunk("lfield".into(), text.into()).unwrap(),
        |encoder, text| encoder.add_itxt_chunk("lfield".into(), text.into()).unwrap(),
    ];
    for add in texts {
        let bytes = png_with(png::ColorType::Grayscale, &[0, 128, 255], |encoder| add(encoder, "labels"));
        let file = File::new("trimap.png", &bytes);
        assert_eq!(file.seeds(3, Format::Auto).unwrap(), (Format::Labels, vec![U, B, F]));
    }
    let bytes = png_with(png::ColorType::Grayscale, &[0, 128, 255], |encoder| texts[0](encoder, "nonsense"));
    let strokes = File::new("scribbles.png", &bytes).read(&[WHITE; 3], Format::Auto).unwrap();
    assert!(strokes.warnings[0].contains("nonsense"), "{:?}", strokes.warnings);
}

#[test]
fn red_and_blue_on_paper() {
    for paper in [WHITE, [0; 3], [77; 3]] {
        let file = File::rgb("x.png", &[paper, RED, BLUE, [230, 20, 60]]);
        assert_eq!(file.seeds(4, Format::Auto).unwrap(), (Format::Redblue, vec![U, F, B, F]));
    }
    let file = File::row("x.png", Rgba8, &[255, 0, 0, 255, 0, 0, 255, 128, 255, 0, 0, 127, 0, 0, 255, 0, 9, 200, 9, 0]);
    assert_eq!(file.seeds(5, Format::Auto).unwrap(), (Format::Redblue, vec![F, B, U, U, U]));
    for colours in [[WHITE, RED, BLUE, [0, 255, 0]], [WHITE, RED, BLUE, [0; 3]], [WHITE, WHITE, [0, 255, 0], WHITE]] {
        let file = File::rgb("x.png", &colours);
        let error = file.seeds(4, Format::Auto).unwrap_err().to_string();
        assert!(error.contains("#ffffff"), "{error}");
        assert!(file.seeds(4, Format::Redblue).is_ok(), "asked for, other colours are simply no strokes");
    }
}

#[test]
fn a_painted_copy_of_the_photo() {
    let photo = [[200, 10, 10], [10, 10, 200], [80, 90, 100], [70, 90, 100], [60, 90, 100], [1, 2, 3]];
    let mut copy = photo;
    copy[2] = RED;
    copy[3] = BLUE;
    copy[5] = [5, 0, 8]; // another program's rounding
    let strokes = File::rgb("x.png", &copy).read(&photo, Format::Auto).unwrap();
    assert_eq!((strokes.format, strokes.seeds.labels()), (Format::Diff, &[U, U, F, B, U, U][..]));
    assert!(matches!(
        File::rgb("x.png", &copy).read(&[[128, 255, 128]; 6], Format::Diff),
        Err(Error::StrokeEncoding { .. })
    ));
}

#[test]
fn indexed_pngs_are_read_by_index_unless_their_colours_say_otherwise() {
    let green_and_gold = File::indexed(&[[0; 3], [0, 128, 0], [200, 160, 0]], &[0, 1, 2, 2]);
    assert_eq!(green_and_gold.seeds(4, Format::Auto).unwrap(), (Format::Palette, vec![U, F, B, B]));
    let agreeing = File::indexed(&[[0; 3], RED, BLUE], &[0, 1, 2]);
    assert_eq!(agreeing.seeds(3, Format::Auto).unwrap(), (Format::Redblue, vec![U, F, B]));
    let swapped = File::indexed(&[[0; 3], BLUE, RED], &[0, 1, 2]);
    assert!(matches!(swapped.seeds(3, Format::Auto), Err(Error::AmbiguousStrokes { .. })));
    assert_eq!(swapped.seeds(3, Format::Palette).unwrap().1, [U, F, B]);
    assert_eq!(swapped.seeds(3, Format::Redblue).unwrap().1, [U, B, F]);
    let optimised = File::indexed(&[[255; 3], [128; 3], [0; 3]], &[0, 1, 2]);
    assert_eq!(optimised.seeds(3, Format::Labels).unwrap().1, [F, B, U]);
    assert!(matches!(
        File::indexed(&[[0; 3]; 9], &[0, 7]).seeds(2, Format::Palette),
        Err(Error::StrokeEncoding { .. })
    ));
}

#[test]
fn packed_indices_are_unpacked() {
    for (depth, packed) in
        [(png::BitDepth::Two, vec![0b00_01_10_01, 0b10_00_00_00]), (png::BitDepth::Four, vec![0x01, 0x21, 0x20])]
    {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 5, 1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(depth);
        encoder.set_palette([[0; 3], [0, 128, 0], [200, 160, 0]].as_flattened().to_vec());
        encoder.write_header().unwrap().write_image_data(&packed).unwrap();
        let found = File::new("x.png", &bytes).seeds(5, Format::Palette).unwrap();
        assert_eq!(found.1, [U, F, B, F, B], "{depth:?}");
    }
}

#[test]
fn sixteen_bit_grey_is_read_stretched_or_plain() {
    for scale in [257_u16, 1] {
        let samples: Vec<u8> = [0, 128, 255].into_iter().flat_map(|value: u16| (value * scale).to_ne_bytes()).collect();
        assert_eq!(File::row("x.png", L16, &samples).seeds(3, Format::Labels).unwrap().1, [U, B, F], "scale {scale}");
    }
}

#[test]
fn transparent_grey_is_no_stroke_and_not_guessed() {
    let file = File::row("scribbles.png", La8, &[255, 255, 128, 255, 255, 0]);
    assert_eq!(file.seeds(3, Format::Labels).unwrap().1, [F, B, U]);
    assert!(matches!(file.seeds(3, Format::Auto), Err(Error::AmbiguousStrokes { .. })));
}

#[test]
fn values_outside_the_named_encoding_are_listed() {
    for (format, values) in
        [(Format::Labels, [0, 128, 254]), (Format::Grabcut, [0, 1, 4]), (Format::Palette, [0, 1, 3])]
    {
        let message = File::grey("x.png", &values).seeds(3, format).unwrap_err().to_string();
        assert!(message.contains(&format!("{} (1 px)", values[2])) && message.contains(format.name()), "{message}");
    }
    let colours = File::rgb("x.png", &[RED, BLUE]);
    for format in [Format::Labels, Format::Trimap, Format::Grabcut, Format::Palette] {
        assert!(matches!(colours.seeds(2, format), Err(Error::StrokeEncoding { .. })), "{format}");
    }
}

#[test]
fn exif_turns_strokes_like_photos() {
    let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([6, 0, 0, 0, 0, 0, 0, 0]);
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    encoder.set_exif_metadata(exif).unwrap();
    encoder.write_image(&[0, 128, 255, 0, 0, 0], 3, 2, L8).unwrap();
    let file = File::new("scribbles.png", &bytes);
    let read = |width, height| {
        let photo = Picture::new(Shape::new(width, height), vec![WHITE; 6]);
        Strokes::read(&file.path, &photo, Format::Auto, &Limits::default())
    };
    assert_eq!(read(2, 3).unwrap().seeds.labels(), [U, U, U, B, U, F]);
    let message = read(3, 2).unwrap_err().to_string();
    assert!(message.contains("2×3") && message.contains("3×2") && message.contains("scribbles.png"), "{message}");
}

#[test]
fn a_missing_class_is_named() {
    for (values, missing) in [
        ([0, 128], "no foreground stroke"),
        ([0, 255], "no background stroke"),
        ([0, 0], "no foreground and no background stroke"),
    ] {
        let strokes = File::grey("x.png", &values).read(&[WHITE; 2], Format::Labels).unwrap();
        let message = strokes.require_both_classes().unwrap_err().to_string();
        assert!(message.contains(missing) && message.contains("x.png"), "{message}");
    }
    assert!(Seeds::new(Shape::new(2, 1), vec![F, B]).require_both_classes("the strokes").is_ok());
}

#[test]
fn strokes_over_every_pixel_are_remarked_on() {
    let strokes = File::grey("x.png", &[128, 255]).read(&[WHITE; 2], Format::Labels).unwrap();
    assert!(strokes.warnings[0].contains("every pixel"));
}

#[test]
fn a_huge_stroke_file_is_refused_by_its_header() {
    let file = File::new("scribbles.png", &crate::read::huge_png());
    assert!(matches!(file.seeds(4, Format::Auto), Err(Error::TooLarge { .. })));
    assert!(matches!(Truth::read(&file.path, Shape::new(2, 2), &Limits::default()), Err(Error::TooLarge { .. })));
}

#[test]
fn truth_has_three_values() {
    let read =
        |values: &[u8]| Truth::read(&File::grey("x.png", values).path, Shape::new(values.len(), 1), &Limits::default());
    assert_eq!(read(&[0, 128, 255]).unwrap().labels(), [Some(false), None, Some(true)]);
    assert_eq!(read(&[0, 1]).unwrap().labels(), [Some(false), Some(true)]);
    let message = read(&[0, 200, 255]).unwrap_err().to_string();
    assert!(message.contains("200 (1 px)"), "{message}");
    let colours = File::rgb("x.png", &[RED, BLUE]);
    assert!(matches!(Truth::read(&colours.path, Shape::new(2, 1), &Limits::default()), Err(Error::Unsuitable { .. })));
}

#[test]
fn format_names_round_trip() {
    for format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
        assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{format}\""));
    }
    assert!("Labels2".parse::<Format>().unwrap_err().to_string().contains("trimap"));
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// Whatever was drawn comes back from every encoding that can say it.
    #[test]
    fn seeds_survive_every_encoding(drawn in prop::collection::vec(prop::sample::select(vec![U, B, F]), 1..40)) {
        let photo = vec![[90, 120, 60]; drawn.len()];
        let pick = |values: [u8; 3]| drawn.iter().map(|&seed| values[seed as usize]).collect::<Vec<u8>>();
        let colours = |paper: [u8; 3]| drawn.iter().map(|&seed| [paper, BLUE, RED][seed as usize]).collect::<Vec<_>>();
        let mut files = vec![
            (Format::Labels, File::grey("x.png", &pick([0, 128, 255]))),
            (Format::Trimap, File::grey("x.png", &pick([128, 0, 255]))),
            (Format::Grabcut, File::grey("x.png", &pick([3, 0, 1]))),
            (Format::Redblue, File::rgb("x.png", &colours(WHITE))),
            (Format::Palette, File::indexed(&[[9; 3]; 3], &pick([0, 2, 1]))),
        ];
        if 2 * drawn.iter().filter(|&&seed| seed != U).count() <= drawn.len() {
            files.push((Format::Diff, File::rgb("x.png", &colours(photo[0]))));
        }
        for (format, file) in files {
            let strokes = file.read(&photo, format).unwrap();
            prop_assert_eq!(strokes.seeds.labels(), &drawn[..], "{}", format);
        }
    }

    /// Auto either refuses or says what the format it names says, and never fails otherwise.
    #[test]
    fn auto_agrees_with_the_format_it_names(values in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 2, 3, 64, 128, 255]), 1..6)) {
        let file = File::grey("scribbles.png", &values);
        match file.seeds(values.len(), Format::Auto) {
            Ok((format, seeds)) => prop_assert_eq!(file.seeds(values.len(), format).unwrap().1, seeds),
            Err(error) => prop_assert!(matches!(error, Error::AmbiguousStrokes { .. }), "{}", error),
        }
    }

    /// Rubbish behind a PNG signature is an error, not a panic.
    #[test]
    fn rubbish_never_panics(rubbish in prop::collection::vec(any::<u8>(), 0..200), keep in 0_usize..60) {
        let sound = png_with(png::ColorType::Grayscale, &[0, 128, 255], |_| {});
        let bytes = [&sound[..keep.min(sound.len())], &rubbish].concat();
        let _ = File::new("scribbles.png", &bytes).seeds(3, Format::Auto);
    }
}
