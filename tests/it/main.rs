//! The integration tests, one binary.

/// Tiny photos, strokes and arrays to run the program on, and readers for what it writes.
mod desk;

/// What the program promises at its borders: files found and written, exit codes, messages.
mod program;

/// What the written files promise to each other: marginals, mask, log-odds, report.
mod outputs;

/// Cut-outs and overlays with the depth, opacity, profile and resolution of the photo.
mod faithful;

/// Every kind of report against the published JSON Schema.
mod schema;

/// Tiny models against the printed formula over all sets.
mod proof;

/// Certificates of random models at any scale against an exact twin.
mod exact;

/// Costs far beyond ordinary through the program.
mod scale;

/// The cut model on whole photos against a minimum cut.
mod cut;

/// `segment --method`: mean field and belief propagation in the program.
mod rivals;

/// `segment --temperature`: the scale of the probabilities, given and fitted.
mod temperature;

/// `lfield superpixels`: label maps, pictures and summary.
mod superpixels;

/// `lfield evaluate`: scores, files, and going on after an interrupt.
mod evaluate;

/// The session on files: observers that stop it, and what is left behind.
mod library;

/// The session in memory: any order of changes, warm against cold.
mod session;

/// Which folder may use which.
mod tree;

/// `lfield batch` and `lfield merge`: whole folders, interrupted, divided and joined again.
mod batch;

/// `lfield paint`: strokes by HTTP, files, restarts, attacks.
#[cfg(feature = "paint")]
mod paint;

/// What is refused, with which code and in which words.
#[cfg(unix)]
mod bad_input;

/// Strokes as painting programs, annotation tools and phones save them.
mod painted;

/// What the fuzzers start from, and what they have found.
mod seeds;
