//! Addresses that open one report for a short while. Who has a key gets one; the browser needs
//! nothing else to open the page, and who finds the address later finds nothing behind it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a ticket opens something.
const LIFE: Duration = Duration::from_secs(60);
/// Tickets at a time; more than this many people do not open reports within a minute.
const TICKETS_MAX: usize = 1000;
/// Bytes of chance in a ticket.
const BYTES: usize = 32;

/// Tickets that are valid, by their text: what they open, and until when.
#[derive(Debug, Default)]
pub struct Tickets {
    valid: Mutex<BTreeMap<String, (String, Instant)>>,
}

impl Tickets {
    /// A new one for the report of `id`; nothing if there are too many, or no randomness.
    pub fn issue(&self, id: &str, now: Instant) -> Option<String> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).ok()?;
        let ticket = URL_SAFE_NO_PAD.encode(bytes);
        let mut valid = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        valid.retain(|_, (_, until)| now < *until);
        if valid.len() >= TICKETS_MAX {
            return None;
        }
        valid.insert(ticket.clone(), (id.to_string(), now + LIFE));
        Some(ticket)
    }

    /// What a ticket opens.
    pub fn open(&self, ticket: &str, now: Instant) -> Option<String> {
        let valid = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, until) = valid.get(ticket)?;
        (now < *until).then(|| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_opens_one_report_for_a_while_and_there_is_a_limit_of_them() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let one = tickets.issue("a", now).expect("a ticket");
        let other = tickets.issue("b", now).expect("a ticket");
        assert_ne!(one, other);
        assert_eq!(tickets.open(&one, now + LIFE / 2).as_deref(), Some("a"));
        assert_eq!(tickets.open(&one, now + LIFE), None);
        assert_eq!(tickets.open("", now), None);
        for _ in 2..TICKETS_MAX {
            tickets.issue("a", now).expect("there is room");
        }
        assert_eq!(tickets.issue("a", now), None);
        tickets.issue("a", now + LIFE).expect("old ones make room");
    }
}
