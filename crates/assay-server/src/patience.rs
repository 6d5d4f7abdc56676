//! A connection that is given up when its other end takes nothing any more.
//!
//! Who does not read lets everything wait that is to be written: the connection, what is held for
//! it, and the place of its stream, for as long as the other machine says that it is there.

use std::io::{Error, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A connection, and how long it may take nothing.
#[derive(Debug)]
pub struct Patient {
    stream: TcpStream,
    stalled_max: Duration,
    /// Since the last time that something could not be written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Gives this connection up when nothing could be written for so long.
    pub fn new(stream: TcpStream, stalled_max: Duration) -> Patient {
        Patient { stream, stalled_max, stalled: None }
    }

    /// What came of a try to write, unless it was one too many.
    fn judge<T>(
        &mut self,
        context: &mut Context,
        tried: Poll<Result<T, Error>>,
    ) -> Poll<Result<T, Error>> {
        if tried.is_ready() {
            self.stalled = None;
            return tried;
        }
        let stalled_max = self.stalled_max;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(stalled_max)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        let tried = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, tried)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        pieces: &[IoSlice],
    ) -> Poll<Result<usize, Error>> {
        let tried = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judge(context, tried)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
