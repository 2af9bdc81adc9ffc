//! The screen of `classhook top`, and the effects of keys.

use std::collections::BTreeMap;

use live_traces::top::columns::Column;
use live_traces::top::state::State;
use live_traces::top::text;
use live_traces::top::view::{self, View, shortened};
use probes::events::{Aggregate, Lost, SpanInfo, ThreadInfo, Trace, bucket_of};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use trace::nesting::CallSums;
use trace::rates::{Group, Interval, MethodId};

/// Returns the sums of `count` calls of this duration in nanoseconds, with some errors.
fn sums(count: u64, nanos: u64, errors: u64) -> Aggregate {
    let mut sums = Aggregate {
        count,
        errors,
        total: count * nanos,
        own: count * nanos / 2,
        min: nanos,
        max: nanos,
        ..Aggregate::default()
    };
    sums.histogram.add(bucket_of(nanos), count);
    sums
}

fn method(class: &str, method: &str) -> MethodId {
    MethodId {
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: "()V".to_owned(),
    }
}

fn shop() -> Interval {
    let span = |id, class: &str, method: &str| SpanInfo {
        id,
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: "()V".to_owned(),
        ..SpanInfo::default()
    };
    let spans = [
        span(1, "com/acme/shop/Store", "find"),
        span(2, "com/acme/shop/Server", "handle"),
        span(3, "com/acme/util/Text", "trim"),
        span(4, "Main", "idle"),
        span(5, "com/acme/shop/Store", "count"),
    ];
    let trace = Trace {
        spans: spans.into_iter().map(|span| (span.id, span)).collect(),
        aggregates: BTreeMap::from([
            (1, sums(2_000, 300_000, 4)),
            (2, sums(500, 1_500_000, 0)),
            (3, sums(123_456, 90, 0)),
        ]),
        counts: BTreeMap::from([(5, 77)]),
        ..Trace::default()
    };
    let called = CallSums {
        calls: 1_500,
        errors: 4,
        total: 450_000_000,
        own: 225_000_000,
    };
    let thread = |id, name: &str, is_virtual| ThreadInfo {
        id,
        name: name.to_owned(),
        is_virtual,
    };
    let (find, handle) = (
        method("com.acme.shop.Store", "find"),
        method("com.acme.shop.Server", "handle"),
    );
    Interval {
        threads: vec![
            (thread(1, "main\u{1b}[31m", false), called),
            (thread(40, "", true), called),
            (thread(41, "", true), called),
        ],
        callers: vec![(find.clone(), Some(handle), called), (find, None, called)],
        ..Interval::of(&[trace], 2.0)
    }
}

fn screen_of(state: &State, interval: Option<&Interval>, width: u16) -> String {
    let rows = interval
        .map(|interval| state.rows(interval))
        .unwrap_or_default();
    let view = View {
        title: "classhook top  4711  java -jar shop.jar",
        state,
        interval,
        rows: &rows,
    };
    let mut terminal = Terminal::new(TestBackend::new(width, 12)).unwrap();
    terminal.draw(|frame| view::draw(frame, &view)).unwrap();
    terminal.backend().to_string()
}

fn by_methods(has_calls: bool) -> State {
    State::new(Group::Method, Column::Own, has_calls)
}

/// Presses keys: a word for each, else one character for each.
fn press(state: &mut State, interval: &Interval, keys: &[&str]) {
    for key in keys {
        let code = match *key {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "down" => KeyCode::Down,
            "up" => KeyCode::Up,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "end" => KeyCode::End,
            key => KeyCode::Char(key.chars().next().unwrap()),
        };
        let rows = state.rows(interval);
        state.press(KeyEvent::new(code, KeyModifiers::NONE), &rows);
    }
}

fn names(state: &State, interval: &Interval) -> Vec<String> {
    let rows = state.rows(interval);
    rows.into_iter().map(|row| row.name).collect()
}

#[test]
fn wide_screen_has_every_column() {
    insta::assert_snapshot!(screen_of(&by_methods(false), Some(&shop()), 120));
}

#[test]
fn narrow_screen_keeps_calls_and_time_and_the_ends_of_names() {
    let mut lossy = shop();
    lossy.lost = Lost {
        full: 12,
        ..Lost::default()
    };
    lossy.incomplete.push("no room".to_owned());
    let mut state = by_methods(false);
    press(&mut state, &lossy, &["down", "p"]);
    insta::assert_snapshot!(screen_of(&state, Some(&lossy), 60));
}

#[test]
fn screen_waits_for_the_first_interval() {
    insta::assert_snapshot!(screen_of(&by_methods(false), None, 80));
}

#[test]
fn callers_of_a_method_and_the_way_back() {
    let shop = shop();
    let mut state = by_methods(true);
    press(&mut state, &shop, &["down", "enter"]);
    insta::assert_snapshot!(screen_of(&state, Some(&shop), 120));
    press(&mut state, &shop, &["esc"]);
    assert_eq!(
        names(&state, &shop)[state.selected],
        "com.acme.shop.Store.find"
    );
}

#[test]
fn threads_are_rows_whose_names_are_harmless() {
    let shop = shop();
    let mut state = by_methods(true);
    press(&mut state, &shop, &["g"]);
    insta::assert_snapshot!(screen_of(&state, Some(&shop), 120));
}

#[test]
fn filter_is_typed_and_kept_or_dropped() {
    let shop = shop();
    let mut state = by_methods(false);
    press(&mut state, &shop, &["/", "S", "t", "o"]);
    insta::assert_snapshot!(screen_of(&state, Some(&shop), 80));
    press(&mut state, &shop, &["enter", "q"]);
    assert!(state.quits, "keys are commands again");
    assert_eq!(names(&state, &shop).len(), 2);
    press(&mut state, &shop, &["/", "esc"]);
    assert_eq!(names(&state, &shop).len(), 4);
}

#[test]
fn rows_are_sorted_by_each_column_both_ways() {
    let shop = shop();
    let mut state = by_methods(false);
    let mut first = Vec::new();
    for column in Column::ALL {
        state.sort = column;
        let mut rows = names(&state, &shop);
        first.push(rows[0].rsplit_once('.').unwrap().1.to_owned());
        rows.reverse();
        state.reversed = true;
        assert_eq!(names(&state, &shop), rows);
        state.reversed = false;
    }
    let expected = [
        "handle", "trim", "trim", "find", "handle", "handle", "handle", "handle",
    ];
    assert_eq!(first, expected);
    state.sort = Column::P99;
    press(&mut state, &shop, &["right", "left", "left", "r"]);
    assert_eq!((state.sort, state.reversed), (Column::Mean, true));
}

#[test]
fn packages_and_classes_are_opened() {
    let shop = shop();
    let mut state = State::new(Group::Package, Column::Calls, false);
    assert_eq!(names(&state, &shop), ["com.acme.util", "com.acme.shop"]);
    press(&mut state, &shop, &["down", "enter"]);
    assert_eq!(
        names(&state, &shop),
        ["com.acme.shop.Store", "com.acme.shop.Server"]
    );
    press(&mut state, &shop, &["enter"]);
    let methods = ["com.acme.shop.Store.find", "com.acme.shop.Store.count"];
    assert_eq!(names(&state, &shop), methods);
    press(&mut state, &shop, &["enter"]);
    assert!(
        state
            .message
            .is_some_and(|message| message.contains("--calls"))
    );
    press(&mut state, &shop, &["esc", "esc"]);
    assert_eq!(names(&state, &shop)[state.selected], "com.acme.shop");
}

#[test]
fn threads_are_skipped_without_single_calls() {
    let shop = shop();
    let mut state = by_methods(false);
    press(&mut state, &shop, &["g"]);
    assert_eq!(state.group, Group::Package);
    assert!(
        state
            .message
            .is_some_and(|message| message.contains("--calls"))
    );
    press(&mut state, &shop, &["end", "down", "down"]);
    assert_eq!(state.selected, 1, "no further than the last row");
    press(&mut state, &shop, &["up", "up", "up"]);
    assert_eq!((state.selected, state.message), (0, None));
}

#[test]
fn control_c_quits_also_while_a_filter_is_typed() {
    let shop = shop();
    let mut state = by_methods(false);
    press(&mut state, &shop, &["/"]);
    let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    state.press(key, &[]);
    assert!(state.quits);
}

#[test]
fn rows_without_a_terminal_have_full_width() {
    let text = text::table(&shop(), &by_methods(false), 3);
    insta::assert_snapshot!(text);
    let none = Interval {
        seconds: 1.0,
        traced: 7,
        ..Interval::default()
    };
    let text = text::table(&none, &by_methods(false), 3);
    assert_eq!(
        text,
        "interval of 1.0 s\nno call ended of 7 traced methods\n"
    );
}

/// Numbers of nine digits and more are not cut, and have spaces around them.
#[test]
fn long_numbers_are_separated_from_names_and_other_numbers() {
    let mut busy = shop();
    for row in &mut busy.methods {
        row.calls = 1_234_567_890;
    }
    let calls = "  1,234,567,890  ";
    let text = text::table(&busy, &by_methods(false), 3);
    assert!(text.contains(calls), "{text}");
    for width in [100, 120, 160] {
        let screen = screen_of(&by_methods(false), Some(&busy), width);
        let is_there = screen.contains("calls  ");
        assert_eq!(screen.contains(calls.trim_end()), is_there, "{screen}");
    }
}

#[test]
fn the_end_of_a_long_name_is_kept() {
    assert_eq!(shortened("com.acme.Store.find", 10), "…tore.find");
    assert_eq!(shortened("short", 5), "short");
    assert_eq!(shortened("é…ü", 2), "…ü");
}
