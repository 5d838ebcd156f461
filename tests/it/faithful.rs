//! Cut-outs and overlays with the depth, opacity, profile and resolution of the photo.

use std::io::Cursor;

use tiff::encoder::colortype::RGBA16;
use tiff::encoder::{Rational, TiffEncoder};
use tiff::tags::{ResolutionUnit, Tag};

use crate::desk::{Desk, HEIGHT, WIDTH, bytes, in_disc};

/// The disc in 16 bits, with shades that 8 bits cannot hold; translucent in a column and clear in another.
fn deep() -> Vec<[u16; 4]> {
    let shade = |x: u32, y: u32| {
        let grain = ((x * 7919 + y * 104_729) % 5903) as u16;
        let [r, g, b] = if in_disc(x, y) { [48_000, 23_000, 10_000] } else { [10_000, 20_000, 30_000] };
        let alpha = match x {
            9 => 40_001,
            12 => 0,
            _ => u16::MAX,
        };
        [r + grain, g + grain, b + grain, alpha]
    };
    (0..HEIGHT as u32).flat_map(|y| (0..WIDTH as u32).map(move |x| shade(x, y))).collect()
}

/// The bytes of a profile for RGB colours; what it says about Display P3 does not matter to who hands it on.
fn profile() -> Vec<u8> {
    let mut profile: Vec<u8> = (0..548_u32).map(|i| (i * 37 % 251) as u8).collect();
    profile[16..20].copy_from_slice(b"RGB ");
    profile[36..40].copy_from_slice(b"acsp");
    profile
}

fn save_tiff(desk: &Desk, name: &str) {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    let mut image = encoder.new_image::<RGBA16>(WIDTH as u32, HEIGHT as u32).unwrap();
    image.resolution(ResolutionUnit::Inch, Rational { n: 300, d: 1 });
    image.encoder().write_tag(Tag::IccProfile, &profile()[..]).unwrap();
    image.write_data(deep().as_flattened()).unwrap();
    std::fs::write(desk.path(name), bytes.into_inner()).unwrap();
}

/// A PNG with what is beside its pixels.
struct Png {
    depth: png::BitDepth,
    colour: png::ColorType,
    profile: Option<Vec<u8>>,
    density: Option<(u32, u32)>,
    samples: Vec<u8>,
}

fn read(desk: &Desk, name: &str) -> Png {
    let mut reader = png::Decoder::new(Cursor::new(bytes(&desk.path(name)))).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut samples).unwrap();
    let info = reader.info();
    Png {
        depth: info.bit_depth,
        colour: info.color_type,
        profile: info.icc_profile.as_ref().map(|profile| profile.to_vec()),
        density: info.pixel_dims.map(|dims| (dims.xppu, dims.yppu)),
        samples,
    }
}

fn sixteen(samples: &[u8]) -> Vec<[u16; 4]> {
    let values: Vec<u16> = samples.as_chunks().0.iter().map(|&pair| u16::from_be_bytes(pair)).collect();
    values.as_chunks().0.to_vec()
}

#[test]
fn a_deep_tiff_with_alpha_keeps_depth_alpha_profile_and_resolution() {
    let desk = Desk::with_strokes();
    save_tiff(&desk, "disc.tif");
    std::fs::remove_file(desk.path("disc.png")).unwrap();
    let run = |matte: &str| {
        let mut command = desk.lfield(&["segment", "disc.tif", "-q", "-o", matte, "--matte", matte]);
        command.args(["--emit", "mask,cutout,overlay,marginals.npy"]).assert().success();
    };
    run("hard");
    let mask = desk.mask("hard");
    let cutout = read(&desk, "hard/disc.cutout.png");
    assert_eq!((cutout.depth, cutout.colour), (png::BitDepth::Sixteen, png::ColorType::Rgba));
    assert_eq!((cutout.profile, cutout.density), (Some(profile()), Some((11811, 11811))));
    assert!(mask.contains(&true) && mask.contains(&false));
    for ((found, own), inside) in sixteen(&cutout.samples).into_iter().zip(deep()).zip(&mask) {
        let expected = if *inside && own[3] > 0 { own } else { [0; 4] };
        assert_eq!(found, expected);
    }
    let overlay = read(&desk, "hard/disc.overlay.png");
    assert_eq!((overlay.depth, overlay.colour), (png::BitDepth::Sixteen, png::ColorType::Rgba));
    assert_eq!((overlay.profile, overlay.density), (Some(profile()), Some((11811, 11811))));
    assert!(sixteen(&overlay.samples).iter().zip(deep()).all(|(found, own)| found[3] == own[3]));

    run("soft");
    let soft = sixteen(&read(&desk, "soft/disc.cutout.png").samples);
    for (pixel, ((found, own), &inside)) in soft.into_iter().zip(deep()).zip(&mask).enumerate() {
        let (x, y) = (pixel % WIDTH, pixel / WIDTH);
        let is_far = (0..mask.len()).all(|other| {
            let near = x.abs_diff(other % WIDTH) <= 3 && y.abs_diff(other / WIDTH) <= 3;
            !near || mask[other] == inside
        });
        match (is_far, inside && own[3] > 0) {
            (true, true) => assert_eq!(found, own, "solid inside"),
            (true, false) => assert_eq!(found, [0; 4], "clear outside"),
            (false, _) => assert!(found[3] <= own[3]),
        }
    }
}

#[test]
fn a_png_keeps_its_profile_as_it_is_and_a_plain_photo_gets_none() {
    let desk = Desk::with_strokes();
    let plain = bytes(&desk.path("disc.png"));
    desk.segment(&["-q", "-o", "plain", "--emit", "cutout,overlay"]);
    for name in ["plain/disc.cutout.png", "plain/disc.overlay.png"] {
        let found = read(&desk, name);
        assert_eq!((found.depth, found.profile, found.density), (png::BitDepth::Eight, None, None));
    }
    let image = image::load_from_memory(&plain).unwrap().into_rgb8();
    let mut info = png::Info::with_size(image.width(), image.height());
    (info.color_type, info.icc_profile) = (png::ColorType::Rgb, Some(profile().into()));
    info.pixel_dims = Some(png::PixelDimensions { xppu: 2835, yppu: 5670, unit: png::Unit::Meter });
    let mut file = Vec::new();
    let mut writer = png::Encoder::with_info(&mut file, info).unwrap().write_header().unwrap();
    writer.write_image_data(&image).unwrap();
    writer.finish().unwrap();
    std::fs::write(desk.path("disc.png"), file).unwrap();
    desk.segment(&["-q", "-o", "kept", "--emit", "cutout,overlay"]);
    for name in ["disc.cutout.png", "disc.overlay.png"] {
        let (kept, bare) = (read(&desk, &format!("kept/{name}")), read(&desk, &format!("plain/{name}")));
        assert_eq!((kept.profile, kept.density), (Some(profile()), Some((2835, 5670))));
        assert!(kept.samples == bare.samples, "{name}");
    }
}

#[test]
fn the_mask_leaves_as_polygons_runs_and_a_drawing_and_comes_back() {
    let desk = Desk::with_strokes();
    desk.segment(&["-q", "-o", "out", "--emit", "mask,labelme,coco,svg"]);
    let mask = desk.mask("out");
    for name in ["out/disc.labelme.json", "out/disc.coco.json"] {
        let mut command =
            desk.lfield(&["segment", "disc.png", "-q", "-o", "again", "--emit", "mask", "--scribbles", name]);
        command.args(["--scribble-format", "trimap"]).assert().success();
        assert_eq!(desk.mask("again"), mask, "{name}");
    }
    let drawing = String::from_utf8(bytes(&desk.path("out/disc.svg"))).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.contains("viewBox=\"0 0 24 18\""));
}
