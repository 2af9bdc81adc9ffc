//! Dates, times and durations, as the classes of `java.time` print them (ISO 8601).

use super::text::TextWriter;
use std::fmt::Write;

const DAY: i64 = 86_400;
const BILLION: i64 = 1_000_000_000;
/// The days of 400 years of the Gregorian calendar.
const DAYS_OF_CYCLE: i64 = 146_097;
/// The days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// A date of the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Date {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

/// A time of a day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeOfDay {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub nano: i64,
}

impl Date {
    /// Returns the date of a day, counted from 1970-01-01. Years of the computation begin in March, so that the day of a
    /// leap year is the last.
    fn of_day(day: i64) -> Self {
        let day = day + DAYS_TO_1970;
        let (cycle, day) = (day.div_euclid(DAYS_OF_CYCLE), day.rem_euclid(DAYS_OF_CYCLE));
        let leap_days = day / 1_460 - day / 36_524 + day / 146_096;
        let year = (day - leap_days) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        Self {
            year: cycle * 400 + year + i64::from(month >= 10),
            month: (month + 2) % 12 + 1,
            day: day - (153 * month + 2) / 5 + 1,
        }
    }

    pub fn write(self, out: &mut TextWriter<'_>) {
        if self.year > 9_999 {
            out.push('+');
        }
        write_year(out, self.year);
        let _ = write!(out, "-{:02}-{:02}", self.month, self.day);
    }
}

impl TimeOfDay {
    /// Writes the time; seconds and their fraction only if they are not 0.
    pub fn write(self, out: &mut TextWriter<'_>) {
        let _ = write!(out, "{:02}:{:02}", self.hour, self.minute);
        if self.second != 0 || self.nano != 0 {
            let _ = write!(out, ":{:02}", self.second);
            write_fraction(out, self.nano);
        }
    }
}

/// Writes a year with at least four digits.
pub(crate) fn write_year(out: &mut TextWriter<'_>, year: i64) {
    if year < 0 {
        out.push('-');
    }
    let _ = write!(out, "{:04}", year.unsigned_abs());
}

/// Writes a fraction of a second with 0, 3, 6 or 9 digits.
fn write_fraction(out: &mut TextWriter<'_>, nano: i64) {
    let _ = if nano == 0 {
        Ok(())
    } else if nano % 1_000_000 == 0 {
        write!(out, ".{:03}", nano / 1_000_000)
    } else if nano % 1_000 == 0 {
        write!(out, ".{:06}", nano / 1_000)
    } else {
        write!(out, ".{nano:09}")
    };
}

/// Writes an instant, in seconds since 1970 and nanoseconds.
pub(crate) fn write_instant(out: &mut TextWriter<'_>, seconds: i64, nano: i64) {
    Date::of_day(seconds.div_euclid(DAY)).write(out);
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let _ = write!(out, "T{hour:02}:{minute:02}:{second:02}");
    write_fraction(out, nano);
    out.push('Z');
}

/// Writes an offset from UTC, in seconds.
pub(crate) fn write_offset(out: &mut TextWriter<'_>, seconds: i64) {
    if seconds == 0 {
        return out.push('Z');
    }
    out.push(if seconds < 0 { '-' } else { '+' });
    let seconds = seconds.unsigned_abs();
    let _ = write!(out, "{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if !seconds.is_multiple_of(60) {
        let _ = write!(out, ":{:02}", seconds % 60);
    }
}

/// Writes a duration in hours, minutes and seconds. `nano` counts upwards, also for negative durations.
pub(crate) fn write_duration(out: &mut TextWriter<'_>, seconds: i64, nano: i64) {
    let is_negative = seconds < 0;
    let whole = seconds + i64::from(is_negative && nano > 0);
    let (hours, minutes, second) = (whole / 3_600, whole % 3_600 / 60, whole % 60);
    let _ = out.write_str("PT");
    if hours != 0 {
        let _ = write!(out, "{hours}H");
    }
    if minutes != 0 {
        let _ = write!(out, "{minutes}M");
    }
    if second == 0 && nano == 0 && (hours, minutes) != (0, 0) {
        return;
    }
    if is_negative && nano > 0 && second == 0 {
        out.push('-');
    }
    let _ = write!(out, "{second}");
    let mut fraction = if is_negative && nano > 0 {
        BILLION - nano
    } else {
        nano
    };
    if fraction > 0 {
        let mut digits = 9;
        while fraction % 10 == 0 {
            (fraction, digits) = (fraction / 10, digits - 1);
        }
        let _ = write!(out, ".{fraction:0digits$}");
    }
    out.push('S');
}

/// Writes a period of years, months and days.
pub(crate) fn write_period(out: &mut TextWriter<'_>, parts: [i64; 3]) {
    out.push('P');
    for (number, unit) in parts.into_iter().zip(['Y', 'M', 'D']) {
        if number != 0 {
            let _ = write!(out, "{number}{unit}");
        }
    }
    if parts == [0; 3] {
        let _ = out.write_str("0D");
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::written;
    use super::*;

    #[test]
    fn instants_have_the_date_of_their_day() {
        for (seconds, nano, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400, 500_000_000, "2000-02-29T00:00:00.500Z"),
            (4_107_542_400, 1_000, "2100-03-01T00:00:00.000001Z"),
            (253_402_300_800, 0, "+10000-01-01T00:00:00Z"),
            (-62_167_219_201, 0, "-0001-12-31T23:59:59Z"),
            (
                31_556_889_864_403_199,
                999_999_999,
                "+1000000000-12-31T23:59:59.999999999Z",
            ),
            (-31_557_014_167_219_200, 0, "-1000000000-01-01T00:00:00Z"),
        ] {
            assert_eq!(written(|out| write_instant(out, seconds, nano)), expected);
        }
    }

    /// Each day is followed by the next, over more than a cycle of leap years.
    #[test]
    fn days_follow_one_another() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = (1_600, 1, 1);
        for number in -135_140..160_000 {
            let date = Date::of_day(number);
            assert_eq!((date.year, date.month, date.day), (year, month, day));
            let last = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day = day % last + 1;
            month = (month - 1 + i64::from(day == 1)) % 12 + 1;
            year += i64::from((month, day) == (1, 1));
        }
    }

    #[test]
    fn durations_have_the_sign_at_their_parts() {
        for (seconds, nano, expected) in [
            (0, 0, "PT0S"),
            (0, 1_000_000, "PT0.001S"),
            (3_600, 0, "PT1H"),
            (90_061, 120_000_000, "PT25H1M1.12S"),
            (-1, 500_000_000, "PT-0.5S"),
            (-60, 500_000_000, "PT-59.5S"),
            (-61, 500_000_000, "PT-1M-0.5S"),
            (-3_661, 0, "PT-1H-1M-1S"),
            (i64::MIN, 0, "PT-2562047788015215H-30M-8S"),
            (i64::MAX, 999_999_999, "PT2562047788015215H30M7.999999999S"),
        ] {
            assert_eq!(written(|out| write_duration(out, seconds, nano)), expected);
        }
    }

    #[test]
    fn dates_times_offsets_and_periods_leave_out_what_is_zero() {
        let date = |year| {
            written(|out| {
                Date {
                    year,
                    month: 2,
                    day: 3,
                }
                .write(out)
            })
        };
        let dates = [0, -5, 987, 9_999, 10_000, -12_345].map(date);
        let years = ["0000", "-0005", "0987", "9999", "+10000", "-12345"];
        assert_eq!(dates, years.map(|year| format!("{year}-02-03")));
        let time = |second, nano| {
            let (hour, minute) = (7, 5);
            let time = TimeOfDay {
                hour,
                minute,
                second,
                nano,
            };
            written(|out| time.write(out))
        };
        let times = [time(0, 0), time(9, 0), time(0, 1), time(0, 20_000_000)];
        let expected = ["07:05", "07:05:09", "07:05:00.000000001", "07:05:00.020"];
        assert_eq!(times, expected);
        let offsets = [0, 3_600, -19_800, 64_800, 3_661, -1];
        let offsets = offsets.map(|seconds| written(|out| write_offset(out, seconds)));
        let expected = ["Z", "+01:00", "-05:30", "+18:00", "+01:01:01", "-00:00:01"];
        assert_eq!(offsets, expected);
        let periods = [[0; 3], [1, 0, -2], [0, 14, 0]];
        let periods = periods.map(|parts| written(|out| write_period(out, parts)));
        assert_eq!(periods, ["P0D", "P1Y-2D", "P14M"]);
    }
}
