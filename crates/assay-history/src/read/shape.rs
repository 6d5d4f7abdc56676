//! The memory that makes stepping over what stands in every record cheap.

/// The longest text that a [`Piece`] holds.
pub(super) const PIECE_BYTES_MAX: usize = 32;

/// The most fields of a record that a [`Shape`] remembers.
const LEARNT_FIELDS_MAX: usize = 32;

/// A short text as two halves, each with the bits that count: compared without a loop.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    halves: [u128; 2],
    masks: [u128; 2],
    length: usize,
}

/// The first 32 bytes of a text as two numbers; `None` if it is shorter.
#[inline]
fn halves(text: &[u8]) -> Option<[u128; 2]> {
    let (low, rest) = text.split_first_chunk::<16>()?;
    let high = rest.first_chunk::<16>()?;
    Some([u128::from_le_bytes(*low), u128::from_le_bytes(*high)])
}

/// The same of a shorter text, with zeros behind it.
#[cold]
fn padded_halves(text: &[u8]) -> [u128; 2] {
    let mut bytes = [0; PIECE_BYTES_MAX];
    bytes[..text.len()].copy_from_slice(text);
    halves(&bytes).expect("32 bytes have two halves")
}

impl Piece {
    /// `None` for a text longer than [`PIECE_BYTES_MAX`].
    pub(super) fn new(text: &[u8]) -> Option<Piece> {
        let length = text.len();
        let masks = [0xff; PIECE_BYTES_MAX];
        (length <= PIECE_BYTES_MAX).then(|| Piece {
            halves: padded_halves(text),
            masks: padded_halves(&masks[..length]),
            length,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Whether `text` begins with this piece.
    #[inline]
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        let [low, high] = match halves(text) {
            Some(both) => both,
            None if text.len() < self.length => return false,
            None => padded_halves(text),
        };
        (low & self.masks[0]) == self.halves[0] && (high & self.masks[1]) == self.halves[1]
    }
}

/// The fields of the last record of a kind. Recorders write the same fields in the same order every
/// time, so comparing with what stood in this place last time beats looking a name up.
pub(super) struct Shape<S> {
    /// By place; the first places may belong to the shape of another kind.
    fields: Vec<Option<(Piece, S)>>,
}

impl<S: Copy> Shape<S> {
    pub(super) fn new() -> Shape<S> {
        Shape { fields: Vec::new() }
    }

    /// If the text goes on like the last record did: how many bytes lie before the value, and which
    /// field it is.
    #[inline]
    pub(super) fn guess(&self, place: usize, rest: &[u8]) -> Option<(usize, S)> {
        let (piece, field) = self.fields.get(place)?.as_ref()?;
        piece.begins(rest).then_some((piece.length, *field))
    }

    /// Remembers that `text` (the name and all that separates it from its value) stood in this
    /// place.
    pub(super) fn learn(&mut self, place: usize, text: &str, field: S) {
        let Some(piece) = Piece::new(text.as_bytes()) else { return };
        if place >= LEARNT_FIELDS_MAX {
            return;
        }
        if self.fields.len() <= place {
            self.fields.resize_with(place + 1, || None);
        }
        self.fields[place] = Some((piece, field));
    }
}
