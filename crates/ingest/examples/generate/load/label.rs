//! The labels of the samplers, plain and awkward ones.

use super::Plan;
use super::record::quoted;

/// Returns the labels of a plan as they are written to the log.
pub(super) fn labels(plan: &Plan) -> Vec<Vec<u8>> {
    (0..plan.labels).map(|index| quoted(&name(plan, index), plan.delimiter)).collect()
}

fn name(plan: &Plan, index: u32) -> String {
    let awkward_up_to = |index: u32| (f64::from(index) * plan.quoted).floor();
    let number = index + 1;
    if awkward_up_to(number) > awkward_up_to(index) {
        return awkward(number);
    }
    if plan.labels == 1 { format!("Get {}", plan.test) } else { format!("Get {} {number}", plan.test) }
}

fn awkward(number: u32) -> String {
    match number % 4 {
        0 => format!("Search, page {number}"),
        1 => format!("Größe/配额 {number}"),
        2 => format!("Say \"hello\" {number}"),
        _ => format!("a;b, then \"c\";\td {number}"),
    }
}
