//! The time of day, for people. Nothing is decided by it.

use jiff::Timestamp;

/// Now, to the second: `2026-11-16T05:43:09Z`.
pub fn utc_now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Now, as the name of a directory: `20261116T054309Z`.
pub fn utc_name() -> String {
    Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// So many milliseconds after a moment that [`utc_now`] has given.
pub fn later(moment: &str, ms: u64) -> String {
    let Ok(moment) = moment.parse::<Timestamp>() else { return moment.to_string() };
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let later = moment.checked_add(jiff::SignedDuration::from_millis(ms)).unwrap_or(moment);
    later.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn moments_are_to_the_second_and_can_be_counted_on() {
        assert_eq!(super::later("2026-11-16T23:59:58Z", 2_500), "2026-11-17T00:00:00Z");
        assert_eq!(super::utc_now().len(), 20);
    }
}
