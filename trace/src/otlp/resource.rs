//! Describes a JVM in its spans and metrics.

use opentelemetry_proto::tonic::resource::v1::Resource;
use probes::Meta;

use super::attributes::{number, text};
use crate::names::printable;

/// The description of the service that a JVM is an instance of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// Name of the service.
    pub name: String,
    /// Further attributes.
    pub attributes: Vec<(String, String)>,
}

impl Service {
    /// Describes the JVM as one instance of the service. The command line is left out: it may contain secrets.
    pub(super) fn instance(&self, meta: &Meta) -> Resource {
        let host = printable(&meta.host);
        let id = format!("{host}-{}-{}", meta.pid, meta.start_ms);
        let mut attributes = vec![
            text("service.name", self.name.clone()),
            text("service.instance.id", id),
            text("host.name", host),
            number("process.pid", meta.pid.into()),
            text("process.runtime.description", printable(&meta.jvm)),
            text("telemetry.sdk.name", "classhook"),
            text("telemetry.sdk.language", "java"),
            text("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ];
        for (key, value) in &self.attributes {
            attributes.retain(|attribute| attribute.key != *key);
            attributes.push(text(key, value));
        }
        Resource {
            attributes,
            ..Resource::default()
        }
    }
}
