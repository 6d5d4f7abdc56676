//! Agent sessions over REST and server-sent events.
