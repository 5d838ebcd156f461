//! `STEM.trace.csv`: how the solve went, one line per certificate.

use std::fmt::Write;

use crate::solver::Progress;

/// The trace as CSV with a header line. Numbers are written in full precision.
pub fn trace(rows: &[Progress]) -> Vec<u8> {
    let mut csv = String::from("sweep,seconds,gap,gap_per_pixel,log_z_upper,map_lower_bound\n");
    for row in rows {
        let Progress { iteration, seconds, gap, gap_per_pixel, log_z_upper, map_lower_bound } = row;
        writeln!(csv, "{iteration},{seconds:.6},{gap},{gap_per_pixel},{log_z_upper},{map_lower_bound}")
            .expect("written to memory");
    }
    csv.into_bytes()
}
