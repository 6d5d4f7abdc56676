//! Times as text.

const MS_PER_DAY: u64 = 86_400_000;

/// Milliseconds since 1970 as `2026-11-17T04:05:06.789Z`.
pub fn rfc3339(unix_ms: u64) -> String {
    let (days, ms) = (unix_ms / MS_PER_DAY, unix_ms % MS_PER_DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// The date of a day since 1970, counted in years that begin in March: then leap days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_everyone_does() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (1_794_888_306_789, "2026-11-17T04:05:06.789Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59.000Z"),
        ];
        for (ms, expected) in cases {
            assert_eq!(rfc3339(ms), expected);
        }
    }
}
