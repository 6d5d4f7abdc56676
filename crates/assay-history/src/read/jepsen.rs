//! Jepsen operations, in EDN or JSON.
use super::detect::Source;
use super::{ReadError, ReadOptions};
use crate::history::History;
pub(super) fn read_json(
    _source: Source<'_>,
    _options: &ReadOptions<'_>,
) -> Result<History, ReadError> {
    Err(ReadError::Format(String::new()))
}
pub(super) fn read_edn(
    _source: Source<'_>,
    _options: &ReadOptions<'_>,
) -> Result<History, ReadError> {
    Err(ReadError::Format(String::new()))
}
