//! Checkpoints: what a table holds as a file of Parquet, so that nobody has to read its log from the beginning.

mod read;
mod write;

pub(super) use self::read::read;
pub(super) use self::write::write;

#[cfg(test)]
mod tests {
    use super::super::action::{AddFile, LogLine, MetaData, change, creation};
    use super::super::columns::LakeTable;
    use super::super::snapshot::TableSnapshot;
    use super::*;
    use crate::run::key::RunKey;

    fn add(run: u32) -> AddFile {
        let key = RunKey::new("o'dd +%20é", "a/b=c").with_repeat(run);
        AddFile::new(&key, &format!("run-{run}"), &format!("generation=run-{run}/x.parquet"), u64::from(run))
    }

    fn lines_back(snapshot: &TableSnapshot) -> Vec<LogLine> {
        let (content, rows) = write(snapshot).unwrap();
        let lines = read(content).unwrap();
        assert_eq!(lines.len(), rows);
        lines
    }

    #[test]
    fn what_a_table_holds_comes_back() {
        for runs in [0, 1, 20_000] {
            let mut snapshot = TableSnapshot::default();
            snapshot.apply(creation(LakeTable::Runs));
            let (old, new): (Vec<AddFile>, Vec<AddFile>) =
                (1..=runs).map(add).partition(|add| add.size % 3 == 0);
            snapshot.apply(change(Vec::new(), [old.clone(), new].concat()));
            snapshot.apply(change(old, Vec::new()));
            let mut back = TableSnapshot::default();
            back.apply(lines_back(&snapshot));
            assert_eq!((&back.protocol, &back.meta_data), (&snapshot.protocol, &snapshot.meta_data));
            assert_eq!(back.removed, snapshot.removed);
            let unchanged = |add: &AddFile| AddFile { data_change: false, ..add.clone() };
            assert!(back.files().eq(snapshot.files().map(unchanged).collect::<Vec<_>>().iter()));
        }
    }

    #[test]
    fn files_that_left_a_table_long_ago_are_left_out() {
        let mut snapshot = TableSnapshot::default();
        snapshot.apply(creation(LakeTable::Runs));
        snapshot.apply(change(Vec::new(), vec![add(1), add(2)]));
        snapshot.apply(change(vec![add(1), add(2)], Vec::new()));
        snapshot.removed.values_mut().next().unwrap().deletion_timestamp = Some(1);
        let removed = lines_back(&snapshot).iter().filter(|line| line.remove.is_some()).count();
        assert_eq!(removed, 1);
    }

    #[test]
    fn damaged_checkpoints_are_not_read() {
        let mut snapshot = TableSnapshot::default();
        snapshot.apply(creation(LakeTable::Runs));
        let (content, _) = write(&snapshot).unwrap();
        assert!(read(content.slice(..content.len() - 9)).is_none());
        assert!(read(content.slice(9..)).is_none());
        // Of another program's checkpoint, a line may be of a kind that perfpipe does not know.
        snapshot.meta_data = Some(MetaData::default());
        assert_eq!(lines_back(&snapshot).len(), 2);
    }
}
