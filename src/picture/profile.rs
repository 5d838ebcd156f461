//! Colour profiles are not applied, so they are not unfolded either.
//!
//! A PNG holds its profile compressed, and its decoder unfolds it while it reads the header, whoever asks: 2.6 MB of file become as many
//! bytes as the decoder may use. So the profile leaves the file before the decoder sees it. Other formats store it as it is.

/// Takes the profiles out of a PNG; a file that does not have its structure is left to the decoder to refuse.
pub(super) fn drop_profiles(png: &mut Vec<u8>) {
    let (mut at, mut kept) = (SIGNATURE, SIGNATURE);
    // Behind the first pixels no decoder looks for a profile.
    while let Some((kind, end)) = chunk(png, at)
        && kind != *b"IDAT"
    {
        if kind != *b"iCCP" {
            png.copy_within(at..end, kept);
            kept += end - at;
        }
        at = end;
    }
    if kept < at {
        png.drain(kept..at);
    }
}

/// Length of what a PNG begins with, before its first chunk.
const SIGNATURE: usize = 8;

/// The kind of the chunk that begins at `at`, and where it ends, if that is inside the file.
fn chunk(png: &[u8], at: usize) -> Option<([u8; 4], usize)> {
    let &[a, b, c, d, kind @ ..] = png.get(at..)?.first_chunk::<8>()?;
    // Its length counts neither itself, nor the kind, nor the checksum behind the payload.
    let end = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?.checked_add(12)?.checked_add(at)?;
    (end <= png.len()).then_some((kind, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_of(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, payload) in chunks {
            png.extend((payload.len() as u32).to_be_bytes());
            png.extend(*kind);
            png.extend(*payload);
            png.extend(b"CRC.");
        }
        png
    }

    #[test]
    fn all_profiles_before_the_pixels_go_and_nothing_else() {
        let profile: (_, &[u8]) = (b"iCCP", b"a profile");
        let rest: [(_, &[u8]); 5] =
            [(b"IHDR", b"size"), (b"gAMA", b""), (b"tEXt", b"iCCP"), (b"IDAT", b"pixels"), (b"iCCP", b"late")];
        let [ihdr, gama, text, idat, late] = rest;
        let mut png = made_of(&[ihdr, profile, gama, profile, profile, text, profile, idat, late]);
        drop_profiles(&mut png);
        assert_eq!(png, made_of(&rest));
        let plain = png.clone();
        drop_profiles(&mut png);
        assert_eq!(png, plain);
    }

    #[test]
    fn every_cut_of_a_file_is_left_to_the_decoder() {
        let whole = made_of(&[(b"IHDR", b"size"), (b"iCCP", b"a profile")]);
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            drop_profiles(&mut cut);
            assert_eq!(cut, whole[..length]);
        }
        let mut endless = whole.clone();
        endless[8..12].fill(0xff);
        let same = endless.clone();
        drop_profiles(&mut endless);
        assert_eq!(endless, same);
    }
}
