//! The write-ahead log goes into the database beside the commits, not in the middle of one.
//!
//! That takes longer than ten commits do. If whoever commits did it, everybody would wait; so a
//! thread does it for all, as often as there is enough to move. It never gets hold of what is
//! written meanwhile, and the log begins anew only when nothing is left: for that SQLite itself
//! moves the rest within a commit, once the log is long ([`super::LOG_FRAMES_MAX`]). It would do
//! the same if there were no thread, so that whatever goes wrong here may go wrong in silence.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// What is written between two moves, in bytes of keys and values: a few times as much in the log.
const EVERY_BYTES: usize = 1 << 20;

/// The thread, from the first move on: whoever only reads has none.
#[derive(Debug)]
pub(super) struct Checkpoints {
    options: SqliteConnectOptions,
    written: usize,
    thread: Option<Mover>,
}

#[derive(Debug)]
struct Mover {
    wanted: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Checkpoints {
    /// For the database of these options.
    pub(super) fn new(options: SqliteConnectOptions) -> Checkpoints {
        Checkpoints { options, written: 0, thread: None }
    }

    /// So much was committed.
    pub(super) fn count(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written < EVERY_BYTES {
            return;
        }
        self.written = 0;
        if self.thread.is_none() {
            self.thread = start(self.options.clone()).ok();
        }
        let Some(mover) = &self.thread else { return };
        match mover.wanted.try_send(()) {
            // It has not come to the last one yet.
            Ok(()) | Err(TrySendError::Full(())) => {}
            // It could not open the database, and may next time.
            Err(TrySendError::Disconnected(())) => self.end(),
        }
    }

    fn end(&mut self) {
        let Some(Mover { wanted, thread }) = self.thread.take() else { return };
        drop(wanted);
        // It has told of its panic itself, and nothing rests on it.
        let _panicked = thread.join();
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(options: SqliteConnectOptions) -> std::io::Result<Mover> {
    let (wanted, waiting) = sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let thread = std::thread::Builder::new().name("checkpoints".into());
    let thread = thread.spawn(move || runtime.block_on(move_when_wanted(&options, &waiting)))?;
    Ok(Mover { wanted, thread })
}

async fn move_when_wanted(options: &SqliteConnectOptions, waiting: &Receiver<()>) {
    let Ok(mut connection) = SqliteConnection::connect_with(options).await else { return };
    while waiting.recv().is_ok() {
        let moved = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut connection);
        // The next one moves it, too, or SQLite itself does.
        let _left = moved.await;
    }
    // What it leaves open is closed with the process.
    let _open = connection.close().await;
}
