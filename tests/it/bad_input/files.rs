//! Photos, and bytes that pretend to be photos.

use image::{DynamicImage, ImageFormat};

use super::forge::{cmyk_jpeg, encoded, png_of_size, png_with_palette, tiff};
use super::{Case, case, check_all};
use crate::desk::{Desk, HEIGHT, WIDTH, bytes};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("segment missing.jpg", "missing.jpg", "No such file", "check the name"),
        case("superpixels missing.jpg", "missing.jpg", "No such file", "check the name"),
        case("segment folder.png", "folder.png", "directory", "check the name"),
        case("segment empty.png", "empty.png", "an empty file", "give a PNG, JPEG"),
        case("segment /dev/null", "/dev/null", "an empty file", "give a PNG, JPEG"),
        case("segment /dev/zero", "/dev/zero", "not an image", "give a PNG, JPEG"),
        case("segment letter.jpg", "letter.jpg", "not an image", "the content counts, not the name"),
        case("segment moving.gif", "moving.gif", "a GIF file", "give a PNG, JPEG"),
        case("segment phone.heic", "phone.heic", "a HEIC photo", "heif-convert"),
        case("segment phone.jpg", "phone.jpg", "a HEIC photo", "export it as JPEG"),
        case("segment web.avif", "web.avif", "an AVIF image", "avifdec"),
        case("segment camera.nef", "camera.nef", "raw file", "export a TIFF or JPEG"),
        case("segment camera.cr3", "camera.cr3", "raw file", "export a TIFF or JPEG"),
        case("segment drawing.psd", "drawing.psd", "image editor", "export it as PNG"),
        case("segment cut.png", "cut.png", "damaged", "copy or export the file again"),
        case("segment cut.jpg", "cut.jpg", "end-of-image marker", "copy or export the file again"),
        case("segment cut.tif", "cut.tif", "damaged", "copy or export the file again"),
        case("segment cut.bmp", "cut.bmp", "damaged", "copy or export the file again"),
        case("segment cut.webp", "cut.webp", "it ends inside", "copy or export the file again"),
        case("segment cut.ppm", "cut.ppm", "damaged", "copy or export the file again"),
        case("segment flipped.png", "flipped.png", "damaged", "copy or export the file again"),
        case("segment 0x0.png", "0x0.png", "no pixels", "copy or export the file again"),
        case("segment 0x7.pgm", "0x7.pgm", "damaged", "copy or export the file again"),
        case("segment wild.tif", "wild.tif", "outside 0 to 1", "tone-map it"),
    ];
    for option in ["", "disc.png --scribbles ", "disc.png --prior ", "disc.png --superpixels "] {
        let arguments = format!("segment {option}palette.png");
        cases.push(case(&arguments, "palette.png", "ends inside a colour", "copy or export the file again"));
    }
    for name in ["bomb.png", "wide.png", "bomb.bmp", "bomb.ppm", "bomb.jpg", "bomb8.tif"] {
        cases.push(case(&format!("segment {name}"), name, "pixels allowed", "raise --max-pixels"));
    }
    for arguments in [
        "superpixels bomb.png",
        "segment disc.png --scribbles bomb.png",
        "segment disc.png --prior bomb.png",
        "segment disc.png --superpixels bomb.png",
        "batch bombs",
    ] {
        cases.push(case(arguments, "bomb.png", "50000×50000", "raise --max-pixels"));
    }
    cases.push(case("segment disc.png --prior bomb.tif", "bomb.tif", "60000×60000", "raise --max-pixels"));
    cases.push(case("segment disc.png --superpixels bomb.tif", "bomb.tif", "60000×60000", "raise --max-pixels"));
    cases.push(case("evaluate set", "masks/a.png", "50000×50000", "raise --max-pixels"));
    cases.push(case("segment disc.png --max-pixels 431", "disc.png", "431 pixels allowed", "raise --max-pixels"));
    cases.push(case("segment disc.png --max-memory 20M", "disc.png", "24×18 and needs about", "raise --max-memory"));
    for command in ["batch bombs/small", "superpixels disc.png", "evaluate pair"] {
        let arguments = format!("{command} --max-memory 20M");
        cases.push(case(&arguments, ".png", "24×18 and needs about", "raise --max-memory"));
    }
    cases
}

fn desk() -> Desk {
    let desk = Desk::with_strokes();
    std::fs::create_dir(desk.path("folder.png")).unwrap();
    desk.put("empty.png", b"");
    desk.put("letter.jpg", b"Dear photo, I am a letter.");
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    desk.put("phone.heic", heic);
    desk.put("phone.jpg", heic);
    desk.put("web.avif", b"\0\0\0\x18ftypavif\0\0\0\0mif1avif");
    desk.put("camera.nef", &desk.photo_as(ImageFormat::Tiff));
    desk.put("camera.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom");
    desk.put("drawing.psd", b"8BPS\0\x01\0\0\0\0\0\0");
    desk.put("moving.gif", b"GIF89a\x01\0\x01\0\0\0\0;");
    let formats = [
        ("cut.png", ImageFormat::Png),
        ("cut.jpg", ImageFormat::Jpeg),
        ("cut.tif", ImageFormat::Tiff),
        ("cut.bmp", ImageFormat::Bmp),
        ("cut.webp", ImageFormat::WebP),
        ("cut.ppm", ImageFormat::Pnm),
    ];
    for (name, format) in formats {
        let whole = desk.photo_as(format);
        desk.put(name, &whole[..whole.len() * 4 / 5]);
    }
    let mut flipped = bytes(&desk.path("disc.png"));
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    desk.put("flipped.png", &flipped);
    desk.put("0x0.png", &png_of_size(0, 0));
    desk.put("palette.png", &png_with_palette(WIDTH as u32, HEIGHT as u32, 4));
    desk.put("0x7.pgm", b"P5 0 7 255\n");
    let wild = image::ImageBuffer::from_pixel(WIDTH as u32, HEIGHT as u32, image::Rgb([0.5_f32, 7.0, 0.5]));
    desk.put("wild.tif", &encoded(&DynamicImage::ImageRgb32F(wild), ImageFormat::Tiff));

    let bomb = png_of_size(50_000, 50_000);
    desk.put("bomb.png", &bomb);
    desk.put("wide.png", &png_of_size(0x7fff_ffff, 1));
    let mut bitmap = desk.photo_as(ImageFormat::Bmp);
    bitmap[18..22].copy_from_slice(&65_000_i32.to_le_bytes());
    bitmap[22..26].copy_from_slice(&65_000_i32.to_le_bytes());
    desk.put("bomb.bmp", &bitmap);
    desk.put("bomb.ppm", b"P6 99999 99999 255\n....");
    desk.put("bomb.jpg", &cmyk_jpeg(65_535, 65_535)[..]);
    desk.put("bomb.tif", &tiff(60_000, 60_000, 32, true, &[0; 64]));
    desk.put("bomb8.tif", &tiff(60_000, 60_000, 8, false, &[0; 64]));
    desk.put("bombs/bomb.png", &bomb);
    desk.save_strokes("bombs/bomb.scribbles.png");
    desk.put("bombs/small/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("bombs/small/a.scribbles.png");
    desk.put("set/images/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("set/scribbles/a.png");
    desk.put("set/masks/a.png", &bomb);
    desk.put("pair/images/a.png", &bytes(&desk.path("disc.png")));
    desk.save_strokes("pair/scribbles/a.png");
    desk.put_grey("pair/masks/a.png", |x, _| if x < 9 { 255 } else { 0 });
    desk
}

#[test]
fn what_is_no_photo_is_refused_in_one_line() {
    check_all(&desk(), &cases());
}

/// Segments a photo of the desk's scene by costs, so that its colours do not matter, and gives the report.
fn accepted(desk: &Desk, name: &str) {
    desk.save_array("costs.npy", super::forge::costs_with(-2.0));
    let mut command = desk.lfield(&["segment", name, "--unary", "costs.npy", "-q"]);
    command.assert().success().stderr("");
}

#[test]
fn every_kind_of_photo_works_whatever_it_is_called() {
    let desk = Desk::with_photo();
    let photo = image::open(desk.path("disc.png")).unwrap();
    let kinds: [(&str, DynamicImage); 5] = [
        ("grey.png", photo.to_luma8().into()),
        ("grey-alpha.png", photo.to_luma_alpha8().into()),
        ("grey16.png", photo.to_luma16().into()),
        ("rgb16.png", photo.to_rgb16().into()),
        ("rgba16.png", photo.to_rgba16().into()),
    ];
    for (name, image) in kinds {
        desk.put(name, &encoded(&image, ImageFormat::Png));
        accepted(&desk, name);
    }
    let mut indexed = Vec::new();
    let mut encoder = png::Encoder::new(&mut indexed, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette((0..=255).flat_map(|i| [i, 255 - i, i]).collect::<Vec<u8>>());
    encoder.write_header().unwrap().write_image_data(photo.to_luma8().as_raw()).unwrap();
    desk.put("palette.png", &indexed);
    accepted(&desk, "palette.png");
    desk.put("cmyk.jpg", &cmyk_jpeg(WIDTH as u16, HEIGHT as u16));
    accepted(&desk, "cmyk.jpg");
    desk.put("really-a-png.jpg", &bytes(&desk.path("disc.png")));
    accepted(&desk, "really-a-png.jpg");
    desk.put("no-extension", &desk.photo_as(ImageFormat::Bmp));
    accepted(&desk, "no-extension");
}

#[test]
fn photos_of_one_pixel_one_row_one_column_and_of_a_hundred_thousand_columns_work() {
    for (width, height) in [(1, 1), (1, 50), (50, 1), (100_000, 2)] {
        let desk = Desk::with_photo();
        let photo = image::RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 90]));
        desk.put("thin.png", &encoded(&photo.into(), ImageFormat::Png));
        let prior =
            image::GrayImage::from_fn(width, height, |x, _| image::Luma([if x < width / 2 { 30 } else { 220 }]));
        desk.put("prior.png", &encoded(&prior.into(), ImageFormat::Png));
        desk.lfield(&["segment", "thin.png", "--prior", "prior.png", "-q"]).assert().success();
        desk.lfield(&["superpixels", "thin.png", "-q"]).assert().success();
        assert!(desk.path("lfield-out/thin.mask.png").exists());
    }
}
