//! The integration tests, one binary.

/// Tiny photos, strokes and arrays to run the program on, and readers for what it writes.
mod desk;

/// What the program promises at its borders: files found and written, exit codes, messages.
mod program;

/// What the written files promise to each other: marginals, mask, log-odds, report.
mod outputs;

/// Tiny models against the printed formula over all sets.
mod proof;

/// `lfield superpixels`: label maps, pictures and summary.
mod superpixels;

/// The pipeline as a library: observers that stop it, and what is left behind.
mod library;
