//! How wide the vectors of this run are.
//!
//! Loops over lanes are compiled for every instruction set and chosen by what the processor has. Lanes are numbered by the data
//! and summed in a fixed order, and no multiplication is fused with an addition, so every choice gives the same bytes.
//! `LFIELD_VECTORS=off` in the environment leaves the set that every processor of the kind has, for tests and comparisons.

use std::sync::LazyLock;

use fearless_simd::Level;

/// The instruction set to use.
pub fn level() -> Level {
    static LEVEL: LazyLock<Level> = LazyLock::new(|| match std::env::var_os("LFIELD_VECTORS") {
        Some(value) if value == "off" => Level::baseline(),
        _ => Level::new(),
    });
    *LEVEL
}

/// Every instruction set that this processor has, the one that all have first.
#[cfg(test)]
pub(crate) fn levels() -> Vec<Level> {
    let best = Level::new();
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    let between = [best.as_sse4_2().map(Level::Sse4_2), best.as_avx2().map(Level::Avx2)];
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    let between: [Option<Level>; 0] = [];
    [Some(Level::baseline())].into_iter().chain(between).flatten().chain([best]).collect()
}
