//! One class in one plugin's hands: what the views read and what the plan records.

use rewriter::span::{Capture, Spans};
use rewriter::{
    Action, Bci, Change, ClassEdit, ClassFile, Edit, EditPlan, MethodIndex, Place, PlanError,
    ReadError, Site, SiteChecker, Snippet,
};
use self_cell::self_cell;

use crate::Loader;
use crate::bindings::classhook::plugin::types::Failure;

/// Most edits to one class by one plugin: as many as one array of probes holds.
pub const MAX_EDITS: usize = probes::ARRAY_LENGTH;
/// Most bytes of tags in one class by one plugin.
pub const MAX_TAG_BYTES: usize = 1 << 20;
/// Most bytes of code and structure that one plugin adds to a class, before they are spliced.
const MAX_CODE_BYTES: usize = 4 << 20;
/// Most sites made in one class by one plugin.
const MAX_SITES: usize = 1 << 20;
/// Most notes kept of one class, and most bytes of each.
const MAX_NOTES: usize = 100;
const MAX_NOTE_BYTES: usize = 4 << 10;

/// Stands for the resource `class-view`.
pub struct ClassHandle;
/// Stands for the resource `method-view`.
pub struct MethodHandle;
/// Stands for the resource `plan`.
pub struct PlanHandle;

type Checker<'c> = SiteChecker<'c, 'c>;

self_cell! {
    /// Class bytes with their structure.
    pub struct OwnedClass {
        owner: Vec<u8>,
        #[covariant]
        dependent: ClassFile,
    }
}

self_cell! {
    /// A class with what remembers its instruction starts.
    struct CheckedClass {
        owner: OwnedClass,
        #[not_covariant]
        dependent: Checker,
    }
}

/// A class, parsed once and handed from plugin to plugin.
pub struct Subject {
    class: CheckedClass,
    /// The defining loader.
    pub loader: Loader,
    /// JaCoCo's class id of the bytes.
    fingerprint: u64,
    /// Whether the bytes are those of the first load, and so the id JaCoCo's.
    known: bool,
    /// Whether the class is already loaded.
    pub retransforming: bool,
}

impl Subject {
    /// Reads the structure of a class file; `known` says that these are the bytes of the first load.
    pub fn read(
        bytes: &[u8],
        loader: &Loader,
        retransforming: bool,
        known: bool,
    ) -> Result<Self, ReadError> {
        let fingerprint = rewriter::fingerprint(bytes);
        let class = OwnedClass::try_new(bytes.to_vec(), |bytes| ClassFile::read(bytes))?;
        let class = CheckedClass::new(class, |class| SiteChecker::new(class.borrow_dependent()));
        Ok(Self {
            class,
            loader: loader.clone(),
            fingerprint,
            known,
            retransforming,
        })
    }

    /// CRC-64 of the bytes.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// JaCoCo's class id, where the bytes are those of the first load.
    pub fn class_id(&self) -> Option<u64> {
        self.known.then_some(self.fingerprint)
    }

    /// The view of the class.
    pub fn class(&self) -> &ClassFile<'_> {
        self.class.borrow_owner().borrow_dependent()
    }

    /// Name and descriptor of a method, for people.
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        let method = self.class().method(index)?;
        Some(format!(
            "{}{}",
            method.name().to_str_lossless(),
            method.descriptor().to_str_lossless()
        ))
    }
}

/// What a plugin asked for, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Hits are numbered from 0, and so are counts.
    pub plan: EditPlan,
    /// How many hits.
    pub hits: u32,
    /// How many counts.
    pub counts: u32,
    /// Methods timed from entry to end.
    pub spans: Spans,
    /// Bytes of the plugin's own, in the order of the requests.
    pub tags: Vec<Tag>,
    /// For people.
    pub notes: Vec<Note>,
    tag_bytes: usize,
    code_bytes: usize,
}

impl Recording {
    /// Edits and spans asked for.
    pub fn edits(&self) -> usize {
        self.plan.edits().len() + self.plan.class_edits().len() + self.spans.as_slice().len()
    }

    fn tag(&mut self, kind: Kind, site: Site, probes: std::ops::Range<u32>, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.tag_bytes += bytes.len();
        self.tags.push(Tag {
            kind,
            site,
            first: probes.start,
            count: probes.end - probes.start,
            bytes: bytes.to_vec(),
        });
    }
}

/// The kinds of probes; each is numbered from 0 in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reached or not.
    Hit,
    /// How often.
    Count,
    /// From entry to end.
    Span,
}

/// A plugin's own bytes for `count` probes from `first` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Of which kind the probes are.
    pub kind: Kind,
    /// Where the first of them is.
    pub site: Site,
    /// The first probe.
    pub first: u32,
    /// How many probes.
    pub count: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A line for people about a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub site: Site,
    /// What.
    pub text: String,
}

/// What the last refused request was about.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The bci in question, if there is one.
    pub bci: Option<u16>,
    /// What the plugin was told.
    pub failure: Failure,
}

/// One call of a plugin's `transform`.
pub struct Job {
    /// The class.
    pub subject: Subject,
    /// What was asked for so far.
    pub recording: Recording,
    /// The last refusal, for the message if the plugin gives up over it.
    pub refusal: Option<Refusal>,
    /// The method the plugin asked about last.
    pub method: Option<MethodIndex>,
    /// Sites handed out; a token is a position here.
    sites: Vec<Site>,
}

impl Job {
    /// Nothing asked for yet.
    pub fn new(mut subject: Subject) -> Self {
        subject
            .class
            .with_dependent_mut(|_, checker| checker.begin());
        Self {
            subject,
            recording: Recording::default(),
            refusal: None,
            method: None,
            sites: Vec::new(),
        }
    }

    /// Hands out sites, if each of them exists. Gives the token of the first; the others follow.
    pub fn make_sites(
        &mut self,
        places: impl ExactSizeIterator<Item = Site>,
    ) -> Result<std::ops::Range<u64>, Failure> {
        self.make_room(places.len())?;
        let first = self.sites.len();
        let sites = &mut self.sites;
        let refused = self.subject.class.with_dependent_mut(|_, checker| {
            for site in places {
                if let Err(error) = checker.check(site) {
                    return Some((site, error));
                }
                sites.push(site);
            }
            None
        });
        match refused {
            None => Ok(first as u64..self.sites.len() as u64),
            Some((site, error)) => {
                self.sites.truncate(first);
                self.method = Some(site.method);
                Err(self.refuse(place_bci(site.place), "H0317", error.to_string(), None))
            }
        }
    }

    /// Hands out sites that are known to exist.
    pub fn make_known_sites(
        &mut self,
        places: impl Iterator<Item = Site>,
    ) -> Result<std::ops::Range<u64>, Failure> {
        self.make_room(1)?;
        let first = self.sites.len();
        let room = MAX_SITES - first;
        self.sites.extend(places.take(room));
        Ok(first as u64..self.sites.len() as u64)
    }

    fn make_room(&mut self, wanted: usize) -> Result<(), Failure> {
        if self.sites.len() + wanted <= MAX_SITES {
            return Ok(());
        }
        let message = format!(
            "expected at most {MAX_SITES} sites in one class, found {wanted} more than {}",
            self.sites.len()
        );
        Err(self.refuse(
            None,
            "H0315",
            message,
            Some("ask for each site once".to_owned()),
        ))
    }

    /// The site behind a token.
    pub fn site(&self, token: u64) -> Option<Site> {
        usize::try_from(token)
            .ok()
            .and_then(|at| self.sites.get(at))
            .copied()
    }

    /// Records hit probes at the sites; gives their numbers.
    pub fn hit(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Result<std::ops::Range<u32>, Failure> {
        let first = self.recording.hits;
        let probes = self.probes(Kind::Hit, first, tokens, tag)?;
        self.recording.hits = probes.end;
        Ok(probes)
    }

    /// Records counters at the sites; gives their numbers.
    pub fn count(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Result<std::ops::Range<u32>, Failure> {
        let first = self.recording.counts;
        let probes = self.probes(Kind::Count, first, tokens, tag)?;
        self.recording.counts = probes.end;
        Ok(probes)
    }

    fn probes(
        &mut self,
        kind: Kind,
        first: u32,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Result<std::ops::Range<u32>, Failure> {
        self.check_limits(tokens.len(), tag.len())?;
        let mut probe = first;
        let mut first_site = None;
        for token in tokens {
            let site = self.known_site(token)?;
            let action = match kind {
                Kind::Count => Action::Count(probe),
                _ => Action::Hit(probe),
            };
            let pushed = self.check_code(site.method).and_then(|()| {
                let pushed = self.recording.plan.push(Edit { site, action });
                pushed.map_err(|error| error.to_string())
            });
            if let Err(error) = pushed {
                return Err(self.refuse(place_bci(site.place), "H0317", error, None));
            }
            first_site.get_or_insert(site);
            probe += 1;
        }
        if let Some(site) = first_site {
            self.recording.tag(kind, site, first..probe, tag);
        }
        Ok(first..probe)
    }

    /// Records code at the sites, if it fits each of them. `weight` is its size in bytes, for the limit.
    pub fn insert(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        code: Snippet,
        weight: usize,
    ) -> Result<(), Failure> {
        self.check_limits(tokens.len(), 0)?;
        let code_bytes = self.weighed(weight)?;
        let mut sites = Vec::with_capacity(tokens.len());
        for token in tokens {
            let site = self.known_site(token)?;
            self.check_snippet(site, &code)?;
            sites.push(site);
        }
        let plan = &mut self.recording.plan;
        let kept = plan.keep(code).and_then(|id| {
            let action = Action::Insert(id);
            sites
                .into_iter()
                .try_for_each(|site| plan.push(Edit { site, action }))
        });
        if let Err(error) = kept {
            return Err(self.refuse(None, "H0315", error.to_string(), None));
        }
        self.recording.code_bytes = code_bytes;
        Ok(())
    }

    /// Bytes of code and structure with `weight` more, if the class may have so many.
    fn weighed(&mut self, weight: usize) -> Result<usize, Failure> {
        let bytes = self.recording.code_bytes.saturating_add(weight);
        if bytes <= MAX_CODE_BYTES {
            return Ok(bytes);
        }
        let message = format!(
            "expected at most {MAX_CODE_BYTES} bytes of added code and members in one class, found {bytes}"
        );
        let help = "insert one snippet at many sites, and calls instead of long code";
        Err(self.refuse(None, "H0315", message, Some(help.to_owned())))
    }

    /// Code before each instruction, and behind it; each with its size in bytes.
    pub fn wrap(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        before: (Snippet, usize),
        after: (Snippet, usize),
    ) -> Result<(), Failure> {
        let at = self.instructions(tokens)?;
        let (mut fronts, mut backs) = (Vec::new(), Vec::new());
        for (method, bci) in at {
            let site = |place| Site { method, place };
            fronts.push(site(Place::Before(bci)));
            backs.push(site(Place::FallThrough(bci)));
        }
        self.check_limits(fronts.len() + backs.len(), 0)?;
        let code_bytes = self.weighed(before.1.saturating_add(after.1))?;
        for (sites, code) in [(&fronts, &before.0), (&backs, &after.0)] {
            for site in sites {
                self.check_snippet(*site, code)?;
            }
        }
        let plan = &mut self.recording.plan;
        let mut add = |sites: Vec<Site>, code| {
            let action = Action::Insert(plan.keep(code)?);
            let mut edits = sites.into_iter().map(|site| Edit { site, action });
            edits.try_for_each(|edit| plan.push(edit))
        };
        let added = add(fronts, before.0).and_then(|()| add(backs, after.0));
        added.map_err(|error| self.refuse(None, "H0315", error.to_string(), None))?;
        self.recording.code_bytes = code_bytes;
        Ok(())
    }

    /// Records a change of each of these instructions, if it suits all of them. `weight` is what that takes in bytes.
    pub fn change(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        change: &Change,
        weight: usize,
    ) -> Result<(), Failure> {
        self.check_limits(tokens.len(), 0)?;
        let code_bytes = self.weighed(weight)?;
        let at = self.instructions(tokens)?;
        for (method, bci) in &at {
            self.checked(Some(bci.0), |checker| {
                checker.check_change(*method, *bci, change)
            })?;
        }
        let plan = &mut self.recording.plan;
        let mut at = at.into_iter();
        let added = at.try_for_each(|(method, bci)| plan.change(method, bci, change.clone()));
        added.map_err(|error| self.refuse(None, "H0315", error.to_string(), None))?;
        self.recording.code_bytes = code_bytes;
        Ok(())
    }

    /// Records an edit of the class itself. `weight` is its size in bytes.
    pub fn edit_class(&mut self, edit: ClassEdit, weight: usize) -> Result<(), Failure> {
        self.check_limits(1, 0)?;
        let code_bytes = self.weighed(weight)?;
        let loaded = self.subject.retransforming;
        self.checked(None, |checker| checker.check_class_edit(&edit, loaded))?;
        let added = self.recording.plan.edit_class(edit);
        added.map_err(|error| self.refuse(None, "H0315", error.to_string(), None))?;
        self.recording.code_bytes = code_bytes;
        Ok(())
    }

    /// The instructions behind tokens, all of which must have been made for instructions.
    fn instructions(
        &mut self,
        tokens: impl Iterator<Item = u64>,
    ) -> Result<Vec<(MethodIndex, Bci)>, Failure> {
        tokens
            .map(|token| match self.known_site(token)? {
                Site {
                    method,
                    place: Place::At(bci),
                } => Ok((method, bci)),
                Site { place, .. } => {
                    let message = format!("expected an instruction, found the place `{place}`");
                    let help = "ask `method-view.at` for the sites of instructions".to_owned();
                    Err(self.refuse(place_bci(place), "H0317", message, Some(help)))
                }
            })
            .collect()
    }

    fn check_snippet(&mut self, site: Site, code: &Snippet) -> Result<(), Failure> {
        self.checked(place_bci(site.place), |checker| {
            checker
                .check(site)
                .and_then(|()| checker.check_snippet(site, code))
        })
    }

    /// Asks the checker; what it refuses is told to the plugin.
    fn checked(
        &mut self,
        bci: Option<u16>,
        ask: impl FnOnce(&mut Checker<'_>) -> Result<(), PlanError>,
    ) -> Result<(), Failure> {
        let asked = self
            .subject
            .class
            .with_dependent_mut(|_, checker| ask(checker));
        asked.map_err(|error| self.refuse(bci, "H0317", error.to_string(), None))
    }

    /// The site behind a token, or why there is none.
    fn known_site(&mut self, token: u64) -> Result<Site, Failure> {
        self.site(token).ok_or_else(|| {
            let message = format!("site {token} was not made by a view of this class");
            self.refuse(None, "H0317", message, None)
        })
    }

    /// Records a span over a method; gives its number.
    pub fn span(
        &mut self,
        method: MethodIndex,
        capture: Capture,
        tag: &[u8],
    ) -> Result<u32, Failure> {
        self.check_limits(1, tag.len())?;
        let spans = &mut self.recording.spans;
        let number = match spans.add(self.subject.class(), method, capture) {
            Ok(number) => number,
            Err(error) => return Err(self.refuse(None, "H0317", error.to_string(), None)),
        };
        let place = Place::Entry;
        self.recording
            .tag(Kind::Span, Site { method, place }, number..number + 1, tag);
        Ok(number)
    }

    /// Sites of `entry` are made without a check.
    fn check_code(&self, method: MethodIndex) -> Result<(), String> {
        let has_code = self
            .subject
            .class()
            .method(method)
            .is_some_and(|method| method.has_code());
        if has_code {
            Ok(())
        } else {
            Err(format!(
                "method {method} has no code, so nothing can be inserted into it"
            ))
        }
    }

    fn check_limits(&mut self, edits: usize, tag_bytes: usize) -> Result<(), Failure> {
        let edits = self.recording.edits() + edits;
        let tag_bytes = self.recording.tag_bytes + tag_bytes;
        if edits > MAX_EDITS {
            let message = format!("expected at most {MAX_EDITS} edits to one class, found {edits}");
            return Err(self.refuse(
                None,
                "H0315",
                message,
                Some("instrument fewer places of large classes".to_owned()),
            ));
        }
        if tag_bytes > MAX_TAG_BYTES {
            let message = format!(
                "expected at most {MAX_TAG_BYTES} bytes of tags in one class, found {tag_bytes}"
            );
            return Err(self.refuse(
                None,
                "H0315",
                message,
                Some("keep tags short: they are meant for keys".to_owned()),
            ));
        }
        Ok(())
    }

    /// Keeps a note about a site, up to a limit.
    pub fn note(&mut self, token: u64, mut text: String) {
        if let Some(site) = self.site(token)
            && self.recording.notes.len() < MAX_NOTES
        {
            truncate(&mut text, MAX_NOTE_BYTES);
            self.recording.notes.push(Note { site, text });
        }
    }

    /// Remembers a refusal and gives what the plugin is told.
    pub fn refuse(
        &mut self,
        bci: Option<u16>,
        code: &str,
        message: String,
        help: Option<String>,
    ) -> Failure {
        let failure = Failure {
            code: code.to_owned(),
            message,
            help,
        };
        self.refusal = Some(Refusal {
            bci,
            failure: failure.clone(),
        });
        failure
    }
}

/// Cuts a text at a character boundary.
pub fn truncate(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
    }
}

/// The instruction that a place is about.
pub(crate) fn place_bci(place: Place) -> Option<u16> {
    match place {
        Place::Before(bci)
        | Place::At(bci)
        | Place::FallThrough(bci)
        | Place::Jump { source: bci, .. } => Some(bci.0),
        _ => None,
    }
}
