//! Pairs in PostgreSQL.
//!
//! A connection can break while a commit is on its way, and then nobody knows whether it arrived.
//! Here it is found out. One row says who may write and how many commits that one has made; each
//! commit counts it up, by exactly one and only for the one who is named there. So whoever comes
//! back after a break looks at the row: counted up, and the commit was written; not counted, and
//! it is sent again, which cannot happen twice; another name, and somebody else has taken over,
//! after whom nothing may be written. A lock that ends with its connection keeps a second server
//! from taking over while the first one lives.

mod address;
mod link;
mod schema;
mod writer;

pub use address::PostgresAddress;

use super::{KeyRange, Order, Pair, Store, StoreError, Writes, check_sizes, in_order};
use link::{Asked, Link};
use schema::Found;
use sqlx::PgConnection;
use writer::Writer;

/// Pairs and bytes that are sent at once.
const SENT_PAIRS_MAX: usize = 1000;
const SENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Pairs in a database. All calls block; a connection that is lost comes back by itself.
pub struct PostgresStore {
    link: Link,
    /// What makes it the one server of the store; others are guests.
    writer: Option<Writer>,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PostgresStore({})", self.link.place())
    }
}

impl PostgresStore {
    /// Opens the store as its one server, and makes it if there is none. Waits a little for one
    /// that has just ended.
    ///
    /// # Errors
    /// If the database cannot be reached or cannot promise durability, if what is there is none of
    /// ours or too new, or if another server has it.
    pub fn open_server(address: &PostgresAddress) -> Result<PostgresStore, StoreError> {
        let mut store = PostgresStore::open_guest(address)?;
        store.writer = Some(Writer::begin(&mut store.link)?);
        Ok(store)
    }

    /// Opens it to read, and for single writes beside the server. Whether a write happened whose
    /// connection broke is not known then.
    ///
    /// # Errors
    /// As above; other servers do not matter.
    pub fn open_guest(address: &PostgresAddress) -> Result<PostgresStore, StoreError> {
        let mut link = Link::open(address.clone())?;
        if let Found::Unfit(why) = link.read("open", schema::fitness)? {
            return Err(StoreError::Unfit { place: link.place(), why });
        }
        let place = link.place();
        link.read("make the tables", async |connection| {
            schema::prepare(connection, &place).await
        })??;
        Ok(PostgresStore { link, writer: None })
    }

    /// Asks until there is an answer. A server that comes back sees first that it is still the one.
    fn read<T>(
        &mut self,
        question: impl AsyncFn(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        match &mut self.writer {
            None => self.link.read("read", question),
            Some(writer) => {
                let come_back = |link: &mut Link, until| writer.come_back(link, until);
                self.link.read_on("read", come_back, question)
            }
        }
    }

    /// Keys are bytes there, and texts here.
    fn texts(&self, pairs: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Vec<Pair>, StoreError> {
        let text = |key: Vec<u8>| {
            let text = String::from_utf8(key).map_err(|error| sqlx::Error::Decode(error.into()));
            text.map_err(|source| self.link.trouble("read", source))
        };
        pairs.into_iter().map(|(key, value)| Ok((text(key)?, value))).collect()
    }
}

impl Store for PostgresStore {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(async |connection| {
            let query = sqlx::query_scalar("SELECT value FROM assay.pairs WHERE key = $1");
            query.bind(key.as_bytes()).fetch_optional(connection).await
        })
    }

    fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        let found: Vec<(Vec<u8>, Vec<u8>)> = self.read(async |connection| {
            let sql = "SELECT key, value FROM assay.pairs WHERE key = ANY($1)";
            sqlx::query_as(sql).bind(&asked).fetch_all(connection).await
        })?;
        Ok(in_order(keys, self.texts(found)?))
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        let sql = match range.order {
            Order::Ascending => {
                "SELECT key, value FROM assay.pairs WHERE key >= $1 AND key < $2 \
                 ORDER BY key LIMIT $3"
            }
            Order::Descending => {
                "SELECT key, value FROM assay.pairs WHERE key >= $1 AND key < $2 \
                 ORDER BY key DESC LIMIT $3"
            }
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = self.read(async |connection| {
            let query = sqlx::query_as(sql).bind(range.from.as_bytes()).bind(range.to.as_bytes());
            query.bind(limit).fetch_all(connection).await
        })?;
        self.texts(pairs)
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        check_sizes(writes)?;
        match &mut self.writer {
            Some(writer) => writer.commit(&mut self.link, writes),
            None => commit_as_guest(&mut self.link, writes),
        }
    }
}

fn commit_as_guest(link: &mut Link, writes: &Writes) -> Result<(), StoreError> {
    link.connect(link.patience())?;
    let mut is_sent = false;
    let asked = link.ask(async |connection| {
        let mut transaction = sqlx::Connection::begin(connection).await?;
        write(&mut transaction, writes).await?;
        is_sent = true;
        transaction.commit().await
    });
    match asked {
        Asked::Answer(()) => Ok(()),
        Asked::Lost(source) if is_sent => {
            let source = Some(Box::new(link.trouble("write", source)));
            Err(StoreError::Unknown { place: link.place(), source })
        }
        Asked::Lost(source) | Asked::Refused(source) => Err(link.trouble("write", source)),
    }
}

/// Sends what is to be written, many at once.
async fn write(connection: &mut PgConnection, writes: &Writes) -> Result<(), sqlx::Error> {
    let gone = writes.iter().filter(|(_, value)| value.is_none());
    let gone: Vec<&[u8]> = gone.map(|(key, _)| key.as_bytes()).collect();
    for keys in gone.chunks(SENT_PAIRS_MAX) {
        let query = sqlx::query("DELETE FROM assay.pairs WHERE key = ANY($1)").bind(keys);
        query.execute(&mut *connection).await?;
    }
    let (mut keys, mut values, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (key, value) in writes {
        let Some(value) = value else { continue };
        if keys.len() >= SENT_PAIRS_MAX || bytes + value.len() > SENT_BYTES_MAX {
            put(connection, &keys, &values).await?;
            (keys, values, bytes) = (Vec::new(), Vec::new(), 0);
        }
        keys.push(key.as_bytes());
        values.push(value.as_slice());
        bytes += value.len();
    }
    put(connection, &keys, &values).await
}

async fn put(
    connection: &mut PgConnection,
    keys: &[&[u8]],
    values: &[&[u8]],
) -> Result<(), sqlx::Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO assay.pairs (key, value) SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlx::query(sql).bind(keys).bind(values).execute(connection).await.map(drop)
}
