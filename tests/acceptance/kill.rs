//! A process that dies at any moment leaves a world from which one more run gets to the goal.

use crate::world::{Place, Seeded, two_pools};

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

#[test]
fn an_apply_killed_at_any_moment_converges_with_one_more() {
    let mut random = Seeded::new();
    eprintln!("seed {}", random.seed());
    let usual = whole_run(&Place::new(&two_pools("killed")), "apply");
    for moment in 0..MOMENTS {
        let place = Place::new(&two_pools("killed"));
        let count = 1 + random.below(usual);
        let what = format!("killed after event {count} of {usual}");
        eprintln!("{what}");
        // Every other time the sandbox dies too, as it is in the same process.
        let served = (moment % 2 == 0).then(|| place.serve(100));
        let mut running = match &served {
            Some(_) => place.start(&["--sandbox=world", "apply"]),
            None => place.start(&["--sandbox=world", "--speed", SPEED, "apply"]),
        };
        running.pass(count);
        running.kill();
        let server = served.unwrap_or_else(|| place.serve(100));
        place.converge(&server, &what);
    }
}

#[test]
fn a_destroy_killed_at_any_moment_ends_with_one_more() {
    let mut random = Seeded::new();
    eprintln!("seed {}", random.seed());
    let place = Place::new(&two_pools("killed"));
    whole_run(&place, "apply");
    let usual = whole_run(&place, "destroy");
    for moment in 0..MOMENTS {
        place.sandbox(&["apply", "--yes"]).exits(0, "made again");
        let count = 1 + random.below(usual);
        let what = format!("killed after event {count} of {usual}");
        eprintln!("{what}");
        let served = (moment % 2 == 0).then(|| place.serve(100));
        let mut running = match &served {
            Some(_) => place.start(&["--sandbox=world", "destroy"]),
            None => place.start(&["--sandbox=world", "--speed", SPEED, "destroy"]),
        };
        running.pass(count);
        running.kill();
        let server = served.unwrap_or_else(|| place.serve(100));
        place.vanish(&server, &what);
    }
}
