//! What of a photo its 8-bit colours do not hold, for outputs that are to be as good as the photo.

/// Depth, opacity, colour profile and size of a pixel, as the photo's file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Colours and opacity in 16 bits, where the photo has more than 8 or is not opaque everywhere.
    pub rgba: Option<Vec<[u16; 4]>>,
    /// Whether the photo has more than 8 bits.
    pub is_deep: bool,
    /// The ICC profile of its colours.
    pub profile: Option<Profile>,
    /// Pixels per metre, across and down.
    pub density: Option<[u32; 2]>,
}

/// An ICC profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As it is.
    Plain(Vec<u8>),
    /// The content of a PNG's chunk `iCCP`, never unfolded: a name, and the profile compressed.
    Packed(Vec<u8>),
}

impl Original {
    /// Whether there is nothing that 8-bit colours do not hold.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
