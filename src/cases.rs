//! How many cases a property test tries. `LFIELD_NIGHTLY=1` has it try ten times as many; what it asserts is the same.

use proptest::test_runner::Config;

/// The configuration of a property test that tries `n` cases on every change.
pub(crate) fn cases(n: u32) -> Config {
    let is_nightly = std::env::var_os("LFIELD_NIGHTLY").is_some_and(|value| !value.is_empty());
    Config::with_cases(if is_nightly { 10 * n } else { n })
}
