//! The plan resource over the rewriter's plan and its checks.

use std::cell::RefCell;
use std::fmt::Write;

use classhook_sdk::Capture;
use classhook_sdk::source::{CodeSink, PlanSink};
use classhook_sdk::wit::{Failure, ProbeId, Site};
use rewriter::span::{self, Spans};
use rewriter::{Action, ClassFile, Edit, EditPlan, MethodIndex, Place, SiteChecker};

/// The host's limits per class.
const MAX_EDITS: usize = 32_768;
const MAX_TAG_BYTES: usize = 1 << 20;

/// What the host answers when something is refused.
pub fn failure(code: &str, message: &dyn std::fmt::Display) -> Failure {
    Failure {
        code: code.to_owned(),
        message: message.to_string(),
        help: None,
    }
}

/// Records a plan for one class.
pub struct Recorder<'c, 'a> {
    class: &'c ClassFile<'a>,
    loaded: bool,
    pub(crate) state: RefCell<State<'c, 'a>>,
}

pub(crate) struct State<'c, 'a> {
    pub(crate) checker: SiteChecker<'c, 'a>,
    sites: Vec<rewriter::Site>,
    pub(crate) plan: EditPlan,
    hits: u32,
    counts: u32,
    spans: Spans,
    tag_bytes: usize,
    text: String,
}

impl<'c, 'a> Recorder<'c, 'a> {
    /// Nothing recorded yet.
    pub fn new(class: &'c ClassFile<'a>, loaded: bool) -> Self {
        let checker = SiteChecker::new(class);
        let state = State {
            checker,
            sites: Vec::new(),
            plan: EditPlan::new(),
            hits: 0,
            counts: 0,
            spans: Spans::default(),
            tag_bytes: 0,
            text: String::new(),
        };
        Self {
            class,
            loaded,
            state: RefCell::new(state),
        }
    }

    /// Whether the JVM has the class already.
    pub fn loaded(&self) -> bool {
        self.loaded
    }

    /// Hands out sites, if each of them exists.
    pub fn make_sites(
        &self,
        sites: impl Iterator<Item = rewriter::Site>,
    ) -> Result<Vec<Site>, Failure> {
        let state = &mut *self.state.borrow_mut();
        let make = |site| {
            state
                .checker
                .check(site)
                .map_err(|error| failure("H0317", &error))?;
            Ok(hand_out(&mut state.sites, site))
        };
        sites.map(make).collect()
    }

    /// Hands out a place that a method with code has; whether it has code is asked when it is used.
    pub fn make_site(&self, method: MethodIndex, place: Place) -> Site {
        let site = rewriter::Site { method, place };
        hand_out(&mut self.state.borrow_mut().sites, site)
    }

    /// One line per edit and note so far.
    pub fn describe(&self) -> String {
        self.state.borrow().text.clone()
    }

    /// The plan so far.
    pub fn plan(&self) -> EditPlan {
        self.state.borrow().plan.clone()
    }

    pub(crate) fn method_name(&self, index: MethodIndex) -> String {
        let method = self.class.method(index);
        method
            .map(|method| {
                format!(
                    "{}{}",
                    method.name().to_str_lossless(),
                    method.descriptor().to_str_lossless()
                )
            })
            .unwrap_or_default()
    }

    pub(crate) fn check_limits(&self, sites: usize, tag: usize) -> Result<(), Failure> {
        let state = self.state.borrow();
        let edits = state.plan.edits().len() + state.plan.class_edits().len();
        if edits + state.spans.as_slice().len() + sites > MAX_EDITS {
            return Err(failure(
                "H0315",
                &format_args!("expected at most {MAX_EDITS} edits to one class"),
            ));
        }
        if state.tag_bytes + tag > MAX_TAG_BYTES {
            return Err(failure(
                "H0315",
                &format_args!("expected at most {MAX_TAG_BYTES} bytes of tags in one class"),
            ));
        }
        Ok(())
    }

    /// Records what `action` makes of the next number of its kind.
    fn record(
        &self,
        site: Site,
        tag: &[u8],
        action: impl FnOnce(&mut State<'c, 'a>) -> Action,
    ) -> Result<ProbeId, Failure> {
        let state = &mut *self.state.borrow_mut();
        let site = state.checked(site)?;
        let action = action(state);
        state
            .plan
            .push(Edit { site, action })
            .map_err(|error| failure("H0317", &error))?;
        let method = self.method_name(site.method);
        state.say(&format!("{method} {}: {action}", site.place), tag);
        Ok(ProbeId {
            value: action.probe().unwrap_or_default(),
        })
    }

    fn probes(
        &self,
        at: &[Site],
        tag: &[u8],
        action: impl Fn(&mut State<'c, 'a>) -> Action,
    ) -> Result<Vec<ProbeId>, Failure> {
        self.check_limits(at.len(), tag.len())?;
        let probes = at
            .iter()
            .map(|site| self.record(*site, tag, &action))
            .collect::<Result<_, _>>()?;
        self.state.borrow_mut().tag_bytes += tag.len();
        Ok(probes)
    }
}

impl State<'_, '_> {
    /// A site that was handed out and exists.
    pub(crate) fn checked(&mut self, site: Site) -> Result<rewriter::Site, Failure> {
        let Some(found) = self.sites.get(site.token as usize).copied() else {
            return Err(failure(
                "H0317",
                &format_args!("site {} was not made by a view of this class", site.token),
            ));
        };
        let exists = self.checker.check(found);
        exists.map_err(|error| failure("H0317", &error))?;
        Ok(found)
    }

    /// Adds a line, with the plugin's own bytes if there are any.
    pub(crate) fn say(&mut self, line: &str, tag: &[u8]) {
        self.text.push_str(line);
        if !tag.is_empty() {
            let _ = write!(self.text, " tag {:?}", String::from_utf8_lossy(tag));
        }
        self.text.push('\n');
    }
}

/// The number that a counter of probes gives next.
fn next(counter: &mut u32) -> u32 {
    let number = *counter;
    *counter += 1;
    number
}

fn to_host(capture: &Capture) -> span::Capture {
    let mut result = span::Capture {
        returned: capture.returned,
        thrown: capture.thrown,
        sum_up: capture.summed_up,
        ..span::Capture::default()
    };
    if let Some(bytes) = capture.limit {
        result.limit = bytes.min(span::MAX_LIMIT);
    }
    capture
        .arguments
        .iter()
        .for_each(|index| result.argument(*index));
    if capture.all_arguments {
        result.arguments = span::Arguments::All;
    }
    result
}

fn hand_out(sites: &mut Vec<rewriter::Site>, site: rewriter::Site) -> Site {
    sites.push(site);
    Site {
        token: sites.len() as u64 - 1,
    }
}

impl PlanSink for Recorder<'_, '_> {
    fn hit(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.probes(at, tag, |state| Action::Hit(next(&mut state.hits)))
    }

    fn count(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.probes(at, tag, |state| Action::Count(next(&mut state.counts)))
    }

    fn span(&self, method: u16, capture: &Capture, tag: &[u8]) -> Result<ProbeId, Failure> {
        self.check_limits(1, tag.len())?;
        let state = &mut *self.state.borrow_mut();
        let method = MethodIndex(method);
        let value = state
            .spans
            .add(self.class, method, to_host(capture))
            .map_err(|error| failure("H0317", &error))?;
        state.tag_bytes += tag.len();
        if let Some(span) = state.spans.as_slice().last() {
            let line = format!("{}: {span}", self.method_name(method));
            state.say(&line, tag);
        }
        Ok(ProbeId { value })
    }

    fn code_sink(&self) -> CodeSink<'_> {
        CodeSink::Native(self)
    }

    fn note(&self, at: Site, text: &str) {
        let state = &mut *self.state.borrow_mut();
        if let Some(site) = state.sites.get(at.token as usize) {
            let _ = writeln!(
                state.text,
                "{} {}: note {text}",
                self.method_name(site.method),
                site.place
            );
        }
    }
}
