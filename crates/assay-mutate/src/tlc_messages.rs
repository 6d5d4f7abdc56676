//! What TLC prints with `-tool`: messages with a code and a severity, and lines between them.

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// What it is about.
    pub code: u32,
    /// 0 says, 1 an error, 2 a bug of TLC, 3 warns, 4 shows a state.
    pub severity: u32,
    /// What it says.
    pub text: String,
}

/// Everything that was printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Lines outside of messages: the parser's complaints, and what the model prints.
    pub lines: Vec<String>,
}

/// Codes that are looked for.
pub mod codes {
    /// The version.
    pub const VERSION: u32 = 2262;
    /// Initial states are computed: module and configuration were accepted.
    pub const EXPLORING: u32 = 2189;
    /// How many states there are.
    pub const STATES: u32 = 2199;
    /// A state without a next one.
    pub const DEADLOCK: u32 = 2114;
    /// The beginning, or a step, leaves a variable without a value.
    pub const NOT_SPECIFIED: [u32; 2] = [2106, 2109];
    /// A property of behaviours is violated; TLC does not say which.
    pub const TEMPORAL: u32 = 2116;
    /// Properties that are violated by an initial state or by a step.
    pub const VIOLATED: [u32; 4] = [2107, 2108, 2110, 2112];
    /// The memory was used up.
    pub const MEMORY: std::ops::RangeInclusive<u32> = 1001..=1005;
    /// Introduces a trace that follows.
    pub const TRACE: u32 = 2121;
}

const START: &str = "@!@!@STARTMSG ";
const END: &str = "@!@!@ENDMSG ";

/// Reads what was printed. Never fails: what is no message is a line.
pub fn read(output: &str) -> Printed {
    let mut printed = Printed::default();
    let mut open: Option<Message> = None;
    for line in output.lines() {
        if let Some(head) = line.strip_prefix(START) {
            printed.messages.extend(open.take());
            let mut numbers = head.split([':', ' ']).map_while(|part| part.parse().ok());
            let (code, severity) =
                (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
            open = Some(Message { code, severity, text: String::new() });
        } else if line.starts_with(END) {
            printed.messages.extend(open.take());
        } else if let Some(message) = &mut open {
            if !message.text.is_empty() {
                message.text.push('\n');
            }
            message.text.push_str(line);
        } else {
            printed.lines.push(line.to_string());
        }
    }
    printed.messages.extend(open);
    printed
}

impl Printed {
    /// The last message of a code.
    pub fn last(&self, code: u32) -> Option<&Message> {
        self.messages.iter().rev().find(|message| message.code == code)
    }

    /// Errors, without the traces that belong to them.
    pub fn errors(&self) -> impl Iterator<Item = &Message> {
        self.messages
            .iter()
            .filter(|message| matches!(message.severity, 1 | 2) && message.code != codes::TRACE)
    }

    /// States generated, distinct, and left to be looked at.
    pub fn states(&self) -> Option<(u64, u64, u64)> {
        let text = self.last(codes::STATES)?.text.replace(',', "");
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
        Some((numbers.next()?, numbers.next()?, numbers.next()?))
    }

    /// `2.15`.
    pub fn version(&self) -> Option<String> {
        let text = &self.last(codes::VERSION)?.text;
        let mut words = text.split_whitespace().skip_while(|word| *word != "Version");
        words.nth(1).map(str::to_string)
    }

    /// Why module or configuration were not accepted, in one line.
    pub fn complaint(&self) -> String {
        let told = self.errors().map(|message| message.text.as_str());
        let noise = |line: &&str| {
            let line = line.trim();
            !line.is_empty()
                && !line.starts_with("Parsing file")
                && !line.starts_with("Semantic processing")
                && !line.starts_with("Residual stack trace")
        };
        let lines = self.lines.iter().map(String::as_str).filter(noise);
        let all: Vec<&str> = told.filter(|text| !text.trim().is_empty()).chain(lines).collect();
        let joined = all.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        joined.chars().take(COMPLAINT_CHARS_MAX).collect()
    }
}

/// The longest complaint that is passed on.
const COMPLAINT_CHARS_MAX: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lines_and_counts_are_told_apart() {
        let printed = read(
            "@!@!@STARTMSG 2262:0 @!@!@\nTLC2 Version 2.15 of Day Month\n@!@!@ENDMSG 2262 @!@!@\n\
             <<\"assay\", 3>>\n@!@!@STARTMSG 2114:1 @!@!@\nDeadlock reached.\n@!@!@ENDMSG 2114 \
             @!@!@\n@!@!@STARTMSG 2199:0 @!@!@\n1,005 states generated, 3 distinct states found, \
             0 states left on queue.\n",
        );
        assert_eq!(printed.version().as_deref(), Some("2.15"));
        assert_eq!(printed.lines, ["<<\"assay\", 3>>"]);
        assert_eq!(printed.errors().map(|m| m.code).collect::<Vec<_>>(), [2114]);
        assert_eq!(printed.states(), Some((1005, 3, 0)), "cut off in the middle of a message");
        assert_eq!(read("").states(), None);
        assert_eq!(read("@!@!@STARTMSG x @!@!@\n").messages[0].code, 0);
    }
}
