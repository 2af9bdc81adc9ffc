//! What is looked at, and what each key changes.

use clap::ValueEnum;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use trace::rates::{Group, Interval, Key, Rate};

use super::columns::Column;

/// Rows that a page key passes.
const PAGE: usize = 10;

/// What a row stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Packages
    Package,
    /// Classes
    Class,
    /// Methods
    #[default]
    Method,
    /// Threads
    Thread,
}

impl From<By> for Group {
    fn from(by: By) -> Self {
        match by {
            By::Package => Self::Package,
            By::Class => Self::Class,
            By::Method => Self::Method,
            By::Thread => Self::Thread,
        }
    }
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What rows stand for.
    pub group: Group,
    /// What they are sorted by.
    pub sort: Column,
    /// The other way round.
    pub reversed: bool,
    /// Only rows whose name has this text.
    pub filter: String,
    /// Keys go into the filter.
    pub typing: bool,
    /// The interval that is shown stays.
    pub paused: bool,
    /// Which row is chosen.
    pub selected: usize,
    /// The rows that were opened, outermost first.
    pub path: Vec<Opened>,
    /// Whether single calls are recorded, so that threads and callers are known.
    pub has_calls: bool,
    /// What the last key could not do.
    pub message: Option<&'static str>,
    /// The user has had enough.
    pub quits: bool,
}

/// A row that was opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// What it stood for.
    pub key: Key,
    /// Its name.
    pub name: String,
    /// What was looked at then.
    group: Group,
    selected: usize,
    filter: String,
}

impl State {
    /// Nothing opened, nothing filtered.
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

    /// The rows that are shown, in their order.
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

    /// What a key does while these rows are shown.
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
                self.message = Some("threads are known with --calls alone: start again with it");
                Group::Package
            }
            Group::Thread => Group::Package,
        };
    }

    /// Shows what the chosen row consists of, or who called it.
    fn open(&mut self, rows: &[Rate]) {
        let Some(row) = rows.get(self.selected) else {
            return;
        };
        let group = match row.key {
            Key::Package(_) => Group::Class,
            Key::Class(_) => Group::Method,
            Key::Method(_) if self.has_calls => Group::Method,
            Key::Method(_) => {
                self.message = Some("callers are known with --calls alone: start again with it");
                return;
            }
            Key::Thread => return,
        };
        self.path.push(Opened {
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

/// The row that a key chooses when this one is chosen; none if it is another key.
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

/// Whether a row belongs to one that was opened.
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
