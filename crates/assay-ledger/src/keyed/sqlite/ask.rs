//! A journey to the thread of SQLite, and back with everything that it says.

use super::statements::Text;
use futures_util::TryStreamExt;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Either, Executor, SqliteConnection};

/// A text with what is bound to it.
pub(super) type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, SqliteArguments>;

/// Why a text was not said to its end.
#[derive(Debug)]
pub(super) struct BrokeOff {
    /// How many statements of it were done.
    pub(super) done: usize,
    /// Why no more.
    pub(super) error: sqlx::Error,
}

#[cfg(test)]
thread_local! {
    /// Texts that this thread has said.
    pub(super) static JOURNEYS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Says a text, and gives the rows of all its statements. Each statement tells its end: if the
/// thread is lost, all that is heard of it is that nothing more comes, and a COMMIT of which nobody
/// has heard the end is none.
pub(super) async fn say<'q>(
    connection: &mut SqliteConnection,
    text: Text,
    bind: impl FnOnce(Query<'q>) -> Query<'q>,
) -> Result<Vec<SqliteRow>, BrokeOff> {
    #[cfg(test)]
    JOURNEYS.set(JOURNEYS.get() + 1);
    let Text { sql, statements } = text;
    let mut said = connection.fetch_many(bind(sqlx::query(sqlx::AssertSqlSafe(sql))));
    let (mut rows, mut done) = (Vec::new(), 0);
    loop {
        match said.try_next().await {
            Ok(Some(Either::Left(_))) => done += 1,
            Ok(Some(Either::Right(row))) => rows.push(row),
            Ok(None) if done == statements => return Ok(rows),
            Ok(None) => return Err(BrokeOff { done, error: sqlx::Error::WorkerCrashed }),
            Err(error) => return Err(BrokeOff { done, error }),
        }
    }
}
