//! Counts that contradict each other are never stored.

use perfpipe_ingest::ErrorKind;
use perfpipe_ingest::counts::Cell;
use perfpipe_ingest::run::Replace;

use crate::example::{Example, Place, assert_stored, begin, commit, example, names, store};

/// A way in which the cells of a run can be wrong.
type Fault = fn(&mut Example);

const FAULTS: [Fault; 5] = [
    |run| drop(run.cells.pop()),
    |run| run.cells[3].1.elapsed[0].1 += 1,
    |run| run.cells[3].0.success = false,
    |run| run.cells[3].0.transaction = true,
    |run| run.cells[0].1 = Cell::default(),
];

#[test]
fn cells_that_are_not_those_of_the_run_are_a_fault_that_is_told_and_nothing_is_stored() {
    for kept in [true, false] {
        for fault in FAULTS {
            let place = Place::new();
            let mut old = example(3, 900);
            old.info.samples_stored = kept;
            if kept {
                store(&place.store, &old).unwrap();
            }
            let mut wrong = old.clone();
            fault(&mut wrong);
            let failed = commit(begin(&place.store, &wrong).unwrap(), &wrong, Replace::Any).unwrap_err();
            let told = failed.to_string();
            assert!(told.contains("can't be stored"), "{told}");
            assert_eq!(failed.kind(), ErrorKind::RunContradictory, "{failed:?}");
            match kept {
                true => assert_stored(&place.store, &old),
                false => assert_eq!(place.store.runs().unwrap(), []),
            }
            assert_eq!(names(&place.path().join("staging")), [""; 0]);
        }
    }
}

#[test]
fn cell_of_a_label_that_is_not_in_the_list_is_a_fault_that_is_told() {
    let place = Place::new();
    let mut wrong = example(3, 900);
    wrong.labels.pop();
    let failed = store(&place.store, &wrong).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::RunContradictory, "{failed:?}");
    assert_eq!(place.store.runs().unwrap(), []);
}
