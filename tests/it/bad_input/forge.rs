//! Files of every format, sound and not, made from bytes.

use std::io::Cursor;

use image::{DynamicImage, GrayImage, ImageFormat, Luma};

use crate::desk::{Desk, HEIGHT, WIDTH, bytes, in_disc};

impl Desk {
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A grey picture of the photo's size.
    pub(super) fn put_grey(&self, name: &str, value: impl Fn(u32, u32) -> u8) {
        let image = GrayImage::from_fn(WIDTH as u32, HEIGHT as u32, |x, y| Luma([value(x, y)]));
        self.put(name, &encoded(&image.into(), ImageFormat::Png));
    }

    /// The photo in another format.
    pub(super) fn photo_as(&self, format: ImageFormat) -> Vec<u8> {
        encoded(&image::load_from_memory(&bytes(&self.path("disc.png"))).unwrap(), format)
    }
}

pub(super) fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A sound header of a PNG of any size, and data that end at once: what a bomb shows before it goes off.
pub(super) fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    const RGB: u8 = 2;
    png(width, height, RGB, &[])
}

/// An indexed PNG whose palette has this many bytes.
pub(super) fn png_with_palette(width: u32, height: u32, palette: usize) -> Vec<u8> {
    const INDEXED: u8 = 3;
    png(width, height, INDEXED, &[[&b"PLTE"[..], &vec![0; palette]].concat()])
}

/// The chunks of a PNG, with some before its pixels, which are missing.
fn png(width: u32, height: u32, colour: u8, before: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = b"IHDR".to_vec();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, colour, 0, 0, 0]);
    let after = [b"IDAT\x78\x9c\x63\0\0\0\x01\0\x01".to_vec(), b"IEND".to_vec()];
    for chunk in [&[header], before, &after].concat() {
        bytes.extend((chunk.len() as u32 - 4).to_be_bytes());
        bytes.extend(&chunk);
        bytes.extend(crc(&chunk).to_be_bytes());
    }
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// A little-endian TIFF of one grey channel: width, height, bits per sample, and its one strip.
pub(super) fn tiff(width: u32, height: u32, bits: u16, is_float: bool, strip: &[u8]) -> Vec<u8> {
    let format = if is_float { 3 } else { 1 };
    let tags: [(u16, u16, u32); 10] = [
        (256, 4, width),
        (257, 4, height),
        (258, 3, bits.into()),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (277, 3, 1),
        (278, 4, height),
        (279, 4, strip.len() as u32),
        (339, 3, format),
    ];
    let directory = 8 + strip.len() as u32;
    let mut bytes = b"II*\0".to_vec();
    bytes.extend(directory.to_le_bytes());
    bytes.extend(strip);
    bytes.extend((tags.len() as u16).to_le_bytes());
    for (tag, kind, value) in tags {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend([0; 4]);
    bytes
}

/// A baseline JPEG with four components, as printers like it: all blocks the same, so one bit per coefficient will do.
pub(super) fn cmyk_jpeg(width: u16, height: u16) -> Vec<u8> {
    let segment = |marker: u8, content: &[u8]| {
        let length = (content.len() as u16 + 2).to_be_bytes();
        [&[0xff, marker], &length[..], content].concat()
    };
    let [high, low] = height.to_be_bytes();
    let [wide_high, wide_low] = width.to_be_bytes();
    let mut frame = vec![8, high, low, wide_high, wide_low, 4];
    let mut scan = vec![4];
    for component in 1..=4 {
        frame.extend([component, 0x11, 0]);
        scan.extend([component, 0]);
    }
    scan.extend([0, 63, 0]);
    let table = |class: u8| [&[class, 1][..], &[0; 15], &[0]].concat();
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    [
        vec![0xff, 0xd8],
        segment(0xee, b"Adobe\0\x64\0\0\0\0\0"),
        segment(0xdb, &[&[0][..], &[1; 64]].concat()),
        segment(0xc0, &frame),
        segment(0xc4, &table(0x00)),
        segment(0xc4, &table(0x10)),
        segment(0xda, &scan),
        vec![0; blocks],
        vec![0xff, 0xd9],
    ]
    .concat()
}

/// An `.npy` file with this dictionary and these bytes behind it.
pub(super) fn npy(dictionary: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{dictionary}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

/// An array of the photo's shape, of this type, `size` bytes each.
pub(super) fn npy_of(descr: &str, size: usize) -> Vec<u8> {
    let dictionary = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({HEIGHT}, {WIDTH}), }}");
    npy(&dictionary, &vec![0; WIDTH * HEIGHT * size])
}

/// Costs that see the disc, but for one pixel.
pub(super) fn costs_with(value: f64) -> impl Fn(usize, usize) -> f64 {
    move |x, y| match (x, y) {
        (5, 3) => value,
        _ if in_disc(x as u32, y as u32) => -2.0,
        _ => 2.0,
    }
}
