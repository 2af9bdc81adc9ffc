//! Values of the JDK that are shown as their `toString` gives them: numbers, times, paths, and their like.
//!
//! Their fields are read, and no method of theirs is called. An object whose fields differ from those that are known is
//! described by its class.

use super::printed_classes::PrintedClass;
use super::reader::Reader;
use super::refs::{Local, LocalRef, jni};
use super::values::{FieldValue, ValueKind, read_text};
use crate::printed::numbers::{Decimals, MOST_WORDS, write_decimal, write_integer};
use crate::printed::text::TextWriter;
use crate::printed::times::{self, Date, TimeOfDay};
use jni_sys::jint;
use probes::spans::{JvmValue, MAX_TEXT};
use std::fmt::Write;

/// The value of `BigDecimal.intCompact` of a number that only `intVal` holds.
const NOT_COMPACT: i64 = i64::MIN;
/// Characters that are copied at once.
const CHUNK: usize = 128;

impl<'a> Reader<'a> {
    /// Describes an object without its contents. As much of a text as fits is written to `text`.
    pub fn describe<'t>(self, object: &LocalRef<'_>, text: &'t mut [u16]) -> Option<JvmValue<'t>> {
        let (number, kind) = self.class_of(object)?;
        let printed = match kind {
            ValueKind::Printed(index) => PrintedClass::at(index),
            _ => None,
        };
        match printed {
            Some(PrintedClass::Number | PrintedClass::Truth) => {
                if let Some(value) = self.number_value(object, printed) {
                    return Some(value);
                }
            }
            Some(PrintedClass::Builder) => {
                if let Some((kept, length)) = self.builder(object, text) {
                    return Some(JvmValue::Text(text.get(..kept)?, length));
                }
            }
            Some(printed) => {
                let mut out = TextWriter::new(text);
                if self.print(object, printed, &mut out).is_some() {
                    let length = out.finish();
                    let kept = text.get(..length)?;
                    return Some(JvmValue::Constant(kept, u32::try_from(length).ok()?));
                }
            }
            None => {}
        }
        let kind = (number, kind);
        self.values
            .read((self.jvmti, self.local), self.runtime, object, kind, text)
    }

    /// Writes the text of an object. Returns `None` if a field is missing; the text is then incomplete.
    fn print(
        self,
        object: &LocalRef<'_>,
        class: PrintedClass,
        out: &mut TextWriter<'_>,
    ) -> Option<()> {
        let number = |name| self.number_in(object, name);
        match class {
            PrintedClass::Decimal => self.print_decimal(object, out)?,
            PrintedClass::Integer => {
                let (is_negative, decimals) = self.integer(object)?;
                write_integer(out, is_negative, &decimals);
            }
            PrintedClass::Date => self.date(object)?.write(out),
            PrintedClass::Time => self.time(object)?.write(out),
            PrintedClass::DateTime => self.print_date_time(object, out)?,
            PrintedClass::WithOffset(name) => {
                let inner = self.object_in(object, name)?;
                match name {
                    "time" => self.time(&inner)?.write(out),
                    _ => self.print_date_time(&inner, out)?,
                }
                self.print_offset(object, out)?;
            }
            PrintedClass::Zoned => self.print_zoned(object, out)?,
            PrintedClass::Instant => {
                times::write_instant(out, number("seconds")?, number("nanos")?);
            }
            PrintedClass::Duration => {
                times::write_duration(out, number("seconds")?, number("nanos")?);
            }
            PrintedClass::Period => {
                let parts = [number("years")?, number("months")?, number("days")?];
                times::write_period(out, parts);
            }
            PrintedClass::Year => write!(out, "{}", number("year")?).ok()?,
            PrintedClass::YearMonth => {
                times::write_year(out, number("year")?);
                write!(out, "-{:02}", number("month")?).ok()?;
            }
            PrintedClass::MonthDay => {
                write!(out, "--{:02}-{:02}", number("month")?, number("day")?).ok()?;
            }
            PrintedClass::Offset => times::write_offset(out, number("totalSeconds")?),
            PrintedClass::Uuid => {
                let [most, least] = [number("mostSigBits")?, number("leastSigBits")?];
                print_uuid(out, most.cast_unsigned(), least.cast_unsigned());
            }
            PrintedClass::Uri => self.print_uri(object, out)?,
            PrintedClass::Url => self.print_url(object, out)?,
            PrintedClass::Locale => self.print_locale(object, out)?,
            PrintedClass::Text(name) => self.print_text(object, name, out)?,
            PrintedClass::Path => self.print_path(object, out)?,
            PrintedClass::Address => self.print_address(object, out)?,
            PrintedClass::Builder | PrintedClass::Number | PrintedClass::Truth => return None,
        }
        Some(())
    }

    /// The integer in a field of a primitive type.
    fn number_in(self, object: &LocalRef<'_>, name: &str) -> Option<i64> {
        match self.reached_in(object, name)? {
            FieldValue::Value(JvmValue::Number(b'B' | b'S' | b'I' | b'J', bits)) => {
                Some(bits.cast_signed())
            }
            _ => None,
        }
    }

    /// The number that an atomic number holds.
    fn number_value(
        self,
        object: &LocalRef<'_>,
        printed: Option<PrintedClass>,
    ) -> Option<JvmValue<'static>> {
        match self.reached_in(object, "value")? {
            FieldValue::Value(JvmValue::Number(_, bits))
                if printed == Some(PrintedClass::Truth) =>
            {
                Some(JvmValue::Number(b'Z', u64::from(bits != 0)))
            }
            FieldValue::Value(value) => Some(value),
            FieldValue::Object(_) => None,
        }
    }

    fn print_decimal(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let scale = i32::try_from(self.number_in(object, "scale")?).ok()?;
        let (is_negative, decimals) = match self.number_in(object, "intCompact")? {
            NOT_COMPACT => self.integer(&self.object_in(object, "intVal")?)?,
            compact => (compact < 0, Decimals::of(compact.unsigned_abs())),
        };
        write_decimal(out, is_negative, &decimals, scale);
        Some(())
    }

    /// Checks whether a `BigInteger` is negative, and returns its digits. Returns `None` for a number above the limit.
    fn integer(self, object: &LocalRef<'_>) -> Option<(bool, Decimals)> {
        let sign = self.number_in(object, "signum")?;
        let magnitude = self.object_in(object, "mag")?;
        let length = usize::try_from(self.local.array_length(&magnitude)).ok()?;
        let mut words = [0; MOST_WORDS];
        let room = words.get_mut(..length)?;
        copy_ints(self.local, &magnitude, room);
        Some((sign < 0, Decimals::of_words(&mut words, length)))
    }

    fn date(self, object: &LocalRef<'_>) -> Option<Date> {
        Some(Date {
            year: self.number_in(object, "year")?,
            month: self.number_in(object, "month")?,
            day: self.number_in(object, "day")?,
        })
    }

    fn time(self, object: &LocalRef<'_>) -> Option<TimeOfDay> {
        Some(TimeOfDay {
            hour: self.number_in(object, "hour")?,
            minute: self.number_in(object, "minute")?,
            second: self.number_in(object, "second")?,
            nano: self.number_in(object, "nano")?,
        })
    }

    fn print_date_time(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        self.date(&self.object_in(object, "date")?)?.write(out);
        out.push('T');
        self.time(&self.object_in(object, "time")?)?.write(out);
        Some(())
    }

    /// Writes the `ZoneOffset` in the field `offset`.
    fn print_offset(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let offset = self.object_in(object, "offset")?;
        times::write_offset(out, self.number_in(&offset, "totalSeconds")?);
        Some(())
    }

    /// Writes a time with its offset, and with its zone unless this is the offset.
    fn print_zoned(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        self.print_date_time(&self.object_in(object, "dateTime")?, out)?;
        self.print_offset(object, out)?;
        let (offset, zone) = (
            self.object_in(object, "offset")?,
            self.object_in(object, "zone")?,
        );
        if self.local.is_same_object(&offset, &zone) {
            return Some(());
        }
        out.push('[');
        if self.has_field(&zone, "totalSeconds") {
            times::write_offset(out, self.number_in(&zone, "totalSeconds")?);
        } else {
            self.print_text(&zone, "id", out)?;
        }
        out.push(']');
        Some(())
    }

    /// Writes the string in a field, and returns `None` for `null`.
    fn print_text(self, object: &LocalRef<'_>, name: &str, out: &mut TextWriter<'_>) -> Option<()> {
        let found = self.object_in(object, name)?;
        if !self.values.is_text(self.local, &found) {
            return None;
        }
        let mut units = [0; MAX_TEXT];
        match read_text(self.local, &found, &mut units)? {
            JvmValue::Text(units, length) => {
                out.push_units(units.iter().copied());
                // A text that is longer than the room is cut in the output, too.
                if length as usize > units.len() {
                    out.overflow();
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Writes the string in a field behind a prefix, or nothing for `null`.
    fn print_part(
        self,
        object: &LocalRef<'_>,
        (prefix, name): (&str, &str),
        out: &mut TextWriter<'_>,
    ) -> Option<bool> {
        if self.object_in(object, name).is_none() {
            return self.has_field(object, name).then_some(false);
        }
        out.write_str(prefix).ok()?;
        self.print_text(object, name, out)?;
        Some(true)
    }

    /// Writes a `URI`. One that was made from others has no string yet, but its parts.
    fn print_uri(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let part =
            |out: &mut TextWriter<'_>, prefix, name| self.print_part(object, (prefix, name), out);
        if part(out, "", "string")? {
            return Some(());
        }
        if part(out, "", "scheme")? {
            out.push(':');
        }
        if self.object_in(object, "path").is_none() {
            part(out, "", "schemeSpecificPart")?;
        } else {
            if self.object_in(object, "host").is_some() {
                out.write_str("//").ok()?;
                if part(out, "", "userInfo")? {
                    out.push('@');
                }
                self.print_host(object, out)?;
                match self.number_in(object, "port")? {
                    -1 => {}
                    port => write!(out, ":{port}").ok()?,
                }
            } else {
                part(out, "//", "authority")?;
            }
            part(out, "", "path")?;
            part(out, "?", "query")?;
        }
        part(out, "#", "fragment")?;
        Some(())
    }

    /// Writes the host of a `URI`; an IPv6 address is in brackets.
    fn print_host(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let host = self.object_in(object, "host")?;
        let mut units = [0; MAX_TEXT];
        let JvmValue::Text(units, _) = read_text(self.local, &host, &mut units)? else {
            return None;
        };
        let [colon, open] = [':', '['].map(|it| it as u16);
        let is_bare = units.contains(&colon) && units.first() != Some(&open);
        if is_bare {
            out.push('[');
        }
        out.push_units(units.iter().copied());
        if is_bare {
            out.push(']');
        }
        Some(())
    }

    /// Writes a `URL`, as handlers of protocols write it unless they are the program's.
    fn print_url(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let handler = self
            .local
            .object_class(&self.object_in(object, "handler")?)?;
        let signature = self.jvmti.class_signature(&handler).ok()?;
        if !signature.starts_with(b"Lsun/net/www/") {
            return None;
        }
        self.print_text(object, "protocol", out)?;
        out.push(':');
        if self.text_length(object, "authority") > 0 {
            self.print_part(object, ("//", "authority"), out)?;
        }
        self.print_part(object, ("", "path"), out)?;
        self.print_part(object, ("?", "query"), out)?;
        self.print_part(object, ("#", "ref"), out)?;
        Some(())
    }

    /// Writes a `Locale` without extensions.
    fn print_locale(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        if self.object_in(object, "localeExtensions").is_some() {
            return None;
        }
        let base = self.object_in(object, "baseLocale")?;
        let has = |name| self.text_length(&base, name) > 0;
        let [language, script, region, variant] =
            ["language", "script", "region", "variant"].map(has);
        self.print_text(&base, "language", out)?;
        if region || language && (variant || script) {
            self.print_part(&base, ("_", "region"), out)?;
        }
        if variant && (language || region) {
            self.print_part(&base, ("_", "variant"), out)?;
        }
        if script && (language || region) {
            self.print_part(&base, ("_#", "script"), out)?;
        }
        Some(())
    }

    /// The length of the string in a field; 0 for `null`.
    fn text_length(self, object: &LocalRef<'_>, name: &str) -> jint {
        let found = self.object_in(object, name);
        let found = found.filter(|found| self.values.is_text(self.local, found));
        found.map_or(0, |found| {
            jni!(self.local, v1_1.GetStringLength, found.as_raw())
        })
    }

    /// Writes a path: its string if it has been made, and otherwise its bytes.
    fn print_path(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        if self.object_in(object, "stringValue").is_some() {
            return self.print_text(object, "stringValue", out);
        }
        let path = self.object_in(object, "path")?;
        let length = usize::try_from(self.local.array_length(&path)).ok()?;
        let mut bytes = [0; MAX_TEXT];
        let room = bytes.get_mut(..length.min(MAX_TEXT))?;
        copy_bytes(self.local, &path, 0, room);
        for chunk in room.utf8_chunks() {
            out.write_str(chunk.valid()).ok()?;
            if !chunk.invalid().is_empty() {
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
        if length > MAX_TEXT {
            out.overflow();
        }
        Some(())
    }

    fn print_address(self, object: &LocalRef<'_>, out: &mut TextWriter<'_>) -> Option<()> {
        let holder = self.object_in(object, "holder")?;
        self.print_part(&holder, ("", "hostName"), out)?;
        let address = i32::try_from(self.number_in(&holder, "address")?).ok()?;
        let [a, b, c, d] = address.to_be_bytes();
        write!(out, "/{a}.{b}.{c}.{d}").ok()
    }

    /// Copies the characters of a `StringBuilder`. Returns the number of copied ones and of all.
    fn builder(self, object: &LocalRef<'_>, text: &mut [u16]) -> Option<(usize, u32)> {
        let array = self.object_in(object, "value")?;
        let class = self.local.object_class(&array)?;
        let signature = self.jvmti.class_signature(&class).ok()?;
        let is_wide = match (signature.as_slice(), self.number_in(object, "coder")) {
            (b"[C", _) => true,
            (b"[B", Some(coder)) => coder != 0,
            _ => return None,
        };
        let width = if is_wide && signature == b"[B" { 2 } else { 1 };
        let room = usize::try_from(self.local.array_length(&array)).ok()? / width;
        // Another thread may have changed the number before the array.
        let length = usize::try_from(self.number_in(object, "count")?)
            .ok()?
            .min(room);
        let kept = text.get_mut(..length.min(text.len()))?;
        if signature == b"[C" {
            copy_chars(self.local, &array, kept);
        } else {
            copy_units(self.local, &array, width, kept);
        }
        Some((kept.len(), u32::try_from(length).ok()?))
    }
}

fn print_uuid(out: &mut TextWriter<'_>, most: u64, least: u64) {
    let _ = write!(
        out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        most >> 32,
        most >> 16 & 0xFFFF,
        most & 0xFFFF,
        least >> 48,
        least & 0xFFFF_FFFF_FFFF
    );
}

/// Copies units of one or two bytes each, in the byte order of the machine, from an array of bytes.
fn copy_units(local: Local<'_>, array: &LocalRef<'_>, width: usize, units: &mut [u16]) {
    let mut bytes = [0; 2 * CHUNK];
    let mut start = 0;
    for units in units.chunks_mut(CHUNK) {
        let room = bytes.get_mut(..units.len() * width).unwrap_or_default();
        copy_bytes(local, array, start, room);
        start += room.len();
        for (unit, bytes) in units.iter_mut().zip(room.chunks(width)) {
            *unit = match *bytes {
                [low, high] => u16::from_ne_bytes([low, high]),
                [low] => low.into(),
                _ => 0,
            };
        }
    }
}

/// Copies a part of an array of bytes that is at least so long.
fn copy_bytes(local: Local<'_>, array: &LocalRef<'_>, start: usize, bytes: &mut [u8]) {
    let (raw, length) = (array.as_raw(), size(bytes.len()));
    let into = bytes.as_mut_ptr().cast();
    jni!(
        local,
        v1_1.GetByteArrayRegion,
        raw,
        size(start),
        length,
        into
    );
}

/// Copies the beginning of an array of characters that is at least so long.
fn copy_chars(local: Local<'_>, array: &LocalRef<'_>, units: &mut [u16]) {
    let (raw, length) = (array.as_raw(), size(units.len()));
    let into = units.as_mut_ptr();
    jni!(local, v1_1.GetCharArrayRegion, raw, 0, length, into);
}

/// Copies the beginning of an array of integers that is at least so long.
fn copy_ints(local: Local<'_>, array: &LocalRef<'_>, words: &mut [u32]) {
    let (raw, length) = (array.as_raw(), size(words.len()));
    let into = words.as_mut_ptr().cast();
    jni!(local, v1_1.GetIntArrayRegion, raw, 0, length, into);
}

fn size(length: usize) -> jint {
    jint::try_from(length).unwrap_or(0)
}
