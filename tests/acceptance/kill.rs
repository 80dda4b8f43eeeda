//! A process that dies at any moment leaves a world from which one more run gets to the goal.

use crate::harness::{Place, Seeded, Server, each, two_pools};

/// Times as fast as Azure: a VM takes 71 ms, a NAT gateway 100 ms, so that operations are
/// under way at most moments.
const SPEED: &str = "100";

/// Moments at which a run is killed.
const MOMENTS: usize = 20;

/// Events of a whole run of this command.
fn whole_run(place: &Place, command: &str) -> usize {
    let running = place.start(&["--sandbox=world", "--speed", SPEED, command]);
    let (ran, events) = running.end();
    ran.exits(0, command);
    events.len()
}

/// A moment at which a run is killed.
struct Moment {
    event: usize,
    /// Whether the sandbox dies too, as it is in the same process.
    with_sandbox: bool,
}

fn moments(usual: usize) -> Vec<Moment> {
    let mut random = Seeded::new();
    eprintln!("seed {}", random.seed());
    (0..MOMENTS)
        .map(|at| Moment {
            event: 1 + random.below(usual),
            with_sandbox: at % 2 == 1,
        })
        .collect()
}

/// Kills a run; then a sandbox is served again, and something is done about what is left.
fn killed(place: &Place, command: &str, moment: &Moment, then: impl Fn(&Place, &Server, &str)) {
    let served = (!moment.with_sandbox).then(|| place.serve(100));
    let mut running = match &served {
        Some(_) => place.start(&["--sandbox=world", command]),
        None => place.start(&["--sandbox=world", "--speed", SPEED, command]),
    };
    running.pass(moment.event);
    running.kill();
    let server = served.unwrap_or_else(|| place.serve(100));
    then(
        place,
        &server,
        &format!("killed after event {}", moment.event),
    );
}

fn name(moment: &Moment) -> String {
    let what = if moment.with_sandbox {
        "and its sandbox "
    } else {
        ""
    };
    format!("killed {what}after event {}", moment.event)
}

#[test]
fn an_apply_killed_at_any_moment_converges_with_one_more() {
    let usual = whole_run(&Place::new(&two_pools("killed")), "apply");
    let try_one = |(): &mut (), _, moment: &Moment| {
        let place = Place::new(&two_pools("killed"));
        killed(&place, "apply", moment, Place::converge);
    };
    each(&moments(usual), || (), try_one, name);
}

#[test]
fn a_destroy_killed_at_any_moment_ends_with_one_more() {
    let place = Place::new(&two_pools("killed"));
    whole_run(&place, "apply");
    let usual = whole_run(&place, "destroy");
    let stage = || Place::new(&two_pools("killed"));
    let try_one = |place: &mut Place, _, moment: &Moment| {
        place.sandbox(&["apply", "--yes"]).exits(0, "made");
        killed(place, "destroy", moment, Place::vanish);
    };
    each(&moments(usual), stage, try_one, name);
}
