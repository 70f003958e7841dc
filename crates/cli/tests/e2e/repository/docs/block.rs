//! The fenced blocks of a page.

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) language: String,
    /// What else stands behind the fence, as `exit:4`.
    pub(super) attributes: Vec<String>,
    /// The number of its first line within the page, from 0; the fence is above it.
    pub(super) first_line: usize,
    pub(super) lines: Vec<String>,
}

impl Block {
    /// Whether an attribute stands alone, as `output`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute == name)
    }

    /// The value of an attribute, as of `exit:4`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find_map(|attribute| attribute.strip_prefix(name)?.strip_prefix(':'))
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The exit code that is expected.
    pub(super) fn exit(&self) -> i32 {
        self.value("exit").map_or(0, |code| code.parse().expect("exit:N names a number"))
    }

    /// The commands of a `console` block, each with the lines of its output.
    pub(super) fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), line.strip_prefix("> "), commands.last_mut()) {
                (Some(text), ..) => commands.push(Command { typed: vec![text.into()], output: Vec::new() }),
                (None, Some(more), Some(last)) if last.output.is_empty() => last.typed.push(more.into()),
                (None, _, Some(last)) => last.output.push(line.clone()),
                (None, _, None) => panic!("a console block begins with `$ `, and not with: {line}"),
            }
        }
        commands
    }
}

/// A command as it is typed, perhaps in several lines, and what it prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) typed: Vec<String>,
    pub(super) output: Vec<String>,
}

impl Command {
    /// The lines of the block that it stands for.
    pub(super) fn lines(&self) -> Vec<String> {
        let prompt = |(at, line): (usize, &String)| format!("{} {line}", if at == 0 { '$' } else { '>' });
        self.typed.iter().enumerate().map(prompt).chain(self.output.iter().cloned()).collect()
    }
}

/// The blocks of a page, in their order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let mut words = info.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let text = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```");
        let lines = text.map(str::to_owned).collect();
        blocks.push(Block { language, attributes: words.collect(), first_line: at + 1, lines });
    }
    blocks
}

#[test]
fn blocks_are_found_with_their_languages_and_attributes() {
    let page = "Words\n```console exit:4\n$ a \\\n> b\nout\n$ c\n```\n```\nx\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].exit(), found[0].first_line), (4, 2));
    let [first, second] = &found[0].commands()[..] else { panic!("{found:?}") };
    assert_eq!((first.typed.join("|"), first.output.join("|")), ("a \\|b".into(), "out".into()));
    assert_eq!(second.output, Vec::<String>::new());
    let again: Vec<String> = found[0].commands().iter().flat_map(Command::lines).collect();
    assert_eq!(again, found[0].lines);
    assert_eq!(found[1].language, "");
}
