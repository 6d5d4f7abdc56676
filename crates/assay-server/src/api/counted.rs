//! Bodies that keep a place until their last byte is on its way.
//!
//! What is made is not sent: a client that does not read lets its answer wait in memory. So the
//! place of a request goes with each piece of its answer, and is given back when nobody holds one
//! any more: neither the body, nor the connection that still has to write it.

use crate::limits::Place;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A body that keeps a place.
struct Counted {
    body: Body,
    place: Arc<Place>,
}

/// A piece of one.
struct Piece {
    bytes: Bytes,
    _place: Arc<Place>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The same body, which keeps this place until all of it is written.
pub fn counted(body: Body, place: Place) -> Body {
    Body::new(Counted { body, place: Arc::new(place) })
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let piece = |bytes| Bytes::from_owner(Piece { bytes, _place: self.place.clone() });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
