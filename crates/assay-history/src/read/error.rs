//! What can be wrong with a history file, and where.

/// Why a history could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A record is malformed.
    #[error("line {line}: {message}")]
    Record {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it and what is expected.
        message: String,
    },
    /// The bytes could not be read or decompressed.
    #[error("cannot read after line {line}: {source}{}", hint(source))]
    Io {
        /// The last line that was read whole.
        line: u64,
        /// The cause.
        source: std::io::Error,
    },
    /// No known format begins like this.
    #[error("{0}")]
    Format(String),
}

impl ReadError {
    /// A malformed record.
    pub(crate) fn record(line: u64, message: impl Into<String>) -> ReadError {
        ReadError::Record { line, message: message.into() }
    }

    /// The line the error is about, if it is about one.
    pub fn line(&self) -> Option<u64> {
        match self {
            ReadError::Record { line, .. } | ReadError::Io { line, .. } => Some(*line),
            ReadError::Format(_) => None,
        }
    }

    /// The message without the place.
    pub fn message(&self) -> String {
        match self {
            ReadError::Record { message, .. } => message.clone(),
            ReadError::Io { source, .. } => {
                format!("cannot read further: {source}{}", hint(source))
            }
            ReadError::Format(message) => message.clone(),
        }
    }
}

fn hint(source: &std::io::Error) -> &'static str {
    if source.kind() == std::io::ErrorKind::UnexpectedEof {
        " (the compressed file is cut short: a verdict on a part of a history proves nothing; \
         copy it again, or decompress what is left and check that knowingly)"
    } else {
        ""
    }
}
