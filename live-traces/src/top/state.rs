//! The state of the display, and the effects of keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use trace::rates::{Group, Interval, Key, Rate};

use super::columns::Column;

/// Rows that a page key skips.
const PAGE: usize = 10;

/// The state of the display.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The element that a row shows.
    pub group: Group,
    /// The sort column.
    pub sort: Column,
    /// Reverses the order.
    pub reversed: bool,
    /// Hides rows whose name lacks this text.
    pub filter: String,
    /// Keys edit the filter.
    pub typing: bool,
    /// Keeps the displayed interval.
    pub paused: bool,
    /// Index of the selected row.
    pub selected: usize,
    /// The opened rows, outermost first.
    pub path: Vec<OpenedRow>,
    /// The recording has single calls, so threads and callers are known.
    pub has_calls: bool,
    /// The message about the last key, if it had no effect.
    pub message: Option<&'static str>,
    /// The user quits.
    pub quits: bool,
}

/// An opened row.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedRow {
    /// The element of the row.
    pub key: Key,
    /// The name of the row.
    pub name: String,
    /// The display before.
    group: Group,
    selected: usize,
    filter: String,
}

impl State {
    /// Creates a display without opened rows and filter.
    #[must_use]
    pub fn new(group: Group, sort: Column, has_calls: bool) -> Self {
        Self {
            group,
            sort,
            reversed: false,
            filter: String::new(),
            typing: false,
            paused: false,
            selected: 0,
            path: Vec::new(),
            has_calls,
            message: None,
            quits: false,
        }
    }

    /// Returns the displayed rows in order.
    #[must_use]
    pub fn rows(&self, interval: &Interval) -> Vec<Rate> {
        let opened = self.path.last().map(|opened| &opened.key);
        let mut rows = match opened {
            Some(Key::Method(method)) => interval.callers(method),
            _ => interval.rows(self.group),
        };
        let filter = self.filter.to_lowercase();
        rows.retain(|row| {
            opened.is_none_or(|opened| is_within(&row.key, opened))
                && row.name.to_lowercase().contains(&filter)
        });
        rows.sort_by(|one, other| self.sort.compare(one, other));
        if self.reversed {
            rows.reverse();
        }
        rows
    }

    /// Applies a key to the displayed rows.
    pub fn press(&mut self, key: KeyEvent, rows: &[Rate]) {
        self.message = None;
        let last = rows.len().saturating_sub(1);
        self.selected = self.selected.min(last);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c')) {
            self.quits = true;
        } else if self.typing {
            self.type_key(key.code);
        } else if !is_control {
            match chosen(key.code, self.selected) {
                Some(selected) => self.selected = selected.min(last),
                None => self.command(key.code, rows),
            }
        }
    }

    fn type_key(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                self.typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(char) => self.filter.push(char),
            _ => {}
        }
        self.selected = 0;
    }

    fn command(&mut self, key: KeyCode, rows: &[Rate]) {
        match key {
            KeyCode::Char('q') => self.quits = true,
            KeyCode::Left | KeyCode::Char('<') => self.sort_by_neighbour(Column::ALL.len() - 1),
            KeyCode::Right | KeyCode::Char('>') => self.sort_by_neighbour(1),
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Char('p' | ' ') => self.paused = !self.paused,
            KeyCode::Char('/') => self.typing = true,
            KeyCode::Char('g') => self.next_group(),
            KeyCode::Enter => self.open(rows),
            KeyCode::Esc | KeyCode::Backspace => self.close(),
            _ => {}
        }
    }

    fn sort_by_neighbour(&mut self, step: usize) {
        let at = Column::ALL.iter().position(|column| *column == self.sort);
        self.sort = Column::ALL[(at.unwrap_or(0) + step) % Column::ALL.len()];
    }

    fn next_group(&mut self) {
        self.path.clear();
        self.selected = 0;
        self.group = match self.group {
            Group::Package => Group::Class,
            Group::Class => Group::Method,
            Group::Method if self.has_calls => Group::Thread,
            Group::Method => {
                self.message = Some("threads need --calls: restart with it");
                Group::Package
            }
            Group::Thread => Group::Package,
        };
    }

    /// Shows the elements within the selected row, or its callers.
    fn open(&mut self, rows: &[Rate]) {
        let Some(row) = rows.get(self.selected) else {
            return;
        };
        let group = match row.key {
            Key::Package(_) => Group::Class,
            Key::Class(_) => Group::Method,
            Key::Method(_) if self.has_calls => Group::Method,
            Key::Method(_) => {
                self.message = Some("callers need --calls: restart with it");
                return;
            }
            Key::Thread => return,
        };
        self.path.push(OpenedRow {
            key: row.key.clone(),
            name: row.name.clone(),
            group: self.group,
            selected: self.selected,
            filter: std::mem::take(&mut self.filter),
        });
        (self.group, self.selected) = (group, 0);
    }

    fn close(&mut self) {
        match self.path.pop() {
            Some(opened) => {
                (self.group, self.selected) = (opened.group, opened.selected);
                self.filter = opened.filter;
            }
            None => self.filter.clear(),
        }
    }
}

/// Returns the row that a key selects from this one. `None` for keys that select no row.
fn chosen(key: KeyCode, selected: usize) -> Option<usize> {
    Some(match key {
        KeyCode::Up | KeyCode::Char('k') => selected.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => selected.saturating_add(1),
        KeyCode::PageUp => selected.saturating_sub(PAGE),
        KeyCode::PageDown => selected.saturating_add(PAGE),
        KeyCode::Home => 0,
        KeyCode::End => usize::MAX,
        _ => return None,
    })
}

/// Checks whether a row is within an opened row.
fn is_within(row: &Key, opened: &Key) -> bool {
    let package = |class: &str| match class.rsplit_once('.') {
        Some((package, _)) => package.to_owned(),
        None => "(no package)".to_owned(),
    };
    match (opened, row) {
        (Key::Package(name), Key::Class(class)) => *name == package(class),
        (Key::Package(name), Key::Method(method)) => *name == package(&method.class),
        (Key::Class(name), Key::Method(method)) => *name == method.class,
        _ => true,
    }
}
