//! The part of an observer's store that its imported functions use.

use observations::batch::Names;
use observations::request::{Asked, Request};
use observations::wish::Filter;
use observations::{Group, Wish};

/// The data of an observer that its imported functions use.
#[derive(Default)]
pub struct ObserverCall {
    /// The names to which the numbers of events refer.
    pub names: Names,
    /// The subscriptions.
    pub wishes: Vec<Wish>,
    /// `true` during `configure`, when the plugin may subscribe.
    pub configures: bool,
    /// The open requests to the JVM.
    pub asked: Asked,
}

impl ObserverCall {
    /// Adds a request to the JVM; traps in `configure`.
    pub fn ask(&mut self, request: Request) -> wasmtime::Result<Result<(), String>> {
        if self.configures {
            let name = request.name();
            let text = format!("it asked for {name} in `observer.configure`");
            return Err(wasmtime::Error::msg(text));
        }
        Ok(self.asked.ask(request))
    }

    /// Adds a subscription; traps outside `configure`.
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
