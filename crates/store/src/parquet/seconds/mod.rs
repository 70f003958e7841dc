//! The exact counts by second as Parquet.

mod read;
mod write;

pub(super) use self::read::read_seconds;
pub(super) use self::write::{CellContext, write_seconds};

/// The columns of names.
const LABEL: &str = "label";
const INJECTORS: &str = "injectors";

/// The column of the counts in packed form, which perfpipe reads: about ten times as fast as the lists, which are for
/// other programs.
const PACKED: &str = "packed";

/// Converts a number of samples into the type of its column.
fn limited(samples: u64) -> i64 {
    i64::try_from(samples).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::parquet::place::{create, open};
    use perfpipe_model::counts::PackedCell;
    use perfpipe_model::counts::spill::CellResult;
    use perfpipe_model::counts::{Cell, CellKey, InjectorLoad};
    use perfpipe_model::error::Result;
    use perfpipe_model::run::info::RunInfo;
    use perfpipe_model::run::key::RunKey;
    use perfpipe_model::sample::resolution::Resolution;

    /// Counts with so many different times in a second.
    fn cells(seconds: u32, times: i32) -> Vec<(CellKey, Cell)> {
        let cell = |second: u32| {
            let key =
                CellKey { second, label: second % 2, success: !second.is_multiple_of(5), transaction: false };
            let elapsed = (0..times).map(|time| (7 * time + second as i32, 1 + u64::from(time % 50 == 0)));
            let load = InjectorLoad { injector: 0, samples: 3, threads: 9 };
            let cell = Cell { elapsed: elapsed.collect(), injectors: vec![load], ..Cell::default() };
            (key, Cell { bytes: second.into(), ..cell })
        };
        (0..seconds).map(cell).collect()
    }

    fn common<'a>((labels, injectors): (&'a [String], &'a [String])) -> CellContext<'a> {
        CellContext { unit: Resolution::MICROSECOND, labels, injectors }
    }

    fn packed((key, cell): (CellKey, Cell)) -> CellResult {
        Ok((key, PackedCell::of(cell)))
    }

    #[test]
    fn many_fine_counts_come_back_from_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let names = (["a".to_owned(), "b".to_owned()], ["injector".to_owned()]);
        let info = RunInfo::new(RunKey::new("go", "t"), 0, 1_000_000);
        for (file, (seconds, times)) in [(0, 0), (3, 10), (40, 12_000), (3, 200_000)].into_iter().enumerate()
        {
            let path = folder.path().join(file.to_string());
            let cells = cells(seconds, times);
            let mut given = cells.iter().cloned().map(packed);
            let run = common((&names.0, &names.1));
            let sums = write_seconds(create(&path).unwrap(), run, &mut given).unwrap();
            let (read, _) = read_seconds(open(path.clone(), sums).unwrap(), &info).unwrap();
            assert_eq!(read.iter().collect::<Result<Vec<_>>>().unwrap(), cells);
            let written = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
            let groups = written.metadata().num_row_groups();
            assert_eq!(groups, [0, 1, 3, 3][file], "{seconds} seconds of {times}");
        }
    }

    #[test]
    fn error_of_the_cells_ends_the_writing() {
        let folder = tempfile::tempdir().unwrap();
        let failed = || perfpipe_model::error::Error::stopped("a test");
        let mut given = cells(40, 12_000).into_iter().map(packed).chain([Err(failed())]);
        let names = (["a".to_owned(), "b".to_owned()], ["injector".to_owned()]);
        let path = folder.path().join("seconds");
        let run = common((&names.0, &names.1));
        let written = write_seconds(create(&path).unwrap(), run, &mut given);
        assert_eq!(written.err().unwrap().to_string(), failed().to_string());
    }
}
