//! The part of a URL behind the question mark. Every parameter has an effect, or is refused.

use crate::error::ApiError;
use assay_ledger::keyed::Order;

/// Parameters in one URL.
const PARAMETERS_MAX: usize = 256;
/// Things on one page; more are not refused, but not given either.
pub const PAGE_MAX: usize = 100;

/// The parameters that nobody has asked for yet.
#[derive(Default, Debug)]
pub struct Query {
    left: Vec<(String, String)>,
}

impl Query {
    /// Reads them.
    ///
    /// # Errors
    /// If there are too many.
    pub fn parse(text: Option<&str>) -> Result<Query, ApiError> {
        let parts = text.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let mut left = Vec::new();
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            left.push((decode(name), decode(value)));
            if left.len() > PARAMETERS_MAX {
                return Err(ApiError::invalid("the URL has too many parameters"));
            }
        }
        // Older official clients mark every route with it.
        left.retain(|(name, _)| name != "beta");
        Ok(Query { left })
    }

    /// All values of a parameter; empty ones do not count.
    pub fn all(&mut self, name: &str) -> Vec<String> {
        let (found, left) =
            std::mem::take(&mut self.left).into_iter().partition(|(n, _)| n == name);
        self.left = left;
        let found: Vec<(String, String)> = found;
        found.into_iter().map(|(_, value)| value).filter(|value| !value.is_empty()).collect()
    }

    /// The last value of a parameter.
    pub fn one(&mut self, name: &str) -> Option<String> {
        self.all(name).pop()
    }

    /// How many things are wanted.
    ///
    /// # Errors
    /// If it is not a positive number.
    pub fn limit(&mut self, usual: usize) -> Result<usize, ApiError> {
        let Some(text) = self.one("limit") else { return Ok(usual) };
        match text.parse::<u64>() {
            Ok(limit) if limit > 0 => Ok(usize::try_from(limit).unwrap_or(PAGE_MAX).min(PAGE_MAX)),
            _ => Err(ApiError::invalid("`limit` must be a positive integer")),
        }
    }

    /// In which order.
    ///
    /// # Errors
    /// If it is neither of the two.
    pub fn order(&mut self, usual: Order) -> Result<Order, ApiError> {
        match self.one("order").as_deref() {
            None => Ok(usual),
            Some("asc") => Ok(Order::Ascending),
            Some("desc") => Ok(Order::Descending),
            Some(_) => Err(ApiError::invalid("`order` must be asc or desc")),
        }
    }

    /// Yes or no; no if nothing is said.
    ///
    /// # Errors
    /// If it is neither.
    pub fn flag(&mut self, name: &str) -> Result<bool, ApiError> {
        match self.one(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(ApiError::invalid(format!("`{name}` must be true or false"))),
        }
    }

    /// When something must have been made, by `created_at[gt]` and the like.
    ///
    /// # Errors
    /// If something is no time.
    pub fn created(&mut self) -> Result<Times, ApiError> {
        let mut times = Times::default();
        for (bound, is_lower, is_open) in
            [("gt", true, true), ("gte", true, false), ("lt", false, true), ("lte", false, false)]
        {
            let name = format!("created_at[{bound}]");
            let Some(text) = self.one(&name) else { continue };
            let Ok(time) = text.parse::<jiff::Timestamp>() else {
                let what = format!("`{name}` must be a time like 2026-11-17T04:05:06Z");
                return Err(ApiError::invalid(what));
            };
            let us = time.as_microsecond();
            match is_lower {
                true => times.from_us = times.from_us.max(us.saturating_add(is_open.into())),
                false => times.to_us = times.to_us.min(us.saturating_sub(is_open.into())),
            }
        }
        Ok(times)
    }

    /// Nothing else may be left.
    ///
    /// # Errors
    /// Names the first that is.
    pub fn finish(self) -> Result<(), ApiError> {
        match self.left.into_iter().find(|(_, value)| !value.is_empty()) {
            Some((name, _)) => Err(ApiError::unsupported(&name)),
            None => Ok(()),
        }
    }
}

/// A span of time, with both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    from_us: i64,
    to_us: i64,
}

impl Default for Times {
    fn default() -> Times {
        Times { from_us: i64::MIN, to_us: i64::MAX }
    }
}

impl Times {
    /// Whether a moment, in milliseconds since 1970, is in it.
    pub fn contain_ms(&self, ms: u64) -> bool {
        let us = i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000);
        (self.from_us..=self.to_us).contains(&us)
    }

    /// Whether a moment that is written down is in it; what is no time is in none.
    pub fn contain(&self, text: &str) -> bool {
        let all = *self == Times::default();
        let within =
            |time: jiff::Timestamp| (self.from_us..=self.to_us).contains(&time.as_microsecond());
        all || text.parse().is_ok_and(within)
    }
}

fn decode(text: &str) -> String {
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let [byte, behind @ ..] = rest {
        rest = behind;
        let pair = behind.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let escaped = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        decoded.push(match (byte, escaped) {
            (b'+', _) => b' ',
            (b'%', Some(byte)) => {
                rest = &behind[2..];
                byte
            }
            (byte, _) => *byte,
        });
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_what_nobody_asked_for_is_refused() {
        let mut query =
            Query::parse(Some("types%5B%5D=a.b&types[]=c%zz+d&beta=true&limit=500")).expect("few");
        assert_eq!(query.all("types[]"), ["a.b", "c%zz d"]);
        assert_eq!(query.limit(20), Ok(PAGE_MAX));
        assert_eq!(query.finish(), Ok(()));
        for bad in ["limit=0", "limit=-1", "limit=x", "limit=1.5"] {
            let mut query = Query::parse(Some(bad)).expect("few");
            query.limit(20).expect_err(bad);
        }
        for bad in ["created_at[gt]=yesterday", "created_at[lte]=2026-11-17"] {
            let mut query = Query::parse(Some(bad)).expect("few");
            query.created().expect_err(bad);
        }
        let left = Query::parse(Some("a=&b=1")).expect("few").finish().expect_err("b");
        assert!(left.message.contains("`b`"), "{left:?}");
    }

    #[test]
    fn times_have_both_ends_or_none() {
        let at = 1_794_888_306_789;
        let cases = [
            ("", true),
            ("created_at[gte]=2026-11-17T04:05:06.789Z", true),
            ("created_at[gt]=2026-11-17T04:05:06.789Z", false),
            ("created_at[gt]=2026-11-17T04:05:06.788999Z", true),
            ("created_at[lte]=2026-11-17T05:05:06.789%2B01:00", true),
            ("created_at%5Blt%5D=2026-11-17T04:05:06.789Z", false),
            ("created_at[gte]=2026-11-17T04:05:07Z&created_at[lte]=2026-11-18T00:00:00Z", false),
        ];
        for (text, expected) in cases {
            let mut query = Query::parse(Some(text)).expect("few");
            let times = query.created().expect(text);
            query.finish().expect("all of it");
            assert_eq!(times.contain_ms(at), expected, "{text}");
            assert_eq!(times.contain("2026-11-17T04:05:06.789Z"), expected, "{text}");
        }
    }
}
