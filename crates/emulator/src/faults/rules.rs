//! Rules: what they do, and which of them acts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    allocation::Shortage,
    effects::Effect,
    matching::{Match, Subject},
    tags::TagPolicy,
    time::When,
};
use crate::{
    clock::{Instant, Speed},
    routes::compute::guest::Ailment,
    store::{entry::Failure, history::Memory},
};

/// Rules that make requests fail, and things that happen to a world by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    pub(super) rules: Vec<Rule>,
    /// Bearer tokens that count as expired.
    pub(super) expired: BTreeSet<String>,
    /// What rules have set going, and when it happens.
    pending: Vec<(Instant, Effect)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(super) name: String,
    pub(super) trigger: Trigger,
    pub(super) action: Action,
    /// Requests that matched so far.
    pub(super) seen: u64,
    /// How often it acted so far.
    pub(super) fired: u64,
}

/// What sets a rule going.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trigger {
    Requests(Box<Match>),
    /// Times that have not come yet.
    Times(Vec<When>),
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// It decides what becomes of the request.
    Fate(Fate),
    /// The answer shows the world as it was.
    Stale(Staleness),
    /// There is no hardware.
    FailAllocation(Shortage),
    /// A policy changes the tags of what is written.
    Tags(TagPolicy),
    /// Something happens to the world.
    Happen(Effect),
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    FailAtBegin {
        status: u16,
        code: String,
        message: String,
        retry_after: Option<u64>,
    },
    FailInOperation(Failure),
    /// The guest that the request asks is not well.
    Guest(Box<Ailment>),
    Throttle {
        retry_after: u64,
    },
    /// The connection is closed and nothing is done.
    DropBefore,
    /// The work is done and the connection is closed instead of an answer.
    DropAfterAcceptance,
    /// There is never an answer.
    Hang,
    /// The answer takes so many seconds of Azure's time.
    Slow {
        seconds: u64,
    },
    /// The request's token has expired, for this request and all later ones.
    ExpireToken,
}

/// How far behind an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Staleness {
    /// So many seconds of Azure's time.
    Seconds(u64),
    /// So many reads of a path do not see the last change of what they read.
    Reads {
        reads: u64,
        /// By path: the change that is held back, and from how many reads it was.
        held: BTreeMap<String, (u64, u64)>,
    },
}

/// Up to where an answer sees the changes of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// What was there at this time.
    At(Instant),
    /// What was there before the change of this number.
    Before(u64),
}

/// What rules do to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decision {
    /// The rules that act, by name.
    pub(crate) rules: Vec<String>,
    /// What becomes of the request.
    pub(crate) fate: Option<Fate>,
    /// What its answer sees, if not the world as it is.
    pub(crate) point: Option<Point>,
    /// What policies make of the tags that it writes.
    pub(crate) tags: Vec<TagPolicy>,
}

/// A request on which rules are to decide.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) subject: Subject<'a>,
    /// What it is to policies: for tags that are written at a scope, a write of that scope.
    pub(crate) tagged: Subject<'a>,
    /// Whether it writes tags, or may.
    pub(crate) writes: bool,
    pub(crate) now: Instant,
    pub(crate) speed: Speed,
    /// The number of the last change of what a path reads, as far as it is remembered.
    pub(crate) changed: &'a dyn Fn(&str) -> Option<u64>,
}

impl Faults {
    /// No faults at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Names of the rules, with how often each fired.
    pub fn fired(&self) -> impl Iterator<Item = (&str, u64)> {
        self.rules
            .iter()
            .map(|rule| (rule.name.as_str(), rule.fired))
    }

    /// Adds the rules and tokens of others behind these.
    pub fn extend(&mut self, others: Self) {
        let Self {
            rules,
            expired,
            pending,
        } = others;
        self.rules.extend(rules);
        self.expired.extend(expired);
        self.pending.extend(pending);
    }

    /// Takes note that the rules are given now: their seconds count from here.
    pub(crate) fn start(&mut self, now: Instant, speed: Speed) {
        let fix = |when: When| when.fixed(now, speed);
        for rule in &mut self.rules {
            match &mut rule.trigger {
                Trigger::Requests(matching) => matching.start(fix),
                Trigger::Times(times) => {
                    for when in times {
                        *when = fix(*when);
                    }
                }
            }
        }
    }

    pub(crate) fn is_expired(&self, token: &str) -> bool {
        self.expired.contains(token)
    }

    /// From now on, a token has expired.
    pub(crate) fn expire(&mut self, token: &str) {
        self.expired.insert(token.to_owned());
    }

    /// How much of the past the rules need.
    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for rule in &self.rules {
            match &rule.action {
                Action::Stale(Staleness::Seconds(seconds)) => {
                    memory.seconds = memory.seconds.max(*seconds);
                }
                Action::Stale(Staleness::Reads { .. }) => memory.changes = true,
                Action::Fate(_)
                | Action::FailAllocation(_)
                | Action::Tags(_)
                | Action::Happen(_) => {}
            }
        }
        memory
    }

    pub(super) fn fired_by_name(&self) -> BTreeMap<String, u64> {
        let mut fired: BTreeMap<String, u64> = BTreeMap::new();
        for rule in &self.rules {
            *fired.entry(rule.name.clone()).or_default() += rule.fired;
        }
        fired
    }

    /// What rules do to a request. Every rule counts what fits it. Of those that decide what
    /// becomes of the request, the first acts; the others act beside it.
    pub(crate) fn decide(&mut self, request: &Request<'_>) -> Decision {
        let mut decision = Decision::default();
        if self.rules.is_empty() {
            return decision;
        }
        let fired = self.fired_by_name();
        for rule in &mut self.rules {
            let Trigger::Requests(matching) = &rule.trigger else {
                continue;
            };
            let subject = match &rule.action {
                // Decided when it is known what is asked for.
                Action::FailAllocation(_) => continue,
                Action::Stale(_) if !request.subject.reads => continue,
                Action::Tags(_) if !request.writes => continue,
                Action::Tags(_) => request.tagged,
                Action::Fate(_) | Action::Stale(_) | Action::Happen(_) => request.subject,
            };
            if !matching.fits(subject, request.now, &fired) {
                continue;
            }
            rule.seen += 1;
            if !matching.is_turn(rule.seen, rule.fired) {
                continue;
            }
            let free = decision.fate.is_none() && decision.point.is_none();
            let acts = match &mut rule.action {
                Action::Tags(policy) => {
                    decision.tags.push(policy.clone());
                    true
                }
                Action::Happen(effect) => {
                    self.pending.push((request.now, effect.clone()));
                    true
                }
                Action::Stale(staleness) if free => {
                    decision.point = staleness.point(request);
                    decision.point.is_some()
                }
                Action::Fate(fate) if free => {
                    decision.fate = Some(fate.clone());
                    true
                }
                Action::Stale(_) | Action::Fate(_) | Action::FailAllocation(_) => false,
            };
            if acts {
                rule.fired += 1;
                decision.rules.push(rule.name.clone());
            }
        }
        decision
    }

    /// Lets something happen at a time.
    pub(crate) fn schedule(&mut self, at: Instant, effect: Effect) {
        self.pending.push((at, effect));
    }

    /// When something happens next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let timed = self.rules.iter().filter_map(Rule::next_due);
        self.pending.iter().map(|(at, _)| *at).chain(timed).min()
    }

    /// Takes what happens at this time.
    pub(crate) fn take_due(&mut self, at: Instant) -> Option<Effect> {
        if let Some(place) = self.pending.iter().position(|(when, _)| *when == at) {
            return Some(self.pending.remove(place).1);
        }
        self.rules.iter_mut().find_map(|rule| {
            if rule.next_due() != Some(at) {
                return None;
            }
            if let Trigger::Times(times) = &mut rule.trigger
                && let Some(place) = times.iter().position(|when| when.instant() == Some(at))
            {
                times.remove(place);
            }
            rule.fired += 1;
            match &rule.action {
                Action::Happen(effect) => Some(effect.clone()),
                Action::Fate(_)
                | Action::Stale(_)
                | Action::FailAllocation(_)
                | Action::Tags(_) => None,
            }
        })
    }
}

impl Rule {
    fn next_due(&self) -> Option<Instant> {
        match &self.trigger {
            Trigger::Requests(_) => None,
            Trigger::Times(times) => times.iter().filter_map(|when| when.instant()).min(),
        }
    }
}

impl Staleness {
    /// What a read sees; `None` where it sees everything.
    fn point(&mut self, request: &Request<'_>) -> Option<Point> {
        match self {
            Self::Seconds(seconds) => {
                let behind = std::time::Duration::from_secs(*seconds);
                let behind = i64::try_from(request.speed.shrink(behind).as_micros());
                let now = request.now.unix_micros();
                let at = now.saturating_sub(behind.unwrap_or(i64::MAX));
                Some(Point::At(Instant::from_unix_micros(at)))
            }
            Self::Reads { reads, held } => {
                let path = request.subject.path.to_lowercase();
                let change = (request.changed)(&path)?;
                let (last, count) = held.entry(path).or_insert((change, 0));
                if *last != change {
                    (*last, *count) = (change, 0);
                }
                *count += 1;
                (*count <= *reads).then_some(Point::Before(change))
            }
        }
    }
}
