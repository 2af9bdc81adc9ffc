//! Where spans and metrics go: options of the command, and OpenTelemetry's environment variables.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};

use crate::inputs::command_line::program_of;
use crate::problem::Problem;
use crate::show::name;

/// How long one request may take if nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The names of the standard's variables begin so.
const PREFIX: &str = "OTEL_EXPORTER_OTLP_";

/// Sending by OTLP.
#[derive(Debug, Clone, Default, Args)]
pub struct OtlpOptions {
    /// Send spans and metrics by OTLP to http://HOST:PORT [default: OTEL_EXPORTER_OTLP_ENDPOINT, else this machine]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub otlp: Option<String>,
    /// How [default: OTEL_EXPORTER_OTLP_PROTOCOL, else grpc for port 4317 and http/protobuf for others]
    #[arg(long, value_name = "PROTOCOL", requires = "otlp")]
    pub otlp_protocol: Option<Protocol>,
    /// The name of the service [default: OTEL_SERVICE_NAME, else the main class]
    #[arg(long, value_name = "NAME", requires = "otlp")]
    pub otlp_service: Option<String>,
}

/// A protocol of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Protocol buffers in requests of HTTP/1.1
    #[value(name = "http/protobuf")]
    Http,
    /// Calls of gRPC, without TLS
    #[value(name = "grpc")]
    Grpc,
}

/// What is sent there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Single calls.
    Traces,
    /// Sums of calls.
    Metrics,
}

/// Where everything goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where spans go.
    pub traces: Endpoint,
    /// Where metrics go.
    pub metrics: Endpoint,
    /// The name of the service, if it is not the main class.
    pub service: Option<String>,
    /// What else is known of the service.
    pub attributes: Vec<(String, String)>,
}

impl Target {
    /// The name of the service that a JVM with this command line is.
    #[must_use]
    pub fn service_of(&self, command: &str) -> String {
        let program = || program_of(command).filter(|program| program != "java");
        let named = self.service.clone().or_else(program);
        named.map_or_else(
            || "unknown_service:java".to_owned(),
            |named| name(&named).into_owned(),
        )
    }
}

/// Where one signal goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Which signal.
    pub signal: Signal,
    /// How.
    pub protocol: Protocol,
    /// `http`, host, port and path.
    pub uri: Uri,
    /// What each request carries besides.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How long one request may take.
    pub timeout: Duration,
}

/// Reads a variable of the environment.
type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

impl OtlpOptions {
    /// What is asked for, with what the environment says; none without `--otlp`.
    ///
    /// # Errors
    /// If a URL, protocol, header or other value cannot be used (`H0661`).
    pub fn target(&self) -> Result<Option<Target>, Problem> {
        self.target_in(&|name| std::env::var(name).ok())
    }

    fn target_in(&self, environment: Environment<'_>) -> Result<Option<Target>, Problem> {
        if self.otlp.is_none() {
            return Ok(None);
        }
        let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let mut attributes = match set("OTEL_RESOURCE_ATTRIBUTES") {
            None => Vec::new(),
            Some(text) => pairs("OTEL_RESOURCE_ATTRIBUTES", &text)?,
        };
        let named = attributes.iter().position(|(key, _)| key == "service.name");
        let named = named.map(|at| attributes.remove(at).1);
        let service = self.otlp_service.clone();
        Ok(Some(Target {
            traces: self.endpoint(Signal::Traces, &set)?,
            metrics: self.endpoint(Signal::Metrics, &set)?,
            service: service.or_else(|| set("OTEL_SERVICE_NAME")).or(named),
            attributes,
        }))
    }

    fn endpoint(&self, signal: Signal, environment: Environment<'_>) -> Result<Endpoint, Problem> {
        let own = |name: &str| {
            let name = format!("{PREFIX}{}_{name}", signal.in_variables());
            environment(&name).map(|value| (name, value))
        };
        let any = |name: &str| {
            let name = format!("{PREFIX}{name}");
            environment(&name).map(|value| (name, value))
        };
        let given = self.otlp.as_ref().filter(|url| !url.is_empty());
        let given = given.map(|url| ("--otlp".to_owned(), url.clone()));
        let (whole, base) = match given {
            Some(given) => (None, Some(given)),
            None => (own("ENDPOINT"), any("ENDPOINT")),
        };
        let is_whole = whole.is_some();
        let url = whole.or(base);
        let url = match &url {
            None => None,
            Some((from, text)) => Some(parsed(from, text)?),
        };
        let protocol = match (
            self.otlp_protocol,
            own("PROTOCOL").or_else(|| any("PROTOCOL")),
        ) {
            (Some(protocol), _) => protocol,
            (None, Some((from, text))) => named_protocol(&from, &text)?,
            (None, None) => by_port(url.as_ref()),
        };
        not_compressed(own("COMPRESSION").or_else(|| any("COMPRESSION")))?;
        let headers = match own("HEADERS").or_else(|| any("HEADERS")) {
            None => Vec::new(),
            Some((from, text)) => headers(&from, &text)?,
        };
        let timeout = match own("TIMEOUT").or_else(|| any("TIMEOUT")) {
            None => TIMEOUT,
            Some((from, text)) => milliseconds(&from, &text)?,
        };
        Ok(Endpoint {
            signal,
            protocol,
            uri: uri(url.as_ref(), is_whole, protocol, signal)?,
            headers,
            timeout,
        })
    }
}

impl Signal {
    fn in_variables(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    /// The path that the standard gives to requests of HTTP, and to calls of gRPC.
    fn path(self, protocol: Protocol) -> &'static str {
        match (protocol, self) {
            (Protocol::Http, Self::Traces) => "/v1/traces",
            (Protocol::Http, Self::Metrics) => "/v1/metrics",
            (Protocol::Grpc, Self::Traces) => {
                "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
            }
            (Protocol::Grpc, Self::Metrics) => {
                "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
            }
        }
    }
}

impl Endpoint {
    /// Host and port to connect to.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        let host = self.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        (host, self.uri.port_u16().unwrap_or(80))
    }

    /// The same for display.
    #[must_use]
    pub fn receiver(&self) -> String {
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        format!("http://{authority}")
    }
}

/// A value that cannot be used.
fn refused(from: &str, expected: &str, found: &str) -> Problem {
    Problem::user("H0661", format!("{from} cannot be used"))
        .with("expected", expected)
        .with("found", format!("`{found}`"))
}

/// A URL with scheme and host.
fn parsed(from: &str, text: &str) -> Result<Uri, Problem> {
    const EXPECTED: &str = "a URL such as http://localhost:4318";
    let text = text.trim();
    if text
        .get(..8)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
    {
        return Err(refused(from, EXPECTED, text).with("help", "TLS is not supported: send to a collector on this machine or in a network of your own, which forwards by TLS"));
    }
    let uri: Result<Uri, _> = text.parse();
    let uri =
        uri.map_err(|error| refused(from, EXPECTED, text).with("found", error.to_string()))?;
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    let is_usable = uri.scheme_str() == Some("http")
        && uri.host().is_some_and(|host| !host.is_empty())
        && !authority.contains('@')
        && (uri.port_u16().is_some() || !after_host.contains(':'));
    match is_usable {
        true => Ok(uri),
        false => Err(refused(from, EXPECTED, text)),
    }
}

fn by_port(url: Option<&Uri>) -> Protocol {
    match url.and_then(Uri::port_u16) {
        Some(4317) => Protocol::Grpc,
        _ => Protocol::Http,
    }
}

fn named_protocol(from: &str, text: &str) -> Result<Protocol, Problem> {
    match text.trim() {
        "grpc" => Ok(Protocol::Grpc),
        "http/protobuf" => Ok(Protocol::Http),
        other => Err(refused(from, "grpc or http/protobuf", other)),
    }
}

fn not_compressed(value: Option<(String, String)>) -> Result<(), Problem> {
    match value {
        Some((from, text)) if text.trim() != "none" => Err(refused(&from, "none", &text).with(
            "help",
            "requests are not compressed: unset it for this command",
        )),
        _ => Ok(()),
    }
}

fn milliseconds(from: &str, text: &str) -> Result<Duration, Problem> {
    match text.trim().parse() {
        Ok(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds)),
        _ => Err(refused(from, "milliseconds, at least 1", text)),
    }
}

/// Where requests go: the path of a URL that is for this signal alone stays as it is.
fn uri(
    url: Option<&Uri>,
    is_whole: bool,
    protocol: Protocol,
    signal: Signal,
) -> Result<Uri, Problem> {
    let authority = match (url.and_then(Uri::authority), protocol) {
        (Some(authority), _) => authority.to_string(),
        (None, Protocol::Http) => "localhost:4318".to_owned(),
        (None, Protocol::Grpc) => "localhost:4317".to_owned(),
    };
    let base = url.map_or("", Uri::path);
    let path = match protocol {
        Protocol::Grpc => signal.path(protocol).to_owned(),
        Protocol::Http if is_whole => base.to_owned(),
        Protocol::Http => base.trim_end_matches('/').to_owned() + signal.path(protocol),
    };
    let uri = format!("http://{authority}{path}");
    uri.parse().map_err(|_| refused("the URL", "a URL", &uri))
}

fn headers(from: &str, text: &str) -> Result<Vec<(HeaderName, HeaderValue)>, Problem> {
    let wrong = |key: &str| refused(from, "names and values of HTTP headers", key);
    let pairs = pairs(from, text)?.into_iter();
    let headers = pairs.map(|(key, value)| {
        let name = HeaderName::try_from(key.as_str()).map_err(|_| wrong(&key))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| wrong(&key))?;
        value.set_sensitive(true);
        Ok((name, value))
    });
    headers.collect()
}

/// `key=value,key=value`, values with `%20` for a space.
fn pairs(from: &str, text: &str) -> Result<Vec<(String, String)>, Problem> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let pair = part
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()));
        let pair = pair.and_then(|(key, value)| Some((key.to_owned(), decoded(value)?)));
        // A value may be a secret: only the name is shown.
        let key = part
            .split_once('=')
            .map_or("a part without =", |(key, _)| key);
        pair.filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
            refused(
                from,
                "name=value,name=value with %XX for special characters",
                key,
            )
        })
    });
    pairs.collect()
}

/// A text with `%XX` for bytes; none if it is none.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(others.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = others.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(url: &str) -> OtlpOptions {
        OtlpOptions {
            otlp: Some(url.to_owned()),
            ..OtlpOptions::default()
        }
    }

    /// With these variables.
    fn target(options: &OtlpOptions, variables: &[(&str, &str)]) -> Result<Target, Problem> {
        let environment = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let target = options.target_in(&environment)?;
        Ok(target.expect("asked for"))
    }

    fn uris(target: &Target) -> [String; 2] {
        [&target.traces, &target.metrics].map(|endpoint| endpoint.uri.to_string())
    }

    #[test]
    fn the_port_says_the_protocol_unless_something_else_does() {
        let grpc = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
        for (url, variables, expected) in [
            (
                "http://a:4318",
                &[][..],
                "http://a:4318/v1/traces".to_owned(),
            ),
            ("http://a:4317", &[], format!("http://a:4317{grpc}")),
            (
                "http://[::1]:4317/",
                &[],
                format!("http://[::1]:4317{grpc}"),
            ),
            ("http://a/otlp/", &[], "http://a/otlp/v1/traces".to_owned()),
            ("", &[], "http://localhost:4318/v1/traces".to_owned()),
            (
                "",
                &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
                format!("http://localhost:4317{grpc}"),
            ),
            (
                "http://a:4317",
                &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")],
                "http://a:4317/v1/traces".to_owned(),
            ),
            (
                "",
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:1/x")],
                "http://b:1/x/v1/traces".to_owned(),
            ),
        ] {
            let target = target(&options(url), variables).unwrap();
            assert_eq!(uris(&target)[0], expected, "{url} {variables:?}");
        }
    }

    #[test]
    fn variables_of_one_signal_come_first_and_its_url_is_whole() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://own:9/m"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "700"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "key=a%20b, other=2"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,host.name=h"),
        ];
        let target = target(&options(""), &variables).unwrap();
        assert_eq!(
            uris(&target),
            ["http://all:4318/v1/traces", "http://own:9/m"]
        );
        assert_eq!(target.traces.timeout, Duration::from_millis(500));
        assert_eq!(target.metrics.timeout, Duration::from_millis(700));
        let headers = target.traces.headers.iter();
        let headers: Vec<_> = headers
            .map(|(key, value)| (key.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(headers, [("key", &b"a b"[..]), ("other", b"2")]);
        assert_eq!(target.service_of("java com.acme.Main"), "shop");
        assert_eq!(
            target.attributes,
            [("host.name".to_owned(), "h".to_owned())]
        );
        assert_eq!(target.traces.address(), ("all", 4318));
        let given = super::tests::target(&options("http://c:5"), &variables).unwrap();
        assert_eq!(
            uris(&given),
            ["http://c:5/v1/traces", "http://c:5/v1/metrics"]
        );
    }

    #[test]
    fn a_service_has_the_name_of_its_program() {
        let target = target(&options(""), &[]).unwrap();
        for (command, name) in [
            ("java -cp x com.acme.Main", "com.acme.Main"),
            ("java -jar app.jar", "app.jar"),
            ("java @arguments", "unknown_service:java"),
            ("", "unknown_service:java"),
        ] {
            assert_eq!(target.service_of(command), name);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_with_where_it_is_from() {
        let env = |name: &str, value: &str| {
            let name = format!("OTEL_EXPORTER_OTLP_{name}");
            target(&options("http://a:1"), &[(name.as_str(), value)])
        };
        for (outcome, expected) in [
            (
                target(&options("https://a:4318"), &[]),
                "TLS is not supported",
            ),
            (target(&options("a:4318"), &[]), "--otlp cannot be used"),
            (
                target(&options("http://u:p@a"), &[]),
                "--otlp cannot be used",
            ),
            (target(&options("4711"), &[]), "--otlp cannot be used"),
            (
                target(&options("http://a:99999"), &[]),
                "--otlp cannot be used",
            ),
            (env("PROTOCOL", "http/json"), "grpc or http/protobuf"),
            (env("COMPRESSION", "gzip"), "not compressed"),
            (env("TIMEOUT", "soon"), "milliseconds"),
            (env("HEADERS", "a b=c"), "OTEL_EXPORTER_OTLP_HEADERS"),
            (env("HEADERS", "secret"), "name=value"),
            (env("HEADERS", "a=%zz"), "%XX"),
        ] {
            let text = outcome.expect_err(expected).to_string();
            assert!(text.contains(expected) && text.contains("H0661"), "{text}");
        }
    }
}
