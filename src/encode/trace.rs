//! `STEM.trace.csv`: how the solve went, one line per certificate.

use std::fmt::Write;

/// What was known after some sweep.
#[derive(Clone, Copy, Debug)]
pub struct TraceRow {
    /// Sweeps done.
    pub sweep: usize,
    /// Seconds since the solve began.
    pub seconds: f64,
    /// Duality gap.
    pub gap: f64,
    /// The gap over the number of free pixels.
    pub gap_per_pixel: f64,
    /// Upper bound on log Z.
    pub log_z_upper: f64,
    /// Lower bound on the least energy.
    pub map_lower_bound: f64,
}

/// The trace as CSV with a header line. Numbers are written in full precision.
pub fn trace(rows: impl IntoIterator<Item = TraceRow>) -> Vec<u8> {
    let mut csv = String::from("sweep,seconds,gap,gap_per_pixel,log_z_upper,map_lower_bound\n");
    for row in rows {
        let TraceRow { sweep, seconds, gap, gap_per_pixel, log_z_upper, map_lower_bound } = row;
        writeln!(csv, "{sweep},{seconds:.6},{gap},{gap_per_pixel},{log_z_upper},{map_lower_bound}")
            .expect("written to memory");
    }
    csv.into_bytes()
}
