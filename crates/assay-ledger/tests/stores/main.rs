//! What every store of pairs promises, whichever database it is. Apart from the tests of ledgers:
//! these start programs, and what is being started has a moment the locks of whoever starts it.

#[cfg(feature = "postgres")]
mod broken_lines;
#[cfg(feature = "postgres")]
mod database;
mod keyed;
#[cfg(feature = "postgres")]
mod postgres;
