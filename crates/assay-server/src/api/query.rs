//! The part of a URL behind the question mark. Every parameter has an effect, or is refused.

use crate::error::ApiError;
use assay_ledger::keyed::Order;

/// Parameters in one URL.
const PARAMETERS_MAX: usize = 256;
/// Things on one page; more are not refused, but not given either.
pub const PAGE_MAX: usize = 100;

/// The parameters that nobody has asked for yet.
#[derive(Debug)]
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
        let left = Query::parse(Some("a=&b=1")).expect("few").finish().expect_err("b");
        assert!(left.message.contains("`b`"), "{left:?}");
    }
}
