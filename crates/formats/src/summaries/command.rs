//! Commands that were echoed before the outputs of tools: they have what an output lacks.

use super::units;

/// The options that a tool's command has for what outputs lack.
struct ToolOptions {
    tool: &'static str,
    concurrency: &'static [&'static str],
    /// Requests that each connection has in flight at once, if that is not in the output.
    streams: &'static [&'static str],
    timeout: &'static [&'static str],
    rate: &'static [&'static str],
}

impl ToolOptions {
    const NONE: Self = Self { tool: "", concurrency: &["-c"], streams: &[], timeout: &[], rate: &[] };
}

/// The digits of a present moment in seconds since 1970.
const EPOCH: usize = 10;

const CONNECTIONS: &[&str] = &["-c", "--connections"];

const TOOLS: [ToolOptions; 12] = [
    ToolOptions { tool: "wrk", concurrency: CONNECTIONS, timeout: &["--timeout", "-T"], ..ToolOptions::NONE },
    ToolOptions {
        tool: "wrk2",
        concurrency: CONNECTIONS,
        timeout: &["--timeout"],
        rate: &["-R", "--rate"],
        ..ToolOptions::NONE
    },
    ToolOptions { tool: "ab", timeout: &["-s"], ..ToolOptions::NONE },
    ToolOptions { tool: "weighttp", ..ToolOptions::NONE },
    ToolOptions { tool: "hey", timeout: &["-t"], rate: &["-q"], ..ToolOptions::NONE },
    ToolOptions { tool: "oha", streams: &["-p"], timeout: &["-t"], rate: &["-q"], ..ToolOptions::NONE },
    ToolOptions {
        tool: "h2load",
        concurrency: &["-c", "--clients"],
        streams: &["-m", "--max-concurrent-streams"],
        timeout: &["-N", "-T"],
        rate: &["-r", "--rate"],
    },
    ToolOptions {
        tool: "autocannon",
        concurrency: CONNECTIONS,
        timeout: &["-t", "--timeout"],
        rate: &["-R"],
        ..ToolOptions::NONE
    },
    ToolOptions {
        tool: "bombardier",
        concurrency: CONNECTIONS,
        timeout: &["-t", "--timeout"],
        rate: &["-r", "--rate"],
        ..ToolOptions::NONE
    },
    ToolOptions { tool: "siege", concurrency: &["-c", "--concurrent"], ..ToolOptions::NONE },
    ToolOptions { tool: "k6", concurrency: &["-u", "--vus"], ..ToolOptions::NONE },
    ToolOptions { tool: "locust", concurrency: &["-u", "--users"], ..ToolOptions::NONE },
];

/// The most words of a command that are looked at.
const MOST_WORDS: usize = 1000;

/// A command of a load tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub tool: &'static str,
    pub concurrency: Option<u32>,
    /// Requests that each connection has in flight at once, if that is known.
    pub streams: Option<u32>,
    pub timeout: Option<String>,
    pub rate: Option<String>,
    pub url: Option<String>,
    /// The time before the command, in ms since 1970.
    pub began_ms: Option<i64>,
}

impl Command {
    /// Reads a line such as `wrk -c 64 URL`, which a prompt, hash signs or a time may precede.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip_while(|word| !is_name(word));
        let name = words.next()?.rsplit('/').next()?;
        let options = TOOLS.iter().find(|options| options.tool == name)?;
        let words: Vec<&str> = words.take(MOST_WORDS).collect();
        let url = words.iter().find(|word| word.starts_with("http://") || word.starts_with("https://"));
        let has_options = words.first().is_some_and(|word| word.starts_with('-') || *word == "run");
        if url.is_none() && !has_options {
            return None;
        }
        let value = |names: &[&str]| value_of(&words, names);
        // Some tools' options depend on how they were built: wrk2 is installed as wrk, and has -R.
        let rate = value(options.rate).or_else(|| value(&["-R"]).filter(|_| name == "wrk"));
        Some(Self {
            tool: if name == "wrk" && rate.is_some() { "wrk2" } else { options.tool },
            concurrency: value(options.concurrency).and_then(|text| text.parse().ok()),
            streams: match options.tool {
                "wrk" => pipelined_by_script(&words),
                _ => value(options.streams).map_or(Some(1), |text| text.parse().ok()),
            },
            timeout: value(options.timeout),
            rate,
            url: url.map(|url| (*url).to_owned()),
            began_ms: line.split_whitespace().take_while(|word| !is_name(word)).find_map(epoch_ms),
        })
    }
}

/// Returns true for the first word that is no prompt, hash sign or time.
fn is_name(word: &str) -> bool {
    !word.bytes().all(|byte| byte.is_ascii_digit() || b"$#>%+.:-TZ[]".contains(&byte))
}

/// Reads seconds since 1970, as `date +%s.%N` writes them, in ms.
fn epoch_ms(word: &str) -> Option<i64> {
    let digits = word.split('.').next().unwrap_or_default().len();
    let seconds = units::number(word).filter(|_| digits == EPOCH)?;
    Some((seconds * 1e3).round() as i64)
}

/// The number of requests that wrk sends at once on each connection: more than one only by a script, to which the number
/// is passed after `--`, as in `-s pipeline.lua URL -- 16`.
fn pipelined_by_script(words: &[&str]) -> Option<u32> {
    let mut words = words.split(|word| *word == "--");
    let is_pipelined = words.next()?.iter().any(|word| word.ends_with(".lua") && word.contains("pipeline"));
    if is_pipelined { words.next()?.first()?.parse().ok() } else { Some(1) }
}

/// The value of an option: the word after it, or what it is joined to.
fn value_of(words: &[&str], names: &[&str]) -> Option<String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        for name in names {
            if word == name {
                return rest.next().map(|value| (*value).to_owned());
            }
            let joined = word.strip_prefix(name).map(|value| value.trim_start_matches('='));
            let is_value = |value: &&str| value.starts_with(|c: char| c.is_ascii_digit());
            if let Some(value) = joined.filter(is_value) {
                return Some(value.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_behind_prompts_and_times() {
        let command =
            Command::read("### 1795348945.676298450 wrk -c 50 -t 2 --timeout 5s http://127.0.0.1:8180/fib")
                .unwrap();
        assert_eq!(
            (command.tool, command.concurrency, command.timeout.as_deref()),
            ("wrk", Some(50), Some("5s"))
        );
        assert_eq!(command.url.as_deref(), Some("http://127.0.0.1:8180/fib"));
        assert_eq!(command.began_ms, Some(1_795_348_945_676));
        let command = Command::read("$ /usr/bin/wrk -t2 -c100 -R2000 http://h/").unwrap();
        assert_eq!(
            (command.tool, command.concurrency, command.rate.as_deref()),
            ("wrk2", Some(100), Some("2000"))
        );
        let command = Command::read("ab -r -k -c=20000 -n 1000000 localhost:9098/hello").unwrap();
        assert_eq!((command.tool, command.concurrency, command.began_ms), ("ab", Some(20000), None));
        assert_eq!(
            Command::read("17:05:01 wrk -c 50 http://h/").unwrap().began_ms,
            None,
            "a time without its day"
        );
    }

    #[test]
    fn prose_is_no_command() {
        for line in
            ["wrk is a tool", "about wrk -c 10", "", "ab", "weighttp 0.3 - a lightweight tool", "$ ls -l"]
        {
            assert_eq!(Command::read(line), None, "{line}");
        }
    }
}
