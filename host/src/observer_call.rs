//! What the store of an observer holds: what it is told, and wants to be.

use observations::batch::Names;
use observations::request::{Asked, Request};
use observations::wish::Filter;
use observations::{Group, Wish};

/// What an observer is told, and wants to be.
#[derive(Default)]
pub struct ObserverCall {
    /// What the numbers of events lead to.
    pub names: Names,
    /// What it subscribed to.
    pub wishes: Vec<Wish>,
    /// Whether it may subscribe now.
    pub configures: bool,
    /// What it asked.
    pub asked: Asked,
}

impl ObserverCall {
    /// The plugin asks; a trap in `configure`.
    pub fn ask(&mut self, request: Request) -> wasmtime::Result<Result<(), String>> {
        if self.configures {
            let name = request.name();
            let text = format!("it asked for {name} in `observer.configure`");
            return Err(wasmtime::Error::msg(text));
        }
        Ok(self.asked.ask(request))
    }

    /// The plugin subscribes; a trap at any other time than in `configure`.
    pub fn subscribe(
        &mut self,
        group: Group,
        filter: &Filter,
    ) -> wasmtime::Result<Result<(), String>> {
        let name = group.name();
        if !self.configures {
            let text = format!("it subscribed to {name} outside of `observer.configure`");
            return Err(wasmtime::Error::msg(text));
        }
        if self.wishes.iter().any(|wish| wish.group == group) {
            return Ok(Err(format!(
                "expected one subscription to {name}, found two"
            )));
        }
        Ok(Wish::new(group, filter).map(|wish| self.wishes.push(wish)))
    }
}
