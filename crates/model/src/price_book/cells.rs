//! Lines of a CSV text as cells that know their column.

/// A cell: its text and the column it begins at, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) column: usize,
}

/// The cells of one line; text in double quotes may hold commas and doubled quotes.
///
/// # Errors
/// The column of a quote that is not closed, or that something follows.
pub(super) fn of_line(line: &str) -> Result<Vec<Cell>, usize> {
    let mut cells = Vec::new();
    let mut characters = line.chars().zip(1..).peekable();
    loop {
        let start = characters
            .peek()
            .map_or(line.chars().count() + 1, |(_, column)| *column);
        let mut text = String::new();
        if characters
            .next_if(|(character, _)| *character == '"')
            .is_some()
        {
            loop {
                match characters.next() {
                    Some(('"', _)) => {
                        if characters
                            .next_if(|(character, _)| *character == '"')
                            .is_none()
                        {
                            break;
                        }
                        text.push('"');
                    }
                    Some((character, _)) => text.push(character),
                    None => return Err(start),
                }
            }
            if let Some((character, column)) = characters.peek()
                && *character != ','
            {
                return Err(*column);
            }
        } else {
            while let Some((character, _)) = characters.next_if(|(character, _)| *character != ',')
            {
                text.push(character);
            }
        }
        cells.push(Cell {
            text: text.trim().to_owned(),
            column: start,
        });
        if characters.next().is_none() {
            return Ok(cells);
        }
    }
}
