//! Receivers of spans and metrics: options, and OpenTelemetry's environment
//! variables.

use std::path::PathBuf;
use std::time::Duration;

use coverage_inputs::command_line::program_of;
use errors::{Error, codes};
use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use trace::otlp::SpanName;

use super::encryption::Tls;
use super::name_template::NameTemplate;

/// Default time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Prefix of the standard's variables.
const PREFIX: &str = "OTEL_EXPORTER_OTLP_";

/// Options for sending by OTLP.
#[derive(Debug, Clone, Default)]
pub struct OtlpOptions {
    /// URL of the receiver, empty for the default.
    pub otlp: Option<String>,
    /// The protocol, unless environment or port decide.
    pub otlp_protocol: Option<Protocol>,
    /// Name of the service, unless environment or main class name it.
    pub otlp_service: Option<String>,
    /// Headers of each request, as `NAME=VALUE`.
    pub otlp_header: Vec<String>,
    /// File with certificate authorities (PEM).
    pub otlp_ca: Option<PathBuf>,
    /// Template of span names.
    pub otlp_span_name: Option<NameTemplate>,
}

/// A protocol of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Protocol buffers in requests of HTTP/1.1.
    Http,
    /// Calls of gRPC.
    Grpc,
}

/// Kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Single calls.
    Traces,
    /// Sums of calls.
    Metrics,
}

/// Receivers and naming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Receiver of spans.
    pub traces: Endpoint,
    /// Receiver of metrics.
    pub metrics: Endpoint,
    /// The name of the service; the main class if absent.
    pub service: Option<String>,
    /// Further attributes of the service.
    pub attributes: Vec<(String, String)>,
    /// The template of span names.
    pub span_name: SpanName,
}

impl Target {
    /// Returns the service name for a JVM with this command line.
    #[must_use]
    pub fn service_of(&self, command: &str) -> String {
        let program = || program_of(command).filter(|program| program != "java");
        let named = self.service.clone().or_else(program);
        named.map_or_else(
            || "unknown_service:java".to_owned(),
            |named| escape::line(&named).into_owned(),
        )
    }
}

/// Receiver of one signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Kind of data.
    pub signal: Signal,
    /// Protocol of the requests.
    pub protocol: Protocol,
    /// `http` or `https`, host, port and path.
    pub uri: Uri,
    /// TLS settings, with `https`.
    pub tls: Option<Tls>,
    /// Additional headers of each request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Time limit of one request.
    pub timeout: Duration,
}

/// Reads a variable of the environment.
type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

impl OtlpOptions {
    /// Returns the value expressions in span names.
    pub fn named_values(&self) -> impl Iterator<Item = &str> {
        self.otlp_span_name.iter().flat_map(NameTemplate::values)
    }

    /// Refuses a template of span names if no single calls are recorded.
    ///
    /// # Errors
    /// `H0636`.
    pub fn refuse_names(&self) -> Result<(), Error> {
        match self.otlp_span_name {
            None => Ok(()),
            Some(_) => Err(
                Error::mistake(codes::H0636, "--otlp-span-name needs single calls")
                    .with("found", "--aggregate or --count, which record sums")
                    .with("help", "leave one of them out"),
            ),
        }
    }

    /// Returns the receivers from options and environment, or nothing without `--otlp`.
    ///
    /// # Errors
    /// If a URL, protocol, header, file or other value is unusable (`H0661`, `H0612`), or the
    /// program that encrypts is missing (`H0667`).
    pub fn target(&self) -> Result<Option<Target>, Error> {
        let target = self.target_in(&|name| std::env::var(name).ok())?;
        let endpoints = target
            .iter()
            .flat_map(|target| [&target.traces, &target.metrics]);
        for tls in endpoints.filter_map(|endpoint| endpoint.tls.as_ref()) {
            tls.check()?;
        }
        Ok(target)
    }

    fn target_in(&self, environment: Environment<'_>) -> Result<Option<Target>, Error> {
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
            span_name: self
                .otlp_span_name
                .as_ref()
                .map_or_else(SpanName::default, NameTemplate::parts),
        }))
    }

    fn endpoint(&self, signal: Signal, environment: Environment<'_>) -> Result<Endpoint, Error> {
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
            _ if !self.otlp_header.is_empty() => self.headers()?,
            None => Vec::new(),
            Some((from, text)) => headers(&from, &text)?,
        };
        let timeout = match own("TIMEOUT").or_else(|| any("TIMEOUT")) {
            None => TIMEOUT,
            Some((from, text)) => milliseconds(&from, &text)?,
        };
        let uri = uri(url.as_ref(), is_whole, protocol, signal)?;
        let file = |name: &str| {
            let given = own(name).or_else(|| any(name));
            given.map(|(_, path)| PathBuf::from(path))
        };
        let identity = (file("CLIENT_CERTIFICATE"), file("CLIENT_KEY"));
        let tls = Tls {
            authorities: self.otlp_ca.clone().or_else(|| file("CERTIFICATE")),
            identity: match identity {
                (Some(certificate), Some(key)) => Some((certificate, key)),
                (None, None) => None,
                (Some(_), None) => return Err(incomplete("CLIENT_KEY", "CLIENT_CERTIFICATE")),
                (None, Some(_)) => return Err(incomplete("CLIENT_CERTIFICATE", "CLIENT_KEY")),
            },
        };
        Ok(Endpoint {
            signal,
            protocol,
            tls: (uri.scheme_str() == Some("https")).then_some(tls),
            uri,
            headers,
            timeout,
        })
    }

    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
        let given = self.otlp_header.iter().map(|header| {
            let wrong = |found: &str| Err(refused("--otlp-header", "a header, NAME=VALUE", found));
            // A value may be a secret, so only the name is shown.
            let Some((name, value)) = header.split_once('=') else {
                return wrong("a text without =");
            };
            match (
                HeaderName::try_from(name.trim()),
                HeaderValue::try_from(value.trim()),
            ) {
                (Ok(name), Ok(mut value)) => {
                    value.set_sensitive(true);
                    Ok((name, value))
                }
                _ => wrong(name),
            }
        });
        given.collect()
    }
}

/// Returns the error for a variable without its counterpart.
fn incomplete(missing: &str, given: &str) -> Error {
    let (missing, given) = (format!("{PREFIX}{missing}"), format!("{PREFIX}{given}"));
    Error::mistake(codes::H0661, format!("{given} needs {missing}"))
        .with("help", "set both, or neither")
}

impl Protocol {
    /// Returns the protocol's ALPN name.
    #[must_use]
    pub fn in_handshakes(self) -> &'static str {
        match self {
            Self::Http => "http/1.1",
            Self::Grpc => "h2",
        }
    }
}

impl Signal {
    fn in_variables(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    /// Returns the standard's path for HTTP requests and gRPC calls.
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
    /// Returns host and port of the connection.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        let host = self.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let usual = if self.tls.is_some() { 443 } else { 80 };
        (host, self.uri.port_u16().unwrap_or(usual))
    }

    /// Formats the receiver for display.
    #[must_use]
    pub fn receiver(&self) -> String {
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        let scheme = self.uri.scheme_str().unwrap_or("http");
        format!("{scheme}://{authority}")
    }
}

/// Returns the error for an unusable value.
fn refused(from: &str, expected: &str, found: &str) -> Error {
    Error::mistake(codes::H0661, format!("{from} cannot be used"))
        .with("expected", expected)
        .with("found", format!("`{found}`"))
}

/// Parses a URL with scheme and host.
fn parsed(from: &str, text: &str) -> Result<Uri, Error> {
    const EXPECTED: &str = "a URL such as http://localhost:4318 or https://collector:4318";
    let text = text.trim();
    let uri: Result<Uri, _> = text.parse();
    let uri =
        uri.map_err(|error| refused(from, EXPECTED, text).with("found", error.to_string()))?;
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    let is_usable = ["http", "https"].contains(&uri.scheme_str().unwrap_or_default())
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

fn named_protocol(from: &str, text: &str) -> Result<Protocol, Error> {
    match text.trim() {
        "grpc" => Ok(Protocol::Grpc),
        "http/protobuf" => Ok(Protocol::Http),
        other => Err(refused(from, "grpc or http/protobuf", other)),
    }
}

fn not_compressed(value: Option<(String, String)>) -> Result<(), Error> {
    match value {
        Some((from, text)) if text.trim() != "none" => Err(refused(&from, "none", &text).with(
            "help",
            "requests are not compressed: unset it for this command",
        )),
        _ => Ok(()),
    }
}

fn milliseconds(from: &str, text: &str) -> Result<Duration, Error> {
    match text.trim().parse() {
        Ok(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds)),
        _ => Err(refused(from, "milliseconds, at least 1", text)),
    }
}

/// Returns the request URI. The path of a URL for this signal alone stays unchanged.
fn uri(
    url: Option<&Uri>,
    is_whole: bool,
    protocol: Protocol,
    signal: Signal,
) -> Result<Uri, Error> {
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
    let scheme = url.and_then(Uri::scheme_str).unwrap_or("http");
    let uri = format!("{scheme}://{authority}{path}");
    uri.parse().map_err(|_| refused("the URL", "a URL", &uri))
}

fn headers(from: &str, text: &str) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
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

/// Parses `key=value,key=value`, values with `%20` for a space.
fn pairs(from: &str, text: &str) -> Result<Vec<(String, String)>, Error> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let pair = part
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()));
        let pair = pair.and_then(|(key, value)| Some((key.to_owned(), decoded(value)?)));
        // A value may be a secret, so only the name is shown.
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

/// Decodes `%XX` to bytes, or returns nothing if the text is invalid.
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

    /// Returns the target with these variables.
    fn target(options: &OtlpOptions, variables: &[(&str, &str)]) -> Result<Target, Error> {
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
    fn port_determines_the_default_protocol() {
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
    fn variables_of_a_signal_take_precedence_with_a_complete_url() {
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
    fn options_take_precedence_over_the_environment() {
        let given = OtlpOptions {
            otlp_header: vec!["Authorization=Bearer a=b".to_owned()],
            otlp_ca: Some("given.pem".into()),
            otlp_service: Some("given".to_owned()),
            ..options("https://c")
        };
        let variables = [
            ("OTEL_EXPORTER_OTLP_HEADERS", "other=1"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "all.pem"),
            ("OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE", "metrics.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "own.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "own.key"),
            ("OTEL_SERVICE_NAME", "all"),
        ];
        let found = target(&given, &variables).unwrap();
        let headers = found.traces.headers.iter();
        let headers: Vec<_> = headers
            .map(|(key, value)| (key.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(headers, [("authorization", &b"Bearer a=b"[..])]);
        let tls = found.metrics.tls.unwrap();
        assert_eq!(tls.authorities, Some("given.pem".into()));
        assert_eq!(tls.identity, Some(("own.pem".into(), "own.key".into())));
        assert_eq!(found.traces.address(), ("c", 443));
        assert_eq!(found.traces.receiver(), "https://c");
        assert_eq!(found.service.as_deref(), Some("given"));
        let found = target(&options("https://c:1"), &variables).unwrap();
        let authorities = |endpoint: Endpoint| endpoint.tls.and_then(|tls| tls.authorities);
        assert_eq!(authorities(found.traces), Some("all.pem".into()));
        assert_eq!(authorities(found.metrics), Some("metrics.pem".into()));
        let wrong = OtlpOptions {
            otlp_header: vec!["secret".to_owned()],
            ..options("http://c")
        };
        let problem = target(&wrong, &[]).unwrap_err().to_string();
        assert!(
            problem.contains("--otlp-header") && !problem.contains("secret"),
            "{problem}"
        );
    }

    #[test]
    fn service_name_defaults_to_the_program() {
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
    fn unusable_values_are_reported_with_their_origin() {
        let env = |name: &str, value: &str| {
            let name = format!("OTEL_EXPORTER_OTLP_{name}");
            target(&options("http://a:1"), &[(name.as_str(), value)])
        };
        for (outcome, expected) in [
            (
                target(&options("ftp://a:4318"), &[]),
                "--otlp cannot be used",
            ),
            (
                env("CLIENT_KEY", "key.pem"),
                "OTEL_EXPORTER_OTLP_CLIENT_KEY needs OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
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
