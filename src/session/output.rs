//! What an answer can be encoded as.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The table of outputs: variant, name, what follows `STEM.` in the name of its file, description.
macro_rules! outputs {
    ($($variant:ident $name:literal $suffix:literal $about:literal,)*) => {
        /// One output a user can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Output {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl Output {
            /// Every output there is, in the order in which they are listed.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What follows `STEM.` in the name of its file.
            pub fn suffix(self) -> &'static str {
                match self { $(Self::$variant => $suffix,)* }
            }
        }
    };
}

outputs! {
    Mask "mask" "mask.png" "The MAP mask.",
    Heatmap "heatmap" "heatmap.png" "The marginals in colour.",
    Marginals "marginals" "marginals.png" "The marginals as 16-bit grey.",
    MarginalsArray "marginals.npy" "marginals.npy" "The marginals as float64.",
    LogOddsArray "s.npy" "s.npy" "s = −x as float64, x the log-odds.",
    BaseArray "base.npy" "base.npy" "The feasible base that proves, as float64; a rival has none.",
    BoundArray "bound.npy" "bound.npy" "How far each log-odds can be from the exact ones, as float64; a rival has none.",
    Overlay "overlay" "overlay.png" "Outline and tint of the mask on the photo.",
    Cutout "cutout" "cutout.png" "The object alone, on nothing.",
    Trimap "trimap" "trimap.png" "Foreground, background, undecided.",
    Labelme "labelme" "labelme.json" "The mask as polygons for labelme.",
    Coco "coco" "coco.json" "The mask as run lengths in a COCO file.",
    Svg "svg" "svg" "The outline of the mask as a drawing.",
    Superpixels "superpixels" "superpixels" "The label maps of the superpixel layers, each in a file of its own.",
    Path "path" "path.csv" "The masks of other sizes: bias, area, energy and boundary of each.",
    Trace "trace" "trace.csv" "The course of the solve.",
    Report "report" "report.json" "Everything in numbers.",
}

impl Output {
    /// Whether its file is text.
    pub fn is_text(self) -> bool {
        [".json", ".csv", ".svg"].iter().any(|ending| self.suffix().ends_with(ending))
    }

    /// What is written when nothing is asked for.
    pub const DEFAULT: [Self; 4] = [Self::Mask, Self::Heatmap, Self::Marginals, Self::Report];

    /// The outputs that a name stands for: one by its own name or that of its file, `npy` for the arrays, `all`.
    pub fn named(name: &str) -> Result<Vec<Self>> {
        Ok(match name.trim() {
            "all" => Self::ALL.to_vec(),
            "npy" => vec![Self::MarginalsArray, Self::LogOddsArray, Self::BaseArray, Self::BoundArray],
            "s" => vec![Self::LogOddsArray],
            "base" => vec![Self::BaseArray],
            "bound" => vec![Self::BoundArray],
            name => {
                let plain = name.strip_suffix(".png").or(name.strip_suffix(".csv")).or(name.strip_suffix(".json"));
                let plain = plain.unwrap_or(name);
                let known = Self::ALL.into_iter().find(|output| output.name() == plain);
                vec![known.ok_or_else(|| {
                    Error::parameter(
                        "the output",
                        format!("{name:?}"),
                        format!("all, {}", Self::ALL.map(Self::name).join(", ")),
                    )
                })?]
            }
        })
    }
}

/// What the cut-out uses as alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Matte {
    /// The mask: every pixel in or out
    Hard,
    /// The probability of foreground in a band along the border, with colours freed of the background
    Soft,
}

/// What is written, and how.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The outputs wanted.
    pub emit: Vec<Output>,
    /// Alpha of the cut-out.
    pub matte: Matte,
    /// How many pixels a soft matte reaches to either side of the border, where pixels are undecided; by default 2 % of the shorter side.
    pub matte_width: Option<usize>,
    /// Probabilities in \[band, 1 − band\] are undecided in the trimap; in 0..½.
    pub trimap_band: f64,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { emit: Output::DEFAULT.to_vec(), matte: Matte::Hard, matte_width: None, trimap_band: 0.05 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_go_by_short_name_and_by_file_name() {
        assert_eq!(Output::named("mask").unwrap(), [Output::Mask]);
        assert_eq!(Output::named("marginals.png").unwrap(), [Output::Marginals]);
        assert_eq!(Output::named("marginals.npy").unwrap(), [Output::MarginalsArray]);
        let arrays = [Output::MarginalsArray, Output::LogOddsArray, Output::BaseArray, Output::BoundArray];
        assert_eq!(Output::named("npy").unwrap(), arrays);
        assert_eq!(Output::named("all").unwrap(), Output::ALL);
        assert!(Output::named("msak").unwrap_err().to_string().contains("mask"));
    }
}
