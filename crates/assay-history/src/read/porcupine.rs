//! Porcupine logs.
use super::detect::Source;
use super::{ReadError, ReadOptions};
use crate::history::History;
pub(super) fn read(_source: Source<'_>, _options: &ReadOptions<'_>) -> Result<History, ReadError> {
    Err(ReadError::Format(String::new()))
}
