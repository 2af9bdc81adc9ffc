//! The terminal: set up, drawn on, and restored.

use std::io;
use std::time::Duration;

use errors::{Error, codes};
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::{DefaultTerminal, crossterm};
use trace::rates::Interval;

use super::sampler::Sampler;
use super::state::State;
use super::view::{self, View};

/// Wait for a key in one turn of the loop.
const TURN: Duration = Duration::from_millis(100);

/// Shows the intervals until the user quits or `continues` returns false. Restores the terminal in any case, even after
/// a panic.
///
/// # Errors
/// If the terminal cannot be used (`H0660`).
pub fn run(
    sampler: &Sampler,
    title: &str,
    state: &mut State,
    continues: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let unusable = |error: io::Error| {
        Error::mistake(codes::H0660, "the terminal cannot be used")
            .with("found", error.to_string())
            .with("help", "append `| cat` to print tables instead")
    };
    let mut terminal = ratatui::try_init().map_err(unusable)?;
    let outcome = show_intervals(&mut terminal, sampler, title, state, continues);
    let restored = ratatui::try_restore();
    outcome.and(restored).map_err(unusable)
}

fn show_intervals(
    terminal: &mut DefaultTerminal,
    sampler: &Sampler,
    title: &str,
    state: &mut State,
    continues: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    let mut shown: Option<Interval> = None;
    let mut is_new = true;
    while !state.quits && continues() && !sampler.has_failed() {
        while let Some(interval) = sampler.next(Duration::ZERO) {
            if !state.paused {
                (shown, is_new) = (Some(interval), true);
            }
        }
        let rows = shown.as_ref().map(|interval| state.rows(interval));
        let rows = rows.unwrap_or_default();
        if std::mem::take(&mut is_new) {
            let view = View {
                title,
                state,
                interval: shown.as_ref(),
                rows: &rows,
            };
            terminal.draw(|frame| view::draw(frame, &view))?;
        }
        if crossterm::event::poll(TURN)? {
            is_new = true;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => state.press(key, &rows),
                _ => {}
            }
        }
    }
    Ok(())
}
