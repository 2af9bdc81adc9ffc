//! The page of the runs that the report is made from.

use std::fmt::Write as _;

use super::page::{Crumb, Page, count, text};
use crate::model::BundleCoverage;
use crate::report::Session;

/// The page.
pub(super) fn page(bundle: &BundleCoverage, sessions: &[Session]) -> String {
    let path = [
        Crumb::new(&bundle.name, "index.html"),
        Crumb::here("Sessions"),
    ];
    let mut page = Page::new("Sessions", "", &path);
    if sessions.is_empty() {
        page.body
            .push_str("<p>This report was made without a recording: everything counts as missed.");
        return page.finish();
    }
    let _ = write!(
        page.body,
        "<p>This report is made from {}.",
        count(sessions.len(), "recording", "recordings")
    );
    page.body.push_str(
        "<div class=scroll><table class=plain><thead><tr><th scope=col>Session<th scope=col>Started\
         <th scope=col>Recorded until<th scope=col class=number>Duration</thead><tbody>",
    );
    for session in Session::sorted(sessions) {
        let _ = write!(
            page.body,
            "<tr><th scope=row>{}<td>{}<td>{}<td class=number>{}",
            text(&session.id),
            time(session.start_ms),
            time(session.dump_ms),
            duration(session.dump_ms.saturating_sub(session.start_ms)),
        );
    }
    page.body.push_str("</table></div>");
    page.finish()
}

/// `2026-09-21 15:33:20 UTC`, marked up as a time.
fn time(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    format!("<time datetime=\"{date}T{clock}Z\">{date} {clock} UTC</time>")
}

/// The Gregorian date of a day counted from 1970-01-01: years begin in March, so
/// that the leap day is a year's last, and 400 of them have 146,097 days.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // from 0000-03-01
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        _ if milliseconds < 0 => "–".to_owned(),
        (0, 0, second) => format!("{second}.{} s", milliseconds / 100 % 10),
        (0, minute, second) => format!("{minute} min {second} s"),
        (hour, minute, _) => format!("{hour} h {minute} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(47_540), (2100, 2, 28));
        assert_eq!(date(47_541), (2100, 3, 1));
    }

    #[test]
    fn times_of_all_sizes() {
        assert_eq!(
            time(1_790_004_800_999),
            "<time datetime=\"2026-09-21T15:33:20Z\">2026-09-21 15:33:20 UTC</time>"
        );
        assert!(time(i64::MIN).contains("UTC") && time(i64::MAX).contains("UTC"));
        assert_eq!(duration(750), "0.7 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(duration(7_260_000), "2 h 1 min");
        assert_eq!(duration(-1), "–");
    }
}
