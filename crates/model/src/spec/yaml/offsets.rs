//! From positions in characters, which the parser reports, to positions in bytes.

/// The byte offsets of a text's characters.
pub(super) struct Offsets {
    /// The byte offset of every 16th character; empty for ASCII, where both are equal.
    samples: Vec<usize>,
}

impl Offsets {
    const STEP: usize = 16;

    pub(super) fn new(text: &str) -> Self {
        let samples = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices()
                .step_by(Self::STEP)
                .map(|(offset, _)| offset)
                .collect()
        };
        Self { samples }
    }

    /// The byte offset of a character of the text; its length for those behind the end.
    pub(super) fn byte(&self, text: &str, character: usize) -> usize {
        if self.samples.is_empty() {
            return character.min(text.len());
        }
        let Some(sample) = self.samples.get(character / Self::STEP) else {
            return text.len();
        };
        text.get(*sample..)
            .and_then(|rest| rest.char_indices().nth(character % Self::STEP))
            .map_or(text.len(), |(offset, _)| sample + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_byte() {
        let mixed: String = "a한语é\u{1f600}".repeat(100);
        for text in ["", "plain", mixed.as_str()] {
            let offsets = Offsets::new(text);
            for (character, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(offsets.byte(text, character), byte);
            }
            assert_eq!(offsets.byte(text, text.chars().count()), text.len());
            assert_eq!(offsets.byte(text, usize::MAX), text.len());
        }
    }
}
