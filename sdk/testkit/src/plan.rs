//! The plan resource over the rewriter's plan and its checks.

use std::cell::RefCell;
use std::fmt::Write;

use classhook_sdk::source::PlanSink;
use classhook_sdk::wit::{Failure, ProbeId, Site};
use rewriter::{ClassFile, EditPlan, MethodIndex, Place, SiteChecker};

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
    state: RefCell<State<'c, 'a>>,
}

struct State<'c, 'a> {
    checker: SiteChecker<'c, 'a>,
    sites: Vec<rewriter::Site>,
    plan: EditPlan,
    tag_bytes: usize,
    text: String,
}

impl<'c, 'a> Recorder<'c, 'a> {
    /// Nothing recorded yet.
    pub fn new(class: &'c ClassFile<'a>) -> Self {
        let checker = SiteChecker::new(class);
        let state = State {
            checker,
            sites: Vec::new(),
            plan: EditPlan::new(),
            tag_bytes: 0,
            text: String::new(),
        };
        Self {
            class,
            state: RefCell::new(state),
        }
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

    /// Hands out the entry of a method; whether it has code is asked when it is used.
    pub fn make_entry(&self, method: MethodIndex) -> Site {
        hand_out(
            &mut self.state.borrow_mut().sites,
            rewriter::Site {
                method,
                place: Place::Entry,
            },
        )
    }

    /// One line per edit and note so far.
    pub fn describe(&self) -> String {
        self.state.borrow().text.clone()
    }

    /// The plan so far.
    pub fn plan(&self) -> EditPlan {
        self.state.borrow().plan.clone()
    }

    fn method_name(&self, index: MethodIndex) -> String {
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

    fn check_limits(&self, sites: usize, tag: usize) -> Result<(), Failure> {
        let state = self.state.borrow();
        if state.plan.edits().len() + sites > MAX_EDITS {
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

    fn record(&self, site: Site, tag: &[u8]) -> Result<ProbeId, Failure> {
        let state = &mut *self.state.borrow_mut();
        let Some(site) = state.sites.get(site.token as usize).copied() else {
            return Err(failure(
                "H0317",
                &format_args!("site {} was not made by a view of this class", site.token),
            ));
        };
        let value = state.plan.probe_count();
        state
            .checker
            .check(site)
            .and_then(|()| state.plan.hit(site, value))
            .map_err(|error| failure("H0317", &error))?;
        let _ = write!(
            state.text,
            "{} {}: hit {value}",
            self.method_name(site.method),
            site.place
        );
        if !tag.is_empty() {
            let _ = write!(state.text, " tag {:?}", String::from_utf8_lossy(tag));
        }
        state.text.push('\n');
        Ok(ProbeId { value })
    }
}

fn hand_out(sites: &mut Vec<rewriter::Site>, site: rewriter::Site) -> Site {
    sites.push(site);
    Site {
        token: sites.len() as u64 - 1,
    }
}

impl PlanSink for Recorder<'_, '_> {
    fn hit(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.check_limits(at.len(), tag.len())?;
        let probes = at
            .iter()
            .map(|site| self.record(*site, tag))
            .collect::<Result<_, _>>()?;
        self.state.borrow_mut().tag_bytes += tag.len();
        Ok(probes)
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
