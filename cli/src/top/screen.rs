//! The terminal: taken, drawn on, and given back as it was.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::{DefaultTerminal, crossterm};
use trace::rates::Interval;

use super::sampler::Sampler;
use super::state::State;
use super::view::{self, View};
use crate::problem::Problem;

/// How long a key is waited for before anything else is looked at.
const TURN: Duration = Duration::from_millis(100);

/// Shows what comes until the user quits or `goes_on` says no. The terminal is given back in any case, also if this
/// process panics.
///
/// # Errors
/// If the terminal cannot be used (`H0660`).
pub fn run(
    sampler: &Sampler,
    title: &str,
    state: &mut State,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), Problem> {
    let unusable = |error: io::Error| {
        Problem::user("H0660", "the terminal cannot be used")
            .with("found", error.to_string())
            .with("help", "with `| cat` behind it, tables are printed instead")
    };
    let mut terminal = ratatui::try_init().map_err(unusable)?;
    let outcome = look(&mut terminal, sampler, title, state, goes_on);
    let restored = ratatui::try_restore();
    outcome.and(restored).map_err(unusable)
}

fn look(
    terminal: &mut DefaultTerminal,
    sampler: &Sampler,
    title: &str,
    state: &mut State,
    goes_on: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    let mut shown: Option<Interval> = None;
    let mut is_new = true;
    while !state.quits && goes_on() && !sampler.has_failed() {
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
