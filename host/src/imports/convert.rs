//! Converts between values of the interface and values of the rules for plans.

use jvms::modified_utf8::Utf8;
use plan_rules::RefusedRequest;
use rewriter::{Constant, Member};
use wasmtime::Result;

use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::types::{self, Failure, Site};

/// The result of a function that plugins call.
pub(super) type Answer<T = ()> = Result<std::result::Result<T, Failure>>;

impl From<RefusedRequest> for Failure {
    fn from(refused: RefusedRequest) -> Self {
        Self {
            code: refused.code.to_owned(),
            message: refused.message,
            help: refused.help.map(str::to_owned),
        }
    }
}

/// Converts the result of a request.
pub(super) fn answer<T>(asked: std::result::Result<T, RefusedRequest>) -> Answer<T> {
    Ok(asked.map_err(Failure::from))
}

/// Returns the tokens of insertion points.
pub(super) fn tokens(at: &[Site]) -> impl ExactSizeIterator<Item = u64> {
    at.iter().map(|site| site.token)
}

/// Returns the insertion points of tokens.
pub(super) fn sites(tokens: std::ops::Range<u64>) -> Vec<Site> {
    tokens.map(|token| Site { token }).collect()
}

pub(super) fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

pub(super) fn member_name(target: MemberRef, interface: bool) -> Member {
    Member {
        owner: target.owner,
        name: target.name,
        descriptor: target.descriptor,
        interface,
    }
}

pub(super) fn constant(value: types::Constant) -> Constant {
    match value {
        types::Constant::Integer(value) => Constant::Integer(value),
        types::Constant::Long(value) => Constant::Long(value),
        types::Constant::Float(value) => Constant::Float(value),
        types::Constant::Double(value) => Constant::Double(value),
        types::Constant::Text(text) => Constant::Text(text),
    }
}
