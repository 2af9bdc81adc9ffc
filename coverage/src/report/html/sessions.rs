//! The page of the report's sessions.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::page::{Crumb, Head, Page, count, text};
use crate::report::{Report, Session};

/// Returns the page of the report with this name.
pub(super) fn page(report: &Report<'_>, name: &str) -> String {
    let sessions = report.sessions;
    let path = [Crumb::new(name, "index.html"), Crumb::here("Sessions")];
    let mut page = Page::new(Head::of(report), "Sessions", "", &path);
    incomplete(&mut page.body, report.incomplete());
    if sessions.is_empty() {
        page.body
            .push_str("<p>This report has no session: all code counts as missed.");
        return page.finish();
    }
    let _ = write!(
        page.body,
        "<p>This report is made from {}.",
        count(sessions.len(), "run", "runs")
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

/// Writes a notice: unrecorded data counts as missed or is absent.
pub(super) fn incomplete<'s>(body: &mut String, missing: impl Iterator<Item = &'s str>) {
    let mut missing = missing.peekable();
    if missing.peek().is_none() {
        return;
    }
    body.push_str(
        "<aside class=notice><p><strong>This report is incomplete.</strong> \
         Data that could not be recorded is absent, or counts as missed.<ul>",
    );
    for sentence in missing {
        let _ = write!(body, "<li>{}", text(sentence));
    }
    body.push_str("</ul></aside>");
}

/// Formats `2026-09-21 15:33:20 UTC`, marked up as a time; clamps a time beyond the calendar.
fn time(milliseconds: i64) -> String {
    let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_millisecond);
    let time = Timestamp::from_millisecond(milliseconds.clamp(first, last)).unwrap_or_default();
    let [machine, shown] = ["%FT%TZ", "%F %T UTC"].map(|format| time.strftime(format));
    format!("<time datetime=\"{machine}\">{shown}</time>")
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
        let date = |days: i64| time(days * 86_400_000)[16..26].to_owned();
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(47_540), "2100-02-28");
        assert_eq!(date(47_541), "2100-03-01");
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
