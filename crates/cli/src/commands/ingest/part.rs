//! The number of a part, where a scheduler gives it to its tasks.

use anyhow::Result;
use perfpipe_ingest::run::PartNumber;

use crate::args::PartChoice;
use crate::error::CliError;

/// The remedy where a scheduler does not give the number of a part.
const NUMBER_IT: &str = "Give the number of the part and of all, as in --part 3/16.";

/// Returns the number of a part; of one that is left to the scheduler, by its environment.
pub(crate) fn number(part: PartChoice) -> Result<PartNumber> {
    match part {
        PartChoice::Number(number) => Ok(number),
        PartChoice::Auto(of) => of_task(of, &|name| std::env::var(name).ok()?.trim().parse().ok()),
    }
}

/// Returns the number of the scheduler's task. `variable` returns the value of a variable of the environment if it is a
/// whole number.
fn of_task(of: Option<u32>, variable: &dyn Fn(&str) -> Option<u32>) -> Result<PartNumber> {
    if let Some(index) = variable("JOB_COMPLETION_INDEX") {
        let Some(of) = of else {
            return refuse(
                "Kubernetes gives the number of this part, but not the number of parts",
                "Give it: --part auto/16.",
            );
        };
        return Ok(PartNumber::new(index.saturating_add(1), of)?);
    }
    let of_array = |name: &str| variable(&format!("SLURM_ARRAY_TASK_{name}"));
    let (Some(task), Some(first)) = (of_array("ID"), of_array("MIN")) else {
        return refuse("--part auto: neither Slurm nor Kubernetes gives the number of this part", NUMBER_IT);
    };
    let step = of_array("STEP").unwrap_or(1).max(1);
    let (count, last) = (of_array("COUNT"), of_array("MAX"));
    let at = |task: u32| task.checked_sub(first).filter(|from| from % step == 0).map(|from| from / step + 1);
    let is_regular = count.is_none() || last.and_then(at).is_none_or(|all| Some(all) == count);
    match (at(task), of.or(count)) {
        (Some(number), Some(of)) if is_regular => Ok(PartNumber::new(number, of)?),
        _ => refuse("--part auto: the tasks of the Slurm array are not numbered at equal steps", NUMBER_IT),
    }
}

fn refuse<T>(problem: &str, remedy: &str) -> Result<T> {
    Err(CliError::usage(problem, remedy).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_of(of: Option<u32>, variables: &[(&str, u32)]) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        of_task(of, &variable).ok().map(|number| number.to_string())
    }

    #[test]
    fn task_of_a_slurm_array_has_the_number_of_its_place() {
        let task = |id, step| {
            [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_MIN", 1), ("SLURM_ARRAY_TASK_MAX", 1 + 3 * step)]
                .into_iter()
                .chain([("SLURM_ARRAY_TASK_STEP", step), ("SLURM_ARRAY_TASK_COUNT", 4)])
                .collect::<Vec<_>>()
        };
        assert_eq!(number_of(None, &task(1, 1)).unwrap(), "1/4");
        assert_eq!(number_of(None, &task(7, 2)).unwrap(), "4/4");
        assert_eq!(number_of(Some(16), &task(3, 1)).unwrap(), "3/16");
        assert_eq!(number_of(None, &task(6, 2)), None, "between two tasks");
        let gaps = [("SLURM_ARRAY_TASK_ID", 5), ("SLURM_ARRAY_TASK_MIN", 1), ("SLURM_ARRAY_TASK_MAX", 9)];
        assert_eq!(number_of(None, &[&gaps[..], &[("SLURM_ARRAY_TASK_COUNT", 3)]].concat()), None);
        assert_eq!(number_of(None, &gaps[..1]), None);
        assert_eq!(number_of(Some(4), &[]), None);
    }

    #[test]
    fn pod_of_an_indexed_job_is_counted_from_zero() {
        assert_eq!(number_of(Some(16), &[("JOB_COMPLETION_INDEX", 0)]).unwrap(), "1/16");
        assert_eq!(number_of(Some(16), &[("JOB_COMPLETION_INDEX", 16)]), None);
        assert_eq!(number_of(None, &[("JOB_COMPLETION_INDEX", 0)]), None);
    }
}
