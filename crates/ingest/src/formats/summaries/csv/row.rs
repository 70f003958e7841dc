//! One row of CSV, whose cells may be quoted.

/// The most cells of a row that are read.
const MOST_CELLS: usize = 1000;

/// The cells of a row.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(next) = rest.next().filter(|_| cells.len() < MOST_CELLS) {
        match next {
            '"' if quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn quotes_hold_commas() {
        assert_eq!(cells("GET,\"/json, quoted \"\"x\"\"\",404\r\n"), ["GET", "/json, quoted \"x\"", "404"]);
        assert_eq!(
            (cells(""), cells("a,,")),
            (vec![String::new()], vec!["a".into(), String::new(), String::new()])
        );
    }
}
