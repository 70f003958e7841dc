//! The style of the file, without what only its authors read: it is a part of a small report that can be seen.

use std::sync::LazyLock;

/// The style of the file.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| tight(include_str!("style.css")));

/// Returns a style without comments, indentation, ends of lines and spaces that mean nothing. A comment takes whole lines,
/// and a declaration begins its line or stands behind `{ ` or `; `.
fn tight(css: &str) -> String {
    let lines = css.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("/*"));
    lines.map(tight_line).collect()
}

/// Returns a line with the spaces that part what can't run together.
fn tight_line(line: &str) -> String {
    let line =
        line.replace(" { ", "{").replace(" {", "{").replace("; }", "}").replace("; ", ";").replace(", ", ",");
    // In a selector, a colon never has a space behind it.
    line.replace(": ", ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_is_tight() {
        let css = "/* Said. */\n\n:root {\n  --paper: light-dark(#fff, #16191d);\n}\n\
            .a b:hover, td { width: calc(100% - 7px); margin: 0 auto; }\n@media print {\n  /* One. */\n  p { gap: 0; }\n}\n";
        let expected = ":root{--paper:light-dark(#fff,#16191d);}.a b:hover,td{width:calc(100% - 7px);margin:0 auto}\
            @media print{p{gap:0}}";
        assert_eq!(tight(css), expected);
    }

    #[test]
    fn comments_of_the_style_take_whole_lines() {
        for line in
            include_str!("style.css").lines().filter(|line| line.contains("/*") || line.contains("*/"))
        {
            let line = line.trim();
            assert!(line.starts_with("/*") && line.ends_with("*/"), "{line}");
        }
    }
}
