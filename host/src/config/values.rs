//! Values in `classhook.toml` and in the agent's option string.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use jvm_events::Subscription;
use probes::{FileName, HitCode};

use super::settings::{CAPABILITIES, LogLevel, OnError, WhenFull};
use super::suggest;
use crate::selector::Selection;
use errors::{Error, codes};

pub(super) fn parse_on_error(value: &str) -> Result<OnError, Error> {
    match value {
        "warn" => Ok(OnError::Warn),
        "strict" => Ok(OnError::Strict),
        _ => Err(wrong_value("on-error", value, &["warn", "strict"])),
    }
}

pub(super) fn parse_switch(key: &'static str, value: &str) -> Result<bool, Error> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(wrong_value(key, value, &["on", "off"])),
    }
}

pub(super) fn parse_hits(value: &str) -> Result<HitCode, Error> {
    match value {
        "calls" => Ok(HitCode::Call),
        "stores" => Ok(HitCode::Store),
        _ => Err(wrong_value("hits", value, &["calls", "stores"])),
    }
}

pub(super) fn parse_when_full(value: &str) -> Result<WhenFull, Error> {
    match value {
        "drop-oldest" => Ok(WhenFull::DropOldest),
        "stop" => Ok(WhenFull::Stop),
        _ => Err(wrong_value("when-full", value, &["drop-oldest", "stop"])),
    }
}

/// Minimum size limit of an event file. One write adds only a small part of it.
const LEAST_SIZE: u64 = 8 << 20;

/// Parses a number of bytes, such as `500M` or `2G`.
pub(super) fn parse_size(key: &'static str, value: &str) -> Result<u64, Error> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("", 0)];
    let size = units.into_iter().find_map(|(unit, shift)| {
        let number: u64 = value.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(1 << shift)
    });
    size.filter(|size| *size >= LEAST_SIZE).ok_or_else(|| {
        Error::mistake(codes::H0105, format!("`{key}` cannot be `{value}`")).with(
            "expected",
            "a number of bytes, at least `8M`; the suffixes K, M and G are powers of 1,024",
        )
    })
}

/// Parses a subscription, such as `cpu:10ms;monitors`.
pub(super) fn parse_subscription(value: &str) -> Result<Subscription, Error> {
    Subscription::parse(value).map_err(|cause| {
        Error::mistake(codes::H0105, "`jvm-events` has an invalid value").with("cause", cause)
    })
}

/// Parses an address: `6300`, `127.0.0.1:6300`, `[::1]:6300` or `localhost:6300`.
pub(super) fn parse_address(key: &'static str, value: &str) -> Result<SocketAddr, Error> {
    let local = IpAddr::from(Ipv4Addr::LOCALHOST);
    let port = value.strip_prefix("localhost:").unwrap_or(value);
    let address = port
        .parse()
        .map(|port: u16| SocketAddr::from((local, port)));
    address.or_else(|_| value.parse()).map_err(|_| {
        Error::mistake(codes::H0105, format!("`{key}` cannot be `{value}`")).with(
            "expected",
            "a port, or an address in numbers and a port: `6300`, `127.0.0.1:6300`, `[::1]:6300`",
        )
    })
}

/// Parses a pattern of file names, such as `unit-%h-%p`.
pub(super) fn parse_file_name(value: &str) -> Result<FileName, Error> {
    FileName::parse(value).map_err(|cause| {
        Error::mistake(codes::H0105, format!("`file-name` cannot be `{value}`: it {cause}")).with(
            "expected",
            "a name such as `unit-%h-%p`: %p is the process id, %h the machine, %t the time of the start, %u the user, %% a %",
        )
    })
}

pub(super) fn parse_log(value: &str) -> Result<LogLevel, Error> {
    Ok(match value {
        "off" => LogLevel::Off,
        "error" => LogLevel::Error,
        "warn" => LogLevel::Warn,
        "info" => LogLevel::Info,
        "debug" => LogLevel::Debug,
        "trace" => LogLevel::Trace,
        _ => {
            return Err(wrong_value(
                "log",
                value,
                &["off", "error", "warn", "info", "debug", "trace"],
            ));
        }
    })
}

pub(super) fn check_grant(value: &str) -> Result<(), Error> {
    let name = value.strip_prefix('!').unwrap_or(value);
    if CAPABILITIES.contains(&name) {
        return Ok(());
    }
    let error = Error::mistake(codes::H0201, format!("unknown capability `{name}`"));
    Err(suggest::expected(error, name, &CAPABILITIES))
}

pub(super) fn check_selector(value: &str) -> Result<(), Error> {
    let Err(error) = Selection::parse(&[value]) else {
        return Ok(());
    };
    Err(Error::mistake(codes::H0110, error.to_string())
        .with("expected", "a name such as `com.acme.**`, `@annotation`, `<:supertype`, `source:Orders.java`, `loader:app`, `location:target/classes`; `!` in front excludes"))
}

/// The error for a `value` of `key` that is not among `expected`.
fn wrong_value(key: &str, value: &str, expected: &[&str]) -> Error {
    suggest::expected(
        Error::mistake(codes::H0105, format!("`{key}` cannot be `{value}`")),
        value,
        expected,
    )
}

/// Parses the place of a plugin among the others.
pub(super) fn parse_order(value: &str) -> Result<i16, Error> {
    let number = value.parse().ok();
    let number = number.filter(|number: &i16| (-1_000..=1_000).contains(number));
    number.ok_or_else(|| {
        Error::mistake(codes::H0105, "`order` is not the place of a plugin")
            .with(
                "expected",
                "a whole number from -1000 (outermost) to 1000 (innermost)",
            )
            .with("found", value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_without_a_host_is_local() {
        let address = |text| {
            let address = parse_address("jacoco-tcp", text).ok();
            address.map(|address| address.to_string())
        };
        for local in ["6300", "127.0.0.1:6300", "localhost:6300"] {
            assert_eq!(address(local).as_deref(), Some("127.0.0.1:6300"));
        }
        assert_eq!(address("[::1]:0").as_deref(), Some("[::1]:0"));
        assert_eq!(address("0.0.0.0:1").as_deref(), Some("0.0.0.0:1"));
        for wrong in [
            "",
            "65536",
            ":6300",
            "*:6300",
            "::1:6300",
            "example.org:1",
            "1.2.3.4",
        ] {
            assert_eq!(address(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units_and_a_minimum() {
        let size = |text| parse_size("max-size", text).ok();
        assert_eq!(size("8388608"), Some(8 << 20));
        assert_eq!(
            ["8192K", "8M", "2G"].map(size),
            [8 << 20, 8 << 20, 2 << 30].map(Some)
        );
        for wrong in ["", "M", "7M", "8m", "8MB", "-8M", "99999999999G", "8 M"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }
}
