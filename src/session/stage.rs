//! What is kept between solves: each value with the key of what it was made from.

use std::fmt::Debug;
use std::sync::Arc;

use crate::read::Digest;

/// The key of anything whose `Debug` text tells it apart.
pub(super) fn key(parts: &dyn Debug) -> Digest {
    Digest::of(format!("{parts:?}").as_bytes())
}

/// An input with the hash of its content.
#[derive(Clone, Debug)]
pub(super) struct Keyed<T> {
    pub(super) key: Digest,
    pub(super) value: Arc<T>,
}

/// The last value of a stage.
#[derive(Debug)]
pub(super) struct Stage<T>(Option<Keyed<T>>);

impl<T> Default for Stage<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Stage<T> {
    /// The value, if it was made from the same.
    pub(super) fn get(&self, key: Digest) -> Option<Arc<T>> {
        self.0.as_ref().filter(|kept| kept.key == key).map(|kept| Arc::clone(&kept.value))
    }

    /// The value, whatever it was made from.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        self.0.as_ref().map(|kept| Arc::clone(&kept.value))
    }

    /// Takes the place of what was there.
    pub(super) fn put(&mut self, key: Digest, value: Arc<T>) {
        self.0 = Some(Keyed { key, value });
    }
}
