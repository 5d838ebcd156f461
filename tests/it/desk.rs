//! A folder with a tiny photo of a disc, strokes for it, and the program to run there.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use image::{GrayImage, RgbImage};
use ndarray::Array2;
use ndarray_npy::{read_npy, write_npy};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const WIDTH: usize = 24;
pub(crate) const HEIGHT: usize = 18;

/// A temporary folder; gone when dropped.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    /// Nothing but the photo, `disc.png`.
    pub(crate) fn with_photo() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.save_photo(1);
        desk
    }

    /// The photo and its strokes, `disc.scribbles.png`.
    pub(crate) fn with_strokes() -> Self {
        Self::enlarged(1)
    }

    /// The same scene with `scale` times as many rows and columns.
    pub(crate) fn enlarged(scale: u32) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.save_photo(scale);
        desk.save_strokes_at("disc.scribbles.png", scale);
        desk
    }

    fn save_photo(&self, scale: u32) {
        let colour = |x: u32, y: u32| {
            let grain = ((x * 7919 + y * 104_729 + x * y * 31) % 23) as u8;
            if in_disc(x / scale, y / scale) { [190 + grain, 90 + grain, 40] } else { [40, 80 + grain, 120 + grain] }
        };
        let (width, height) = (scale * WIDTH as u32, scale * HEIGHT as u32);
        RgbImage::from_fn(width, height, |x, y| image::Rgb(colour(x, y))).save(self.path("disc.png")).unwrap();
    }

    pub(crate) fn save_strokes(&self, name: &str) {
        self.save_strokes_at(name, 1);
    }

    /// Labels: a dot in the disc is foreground, the left and right margins are background.
    fn save_strokes_at(&self, name: &str, scale: u32) {
        let label = |x: u32, y: u32| match (x / scale, y / scale) {
            (10..=13, 8..=10) => 255,
            (0..=1 | 22..=23, _) => 128,
            _ => 0,
        };
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let (width, height) = (scale * WIDTH as u32, scale * HEIGHT as u32);
        GrayImage::from_fn(width, height, |x, y| image::Luma([label(x, y)])).save(path).unwrap();
    }

    /// A `.npy` file of one number per pixel.
    pub(crate) fn save_array(&self, name: &str, value: impl Fn(usize, usize) -> f64) {
        write_npy(self.path(name), &Array2::from_shape_fn((HEIGHT, WIDTH), |(y, x)| value(x, y))).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, about to start in this folder.
    pub(crate) fn lfield(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lfield"));
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    /// `lfield segment disc.png ARGUMENTS`, which must succeed; what it said on stderr.
    pub(crate) fn segment(&self, arguments: &[&str]) -> String {
        let mut command = self.lfield(&["segment", "disc.png"]);
        let output = command.args(arguments).assert().success().get_output().clone();
        String::from_utf8(output.stderr).unwrap()
    }

    /// Names of the files in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn report(&self, folder: &str) -> Value {
        let text = std::fs::read_to_string(self.path(folder).join("disc.report.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The mask, true inside; anything but 0 and 255 is a failure.
    pub(crate) fn mask(&self, folder: &str) -> Vec<bool> {
        let pixels = image::open(self.path(folder).join("disc.mask.png")).unwrap();
        assert_eq!(pixels.color(), image::ColorType::L8);
        let inside = |&level: &u8| match level {
            0 => false,
            255 => true,
            other => panic!("a mask with a level of {other}"),
        };
        pixels.into_luma8().iter().map(inside).collect()
    }

    /// A float64 array of the photo's shape, row by row.
    pub(crate) fn array(&self, name: &str) -> Vec<f64> {
        let array: Array2<f64> = read_npy(self.path(name)).unwrap();
        assert_eq!(array.dim(), (HEIGHT, WIDTH));
        array.into_iter().collect()
    }

    /// 16-bit grey levels, row by row.
    pub(crate) fn levels(&self, name: &str) -> Vec<u16> {
        let pixels = image::open(self.path(name)).unwrap();
        assert_eq!(pixels.color(), image::ColorType::L16);
        pixels.into_luma16().into_raw()
    }
}

pub(crate) fn in_disc(x: u32, y: u32) -> bool {
    let (dx, dy) = (f64::from(x) - 11.5, f64::from(y) - 8.5);
    dx * dx + dy * dy < 36.0
}

pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

pub(crate) fn without_seconds(mut report: Value) -> Vec<u8> {
    report.as_object_mut().unwrap().remove("timing").unwrap();
    report["solve"].as_object_mut().unwrap().remove("seconds").unwrap();
    report.to_string().into_bytes()
}

pub(crate) fn without_column(csv: &[u8], column: usize) -> Vec<u8> {
    let text = std::str::from_utf8(csv).unwrap();
    let keep = |line: &str| -> String {
        let fields = line.split(',').enumerate().filter(|(i, _)| *i != column);
        fields.map(|(_, field)| field).collect::<Vec<_>>().join(",") + "\n"
    };
    text.lines().map(keep).collect::<String>().into_bytes()
}
