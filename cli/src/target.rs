//! Shows the answers of the agent in the JVM that a command names.

use agent_connection::agent::Agent;
use agent_connection::decoded_answers::read_escaped;
use agent_connection::interrupt::Interrupt;
use agent_connection::progress;
use control::Request;
use errors::{Error, PARTIAL};
use serde::de::DeserializeOwned;
use serde_json::Value;
use standard_streams::show::{show, show_json};

use crate::args::Target;

impl Target {
    /// Sends a request to the JVM's agent and shows the answer, as JSON or formatted by `text`.
    ///
    /// # Errors
    /// As [`Agent::connect`] and [`Agent::ask`], or if standard output cannot be written.
    pub fn answer<T: DeserializeOwned>(
        &self,
        request: &Request,
        text: impl FnOnce(&T) -> String,
    ) -> Result<u8, Error> {
        let answer = Agent::connect(self.pid)?.ask(request)?;
        self.show(answer, text)
    }

    /// Shows an answer, as JSON or formatted by `text`.
    ///
    /// # Errors
    /// If the answer cannot be decoded, or standard output cannot be written.
    pub fn show<T: DeserializeOwned>(
        &self,
        answer: Value,
        text: impl FnOnce(&T) -> String,
    ) -> Result<u8, Error> {
        if self.json {
            show_json(&answer)?;
        } else {
            show(&text(&read_escaped(answer)?))?;
        }
        Ok(0)
    }

    /// As [`progress::ask`], and shows the answer, as JSON or formatted by `text`.
    ///
    /// # Errors
    /// As [`Agent::connect`] and [`progress::ask`], or if a signal stopped the change between two batches.
    pub fn answer_of_change<T: DeserializeOwned>(
        &self,
        request: &Request,
        text: impl FnOnce(&T) -> String,
    ) -> Result<u8, Error> {
        let mut interrupt = Interrupt::new()?;
        let mut agent = Agent::connect(self.pid)?;
        let answer: Value = progress::ask(&mut agent, request, &mut interrupt)?;
        let failed = answer["failed"].as_array();
        let is_partial = failed.is_some_and(|failed| !failed.is_empty());
        let code = self.show(answer, text)?;
        if request.can_be_cancelled() {
            interrupt.check()?;
        }
        Ok(if is_partial { PARTIAL } else { code })
    }
}
