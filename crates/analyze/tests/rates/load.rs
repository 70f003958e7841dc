//! The load of several injectors, each of which is silent in many seconds.

use perfpipe_analyze::{Sweep, Timeline, View};

use crate::system::{Load, System};

/// Injectors whose clients take long over each request.
fn slow(injectors: usize, clients: usize, think: f64) -> System {
    let load = Load::Closed { injectors, clients, think, ramp: 0.0 };
    System { lasting: 600.0, load, servers: 0, service: 200.0, ..System::default() }
}

#[test]
fn clients_that_think_are_there_all_the_same() {
    for (injectors, clients, think) in [(1, 30, 15.0), (3, 10, 15.0), (3, 50, 30.0), (2, 2, 2.0)] {
        for seed in 0..10 {
            let run = slow(injectors, clients, think).run(seed);
            let timeline = Timeline::new(&run, &View::default()).unwrap();
            let all = (injectors * clients) as f64;
            // Each injector's first record may come as late as its first client thinks, and its last as early.
            let within = |second: u32| (60..540).contains(&second);
            let inner: Vec<_> = timeline.seconds.iter().filter(|row| within(row.second)).collect();
            assert!(
                inner.iter().all(|row| row.load.get() == Some(all)),
                "{injectors} × {clients}, seed {seed}"
            );
            let hold = timeline.phases.hold.unwrap();
            assert!(hold.first < 60 && hold.last > 540, "{injectors} × {clients}, seed {seed}: {hold:?}");
            let sweep = Sweep::new(&run, &View::default()).unwrap();
            let most = sweep.steps.iter().map(|step| step.summary.seconds).max();
            assert!(most > Some(540), "{injectors} × {clients}, seed {seed}: {:?}", sweep.steps);
        }
    }
}
