//! Line charts as SVG, written by hand: axes, grid lines, a legend beside the plot where nothing can lie on it.
//!
//! Colours are those of Okabe and Ito, which colour-blind readers can tell apart; rivals are dashed as well.

use std::fmt::Write;

use super::escaped;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, above it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// The curves; what lies outside the axes is cut off.
    pub series: Vec<Series>,
    /// Whether to draw y = x, faintly.
    pub diagonal: bool,
}

/// One axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Its ends.
    pub range: (f64, f64),
}

/// One curve and its line in the legend.
#[derive(Clone, Debug)]
pub struct Series {
    /// The text of the legend.
    pub label: String,
    /// The corners of the curve.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Whether the corners are marked.
    pub marked: bool,
}

/// Colour, dashes and width of a line.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// A CSS colour.
    pub color: &'static str,
    /// Lengths of dash and gap, or nothing for a solid line.
    pub dash: &'static str,
    /// In pixels.
    pub width: f64,
}

const PLOT: (f64, f64, f64, f64) = (70.0, 44.0, 470.0, 400.0);
const LEGEND: f64 = 562.0;
const SIZE: (f64, f64) = (860.0, 505.0);

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let (left, top, width, height) = PLOT;
        let (right, bottom) = (left + width, top + height);
        let mut svg = String::new();
        let mut put = |line: String| writeln!(svg, "{line}").expect("written to memory");
        put(format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">"##,
            SIZE.0, SIZE.1
        ));
        put(format!(r##"<rect width="{}" height="{}" fill="#fff"/>"##, SIZE.0, SIZE.1));
        put(format!(
            r#"<clipPath id="plot"><rect x="{left}" y="{top}" width="{width}" height="{height}"/></clipPath>"#
        ));
        put(format!(r#"<text x="{left}" y="26" font-size="16" font-weight="bold">{}</text>"#, escaped(&self.title)));
        for tick in ticks(self.x.range) {
            let x = self.x.place(tick, left, right);
            put(format!(r##"<path d="M{x:.1} {top}V{bottom}" stroke="#e4e4e4"/>"##));
            put(format!(r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#, bottom + 18.0, number(tick)));
        }
        for tick in ticks(self.y.range) {
            let y = self.y.place(tick, bottom, top);
            put(format!(r##"<path d="M{left} {y:.1}H{right}" stroke="#e4e4e4"/>"##));
            put(format!(r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#, left - 8.0, y + 4.5, number(tick)));
        }
        put(format!(r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>"##));
        let middle = (left + width / 2.0, top + height / 2.0);
        put(format!(
            r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
            middle.0,
            bottom + 44.0,
            escaped(&self.x.label)
        ));
        put(format!(
            r#"<text x="18" y="{0}" text-anchor="middle" transform="rotate(-90 18 {0})">{1}</text>"#,
            middle.1,
            escaped(&self.y.label)
        ));
        if self.diagonal {
            let at =
                |value: f64| format!("{:.1} {:.1}", self.x.place(value, left, right), self.y.place(value, bottom, top));
            let (low, high) = (self.x.range.0.min(self.y.range.0), self.x.range.1.max(self.y.range.1));
            put(format!(
                r##"<path d="M{}L{}" stroke="#aaa" stroke-dasharray="2 4" clip-path="url(#plot)"/>"##,
                at(low),
                at(high)
            ));
        }
        for (index, series) in self.series.iter().enumerate() {
            let place = |&(x, y): &(f64, f64)| (self.x.place(x, left, right), self.y.place(y, bottom, top));
            let places: Vec<(f64, f64)> = series.points.iter().map(place).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let Stroke { color, dash, width } = series.stroke;
            let style = format!(
                r#"fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dash}" stroke-linejoin="round""#
            );
            put(format!(r#"<path d="M{}" {style} clip-path="url(#plot)"/>"#, path.join("L")));
            // A mark on the frame is shown whole.
            let inside = |(x, y): &&(f64, f64)| (left..=right).contains(x) && (top..=bottom).contains(y);
            for (x, y) in places.iter().filter(inside).filter(|_| series.marked) {
                put(format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{color}"/>"#));
            }
            let y = top + 14.0 + 24.0 * index as f64;
            put(format!(r#"<path d="M{LEGEND} {y}h34" {style}/>"#));
            put(format!(r#"<text x="{}" y="{}">{}</text>"#, LEGEND + 44.0, y + 4.5, escaped(&series.label)));
        }
        put("</svg>".to_string());
        svg
    }
}

impl Axis {
    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let (low, high) = self.range;
        from + (value - low) / (high - low) * (to - from)
    }
}

/// Round numbers from end to end, between four and ten of them.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough * 0.999);
    let step = step.unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let text = |range| ticks(range).into_iter().map(number).collect::<Vec<_>>().join(" ");
        assert_eq!(text((0.0, 1.0)), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(text((0.0, 20.0)), "0 5 10 15 20");
        assert_eq!(text((0.87, 1.0)), "0.9 0.95 1");
    }

    #[test]
    fn a_chart_is_well_formed_whatever_its_labels_say() {
        let stroke = Stroke { color: "#000", dash: "4 2", width: 2.0 };
        let axis = |label: &str| Axis { label: label.into(), range: (0.0, 1.0) };
        let series =
            Series { label: "a & b".into(), points: vec![(0.0, 0.0), (1.0, 1.0), (1.5, 1.0)], stroke, marked: true };
        let chart =
            Chart { title: "x < y".into(), x: axis("\"x\""), y: axis("y"), series: vec![series], diagonal: true };
        let svg = chart.svg();
        assert!(svg.contains("a &amp; b") && svg.contains("x &lt; y") && svg.contains("&quot;x&quot;"));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        let opened = svg.matches("<text").count();
        assert_eq!(opened, svg.matches("</text>").count());
        // The diagonal of the unit square runs from the lower left to the upper right corner.
        assert!(svg.contains(r##"d="M70.0 444.0L540.0 44.0L775.0 44.0" fill="none" stroke="#000""##), "{svg}");
        // Both its ends are marked, the point beyond the axes is not.
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
