//! The part of an observer's store that its imported functions use.

use jvm_events::batch::Names;
use jvm_events::event_subscription::Filter;
use jvm_events::request::{OpenRequests, Request};
use jvm_events::{EventKind, EventSubscription};

/// The data of an observer that its imported functions use.
#[derive(Default)]
pub struct ObserverCall {
    /// The names to which the numbers of events refer.
    pub names: Names,
    /// The subscriptions.
    pub subscriptions: Vec<EventSubscription>,
    /// `true` during `configure`, when the plugin may subscribe.
    pub configures: bool,
    /// The open requests to the JVM.
    pub open_requests: OpenRequests,
}

impl ObserverCall {
    /// Adds a request to the JVM; traps in `configure`.
    pub fn ask(&mut self, request: Request) -> wasmtime::Result<Result<(), String>> {
        if self.configures {
            let name = request.name();
            let text = format!("it requested {name} in `observer.configure`");
            return Err(wasmtime::Error::msg(text));
        }
        Ok(self.open_requests.ask(request))
    }

    /// Adds a subscription; traps outside `configure`.
    pub fn subscribe(
        &mut self,
        kind: EventKind,
        filter: &Filter,
    ) -> wasmtime::Result<Result<(), String>> {
        let name = kind.name();
        if !self.configures {
            let text = format!("it subscribed to {name} outside of `observer.configure`");
            return Err(wasmtime::Error::msg(text));
        }
        if self
            .subscriptions
            .iter()
            .any(|subscription| subscription.kind == kind)
        {
            return Ok(Err(format!(
                "expected one subscription to {name}, found two"
            )));
        }
        Ok(EventSubscription::new(kind, filter)
            .map(|subscription| self.subscriptions.push(subscription)))
    }
}
