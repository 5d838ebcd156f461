//! `STEM.path.csv`: the masks of all sizes, one row each.

use crate::session::Level;

/// The levels as CSV, the smallest mask first.
pub fn path(levels: &[Level]) -> Vec<u8> {
    let mut text = String::from("bias,area,energy,boundary,gap\n");
    for Level { bias, area, energy, boundary, gap } in levels {
        text += &format!("{bias},{area},{energy},{boundary},{}\n", finite(*gap));
    }
    text.into_bytes()
}

/// A bound that is none is left empty.
fn finite(gap: f64) -> String {
    if gap.is_finite() { gap.to_string() } else { String::new() }
}
