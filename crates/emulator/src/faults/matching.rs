//! Which requests a rule is about.

use std::collections::{BTreeMap, BTreeSet};

use super::{allocation::Hardware, pattern::Pattern, time::When};
use crate::{
    clock::Instant,
    http::{Incoming, Method},
    record::{Description, RequestKind},
    routes::common,
};

/// Which requests a rule is about; what is left out fits everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Match {
    pub(super) methods: BTreeSet<Method>,
    /// The type, with the action at its end for actions.
    pub(super) kind: Option<Pattern>,
    /// The whole path.
    pub(super) path: Option<Pattern>,
    /// The last name.
    pub(super) name: Option<Pattern>,
    pub(super) pages: Option<Pages>,
    /// Machines that need hardware; for rules about that alone.
    pub(super) hardware: Hardware,
    /// Not before this.
    pub(super) from: Option<When>,
    /// Not at this or later.
    pub(super) until: Option<When>,
    /// Only after the rule of this name has acted.
    pub(super) follows: Option<String>,
    /// Only these of the matching requests, counted from 1.
    pub(super) nth: BTreeSet<u64>,
    /// Only after so many matching requests.
    pub(super) after: u64,
    /// So many times at most.
    pub(super) count: Option<u64>,
}

/// Which pages of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// These, counted from 1.
    These(BTreeSet<u64>),
    /// All that a link leads to.
    Linked,
}

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) method: Method,
    pub(crate) kind: &'a str,
    pub(crate) path: &'a str,
    pub(crate) name: &'a str,
    /// The page of a list, from 1.
    pub(crate) page: Option<u64>,
    /// Whether it reads a resource or a list of them.
    pub(crate) reads: bool,
}

impl<'a> Subject<'a> {
    pub(crate) fn of(incoming: &'a Incoming, description: &'a Description) -> Self {
        let list = description.kind == RequestKind::List;
        Self {
            method: incoming.method,
            kind: &description.resource_type,
            path: &incoming.path,
            name: &description.name,
            page: list.then(|| common::page_number(&incoming.query)),
            reads: list || description.kind == RequestKind::Read,
        }
    }
}

impl Match {
    /// Fixes times that are counted from now on.
    pub(super) fn start(&mut self, fix: impl Fn(When) -> When) {
        self.from = self.from.map(&fix);
        self.until = self.until.map(&fix);
    }

    /// Whether a request is one of those that the rule counts; the others are named with how often
    /// they acted.
    pub(super) fn fits(
        &self,
        subject: Subject<'_>,
        now: Instant,
        fired: &BTreeMap<String, u64>,
    ) -> bool {
        let pattern = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.fits(text))
        };
        let page = match (&self.pages, subject.page) {
            (None, _) => true,
            (Some(Pages::These(these)), Some(page)) => these.contains(&page),
            (Some(Pages::Linked), Some(page)) => page > 1,
            (Some(_), None) => false,
        };
        let follows = self
            .follows
            .as_ref()
            .is_none_or(|name| fired.get(name).is_some_and(|fired| *fired > 0));
        (self.methods.is_empty() || self.methods.contains(&subject.method))
            && pattern(&self.kind, subject.kind)
            && pattern(&self.path, subject.path)
            && pattern(&self.name, subject.name)
            && page
            && follows
            && self.from.is_none_or(|from| from.has_come(now))
            && !self.until.is_some_and(|until| until.has_come(now))
    }

    /// Whether it is the turn of a request that has been counted.
    pub(super) fn is_turn(&self, seen: u64, fired: u64) -> bool {
        seen > self.after
            && (self.nth.is_empty() || self.nth.contains(&seen))
            && self.count.is_none_or(|count| fired < count)
    }
}
