//! Options of `trace` that send calls to an OpenTelemetry collector.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use otlp::{NameTemplate, OtlpOptions};

use crate::heading;

/// Options for sending by OTLP.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::LIVE)]
pub struct OtlpArguments {
    /// Send spans and metrics by OTLP to http://HOST:PORT or https://HOST:PORT [default: OTEL_EXPORTER_OTLP_ENDPOINT, else this machine]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub otlp: Option<String>,
    /// Choose the protocol of OTLP [default: OTEL_EXPORTER_OTLP_PROTOCOL, else grpc for port 4317 and http/protobuf for others]
    #[arg(long, value_name = "PROTOCOL", requires = "otlp")]
    pub otlp_protocol: Option<Protocol>,
    /// Name the service [default: OTEL_SERVICE_NAME, else the main class]
    #[arg(long, value_name = "NAME", requires = "otlp")]
    pub otlp_service: Option<String>,
    /// Send this header with each request; repeatable [default: OTEL_EXPORTER_OTLP_HEADERS]
    #[arg(long, value_name = "NAME=VALUE", requires = "otlp")]
    pub otlp_header: Vec<String>,
    /// Trust the certificate authorities in this file (PEM), with https:// [default: OTEL_EXPORTER_OTLP_CERTIFICATE, else the system's]
    #[arg(long, value_name = "FILE", requires = "otlp")]
    pub otlp_ca: Option<PathBuf>,
    /// Name spans by this template: 'GET {arg[0].path}', '{class}.{method}'; with values of --show in braces [default: {class}.{method}]
    #[arg(
        long,
        value_name = "TEMPLATE",
        requires = "otlp",
        conflicts_with = "config"
    )]
    pub otlp_span_name: Option<NameTemplate>,
}

/// A protocol of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Protocol buffers in requests of HTTP/1.1
    #[value(name = "http/protobuf")]
    Http,
    /// Calls of gRPC
    #[value(name = "grpc")]
    Grpc,
}

impl From<Protocol> for otlp::Protocol {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Http => Self::Http,
            Protocol::Grpc => Self::Grpc,
        }
    }
}

impl OtlpArguments {
    /// Returns the options of the library.
    #[must_use]
    pub fn options(&self) -> OtlpOptions {
        let given = self.clone();
        OtlpOptions {
            otlp: given.otlp,
            otlp_protocol: given.otlp_protocol.map(Into::into),
            otlp_service: given.otlp_service,
            otlp_header: given.otlp_header,
            otlp_ca: given.otlp_ca,
            otlp_span_name: given.otlp_span_name,
        }
    }
}
