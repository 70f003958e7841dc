//! Runs by their load, and the knee.

use crate::support::*;

#[test]
fn knee_of_the_real_run_is_at_its_third_step() {
    let mut both = Vec::new();
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        let table = store.export(&key, "sweep", "csv", &["--percentiles", "50"]);
        let steps = rows(&table);
        let number = |row: usize, name: &str| steps[row][name].parse::<f64>().unwrap();
        let loads: Vec<f64> = (0..steps.len()).map(|row| number(row, "load")).collect();
        assert_eq!(loads, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        let knees: Vec<&str> = steps.iter().map(|step| &*step["knee"]).collect();
        assert_eq!(knees, ["false", "false", "true", "false", "false", "false"]);
        // The third step: seconds 20 to 28, each of which has 30 threads.
        let third = rows(&store.export(&key, "summary", "csv", &["--from", "20", "--to", "28"]));
        for (name, of) in [("throughput", 2), ("p50", 2), ("p99", 2), ("cpu_mean", 2), ("successes", 2)] {
            assert_eq!(steps[of][name], third[0][name], "{name}");
        }
        assert!(number(1, "throughput") < 0.9 * number(2, "throughput"));
        for row in 3..6 {
            assert!((number(row, "throughput") / number(2, "throughput") - 1.0).abs() < 0.03);
        }
        for format in ["json", "md", "text", "parquet"] {
            store
                .run(&[
                    "export",
                    "--framework",
                    &key.framework,
                    "--test",
                    &key.test,
                    "--what",
                    "sweep",
                    "--format",
                    format,
                    "-o",
                    "sweep",
                ])
                .said();
        }
        // Three times the threads have the knee at three times the load.
        let tripled = rows(&store.export(&key, "sweep", "csv", &["--injectors", "3"]));
        assert_eq!((&*tripled[2]["load"], &*tripled[2]["knee"]), ("90", "true"));

        let folder = store.folder.path().join("charts");
        let out = folder.to_str().unwrap();
        let done =
            store.run(&["report", "--test", &key.test, "--out", out, "--chart", "sweep", "--format", "svg"]);
        assert_eq!(done.err.lines().filter(|line| line.starts_with("wrote ")).count(), 1, "{}", done.err);
        let name = format!("{}_{}_sweep.svg", key.framework.replace(':', "-"), key.test);
        let page = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(page.contains("throughput stops growing at about 23.2 threads"), "{page}");
        both.push((table, page));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores give different sweeps");
}

#[test]
fn log_without_threads_has_no_load_to_look_at() {
    for store in Store::each() {
        let log = store.file("bare.csv", "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n");
        store.run(&["ingest", &log, "--framework", "a", "--test", "b"]).said();
        let complaint =
            store.run(&["export", "--framework", "a", "--test", "b", "--what", "sweep"]).complaint(2);
        assert!(complaint.contains("allThreads") && complaint.contains("thread_counts"), "{complaint}");
    }
}
