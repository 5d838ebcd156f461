//! What of a PNG its decoder must not see: two things that show in the chunks of the file, before a pixel is decoded.
//!
//! A PNG holds its colour profile compressed, and its decoder unfolds it while it reads the header, whoever asks: 2.6 MB of file become
//! as many bytes as the decoder may use. Profiles are not applied, so they leave the file first. Other formats store them as they are.
//!
//! A palette has three bytes for every colour. The decoder takes that for granted and panics where it is not so.

/// Takes the colour profiles out; a file that does not have the structure of a PNG is left to the decoder to refuse.
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

/// Whether a palette, if there is one, has three bytes for every colour.
pub(super) fn palette_is_whole(png: &[u8]) -> bool {
    let mut at = SIGNATURE;
    while let Some((kind, end)) = chunk(png, at) {
        if kind == *b"PLTE" && !(end - at - FRAME).is_multiple_of(3) {
            return false;
        }
        at = end;
    }
    true
}

/// The payload of the first chunk of a kind before the pixels.
pub(super) fn payload(png: &[u8], wanted: [u8; 4]) -> Option<&[u8]> {
    let mut at = SIGNATURE;
    while let Some((kind, end)) = chunk(png, at)
        && kind != *b"IDAT"
    {
        if kind == wanted {
            return Some(&png[at + 8..end - 4]);
        }
        at = end;
    }
    None
}

/// Length of what a PNG begins with, before its first chunk.
const SIGNATURE: usize = 8;

/// Bytes of a chunk beside its payload: length, kind and checksum.
const FRAME: usize = 12;

/// The kind of the chunk that begins at `at`, and where it ends, if that is inside the file.
fn chunk(png: &[u8], at: usize) -> Option<([u8; 4], usize)> {
    let &[a, b, c, d, kind @ ..] = png.get(at..)?.first_chunk::<8>()?;
    let payload = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    let end = payload.checked_add(FRAME)?.checked_add(at)?;
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

    #[test]
    fn a_palette_has_three_bytes_for_every_colour() {
        for length in 0..30 {
            let png = made_of(&[(b"IHDR", b"size"), (b"PLTE", &vec![7; length]), (b"IDAT", b"pixels")]);
            assert_eq!(palette_is_whole(&png), length % 3 == 0, "{length}");
        }
        assert!(palette_is_whole(&made_of(&[(b"IHDR", b"no palette")])));
    }
}
