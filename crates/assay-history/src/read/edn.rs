//! EDN.
