//! The drawn screen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Row, Table, TableState};
use trace::losses;
use trace::numbers::{counted, seconds};
use trace::rates::{Group, Interval, Key, Rate};

use super::columns::{Column, number, per};
use super::state::State;

/// Width of each column except the first.
const COLUMN: u16 = 10;
/// Least width of the first column, as long as another column can be hidden.
const NAME: u16 = 24;

const HELP: &str =
    "q quit  ↑↓ row  ←→ sort  r reverse  g group  / find  Enter in  Esc out  p pause";

/// The contents of the screen.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The title: command or JVM.
    pub title: &'a str,
    /// The state of the display.
    pub state: &'a State,
    /// The displayed interval.
    pub interval: Option<&'a Interval>,
    /// The rows of the interval, from [`State::rows`].
    pub rows: &'a [Rate],
}

/// Draws the screen.
pub fn draw(frame: &mut Frame<'_>, view: &View<'_>) {
    let losses = view.interval.map(losses).unwrap_or_default();
    let rest = [
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::try_from(losses.len()).unwrap_or(2).min(2)),
        Constraint::Min(0),
        Constraint::Length(1),
    ];
    let [title, sums, lost, table, help] = Layout::vertical(rest).areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(view.title, bold), title);
    frame.render_widget(Line::raw(heading(view)), sums);
    let red = Style::new().fg(Color::Red);
    let losses: Vec<Line<'_>> = losses
        .into_iter()
        .map(|loss| Line::styled(loss, red))
        .collect();
    frame.render_widget(Text::from(losses), lost);
    rows(frame, view, table);
    let dim = Style::new().add_modifier(Modifier::DIM);
    let below = match (view.state.typing, view.state.message) {
        (true, _) => Line::raw(format!(
            "/{}▏  Enter keeps it, Esc drops it",
            view.state.filter
        )),
        (false, Some(message)) => Line::styled(message, red),
        (false, None) => Line::styled(HELP, dim),
    };
    frame.render_widget(below, help);
}

/// Returns the heading: the displayed group and the sums of all rows.
fn heading(view: &View<'_>) -> String {
    let state = view.state;
    let group = match (state.path.last(), state.group) {
        (Some(opened), _) if matches!(opened.key, Key::Method(_)) => {
            format!("callers of {}", opened.name)
        }
        (opened, group) => {
            let group = match group {
                Group::Package => "packages",
                Group::Class => "classes",
                Group::Method => "methods",
                Group::Thread => "threads",
            };
            match opened {
                Some(opened) => format!("{group} of {}", opened.name),
                None => group.to_owned(),
            }
        }
    };
    let mut parts = vec![group];
    match view.interval {
        None => parts.push("waiting for the first calls".to_owned()),
        Some(interval) => {
            let calls: u64 = interval.methods.iter().map(|row| row.calls).sum();
            let sums = interval.methods.iter().filter_map(|row| row.sums.as_ref());
            let errors: u64 = sums.map(|sums| sums.errors).sum();
            parts.push(format!("{} calls/s", number(per(calls, interval.seconds))));
            parts.push(format!(
                "{} errors/s",
                number(per(errors, interval.seconds))
            ));
            parts.push(format!("in {} s", seconds(interval.seconds)));
        }
    }
    if !state.filter.is_empty() {
        parts.push(format!("with \"{}\"", state.filter));
    }
    if state.paused {
        parts.push("PAUSED".to_owned());
    }
    parts.join("  ")
}

/// Returns the lines about lost calls and incomplete recordings.
fn losses(interval: &Interval) -> Vec<String> {
    let calls = losses::calls(&interval.lost);
    let lost =
        (calls > 0).then(|| format!("lost: {}, missing in some numbers", counted(calls, "call")));
    let incomplete = interval.incomplete.iter();
    lost.into_iter()
        .chain(incomplete.map(|gap| format!("incomplete: {gap}")))
        .collect()
}

fn rows(frame: &mut Frame<'_>, view: &View<'_>, area: Rect) {
    let state = view.state;
    let seconds = view.interval.map_or(0.0, |interval| interval.seconds);
    let width_of = |column: Column| {
        let cells = view.rows.iter().map(|rate| column.cell(rate, seconds));
        let longest = cells.map(|cell| cell.chars().count()).max();
        u16::try_from(longest.unwrap_or(0)).map_or(u16::MAX, |longest| longest.max(COLUMN))
    };
    let (columns, name) = columns_within(area.width, width_of);
    let cell = |column: &Column, text: String| match column {
        Column::Name => Cell::new(shortened(&text, usize::from(name))),
        _ => Cell::new(Text::from(text).alignment(Alignment::Right)),
    };
    let heading = columns.iter().map(|column| {
        let mark = match (*column == state.sort, state.reversed) {
            (false, _) => "",
            (true, false) => "▼",
            (true, true) => "▲",
        };
        cell(column, format!("{}{mark}", column.title()))
    });
    let lines = view.rows.iter().map(|rate| {
        let cells = columns.iter();
        Row::new(cells.map(|column| cell(column, column.cell(rate, seconds))))
    });
    let widths = columns.iter().map(|column| match column {
        Column::Name => Constraint::Fill(1),
        column => Constraint::Length(width_of(*column)),
    });
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    let underlined = Style::new().add_modifier(Modifier::UNDERLINED);
    let table = Table::new(lines, widths)
        .header(Row::new(heading).style(underlined))
        .row_highlight_style(reversed);
    let chosen = state.selected.min(view.rows.len().saturating_sub(1));
    let mut chosen = TableState::new().with_selected((!view.rows.is_empty()).then_some(chosen));
    frame.render_stateful_widget(table, area, &mut chosen);
}

/// Returns the columns that fit, and the width of the column of names.
fn columns_within(width: u16, width_of: impl Fn(Column) -> u16) -> (Vec<Column>, u16) {
    let mut columns = Column::ALL.to_vec();
    let left = |columns: &[Column]| {
        let others = columns.iter().filter(|column| **column != Column::Name);
        others.fold(width, |left, column| {
            left.saturating_sub(width_of(*column) + 1)
        })
    };
    for column in Column::DISPENSABLE {
        if left(&columns) >= NAME {
            break;
        }
        columns.retain(|kept| *kept != column);
    }
    let name = left(&columns);
    (columns, name)
}

/// Shortens a name to a width in characters and keeps its end, the most specific part.
#[must_use]
pub fn shortened(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let kept = name.chars().skip(count - width.saturating_sub(1));
    std::iter::once('…').chain(kept).collect()
}
