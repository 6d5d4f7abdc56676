//! Rows of the journal on their way from one who has the store open to another of the same process.
//!
//! Whoever writes knows every row that he writes. One who reads beside him would have SQLite fetch
//! each of them again and take it apart; so he hears of it here, and asks the database only for
//! what he has not heard. Nothing rests on it: rows are put here once they are durable, whoever
//! reads is told by the database in the same moment as ever which rows are missing and which have
//! been moved, and what finds no room here is found there.

use super::group::Row;
use super::recent::Seq;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What waits for somebody who does not read, in bytes of keys and values, and in rows.
const BYTES_MAX: usize = 4 << 20;
const ROWS_MAX: usize = 1024;

/// A row that somebody has learned.
#[derive(Debug)]
pub(super) struct News {
    /// The last row that he knew before: there is none in between.
    pub(super) after: Seq,
    /// The row.
    pub(super) seq: Seq,
    /// What it says.
    pub(super) row: Row,
}

/// Rows that wait.
#[derive(Default, Debug)]
pub(super) struct Feed {
    waiting: Mutex<Waiting>,
}

#[derive(Default, Debug)]
struct Waiting {
    news: VecDeque<News>,
    bytes: usize,
}

impl Feed {
    /// One more row of so many bytes.
    pub(super) fn push(&self, news: News, bytes: usize) {
        let mut waiting = self.waiting();
        if waiting.bytes + bytes > BYTES_MAX || waiting.news.len() >= ROWS_MAX {
            // Whoever comes for them finds that some are missing.
            *waiting = Waiting::default();
        }
        waiting.bytes += bytes;
        waiting.news.push_back(news);
    }

    /// All of them, the oldest first.
    pub(super) fn take(&self) -> VecDeque<News> {
        std::mem::take(&mut *self.waiting()).news
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nobody panics in between, and half a change would be none that matters.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
