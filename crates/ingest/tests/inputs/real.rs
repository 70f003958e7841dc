//! The real files of `fixtures/`: what each is, and all its bytes.

use crate::support::*;

#[test]
fn every_fixture_is_what_it_is() {
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() || name.ends_with(".md") || name.ends_with(".json") {
            continue;
        }
        for (kind, inputs) in
            [("file", recognise(&[&path])), ("pipe", from_pipe(std::fs::File::open(&path).unwrap()))]
        {
            let inputs = inputs.unwrap_or_else(|e| panic!("{name} by {kind}: {e}"));
            assert_eq!(inputs.notes, [""; 0], "{name}");
            let is_cpu = name.contains(".cpu.");
            assert_eq!((inputs.logs.len(), inputs.cpu.is_some()), (usize::from(!is_cpu), is_cpu), "{name}");
        }
    }
}

#[test]
fn zip_gives_its_plain_twin_from_disk_and_by_pipe() {
    for name in [
        "Results-flaky-8181.csv",
        "Results-flaky-8181.semicolon.csv",
        "Results-mix-8181.datefmt.csv",
        "Results-mix-8181.noheader.csv",
        "Results-vars-8181.csv",
        "Results-2048-8181.killed.csv",
    ] {
        let plain = std::fs::read(fixture(name)).unwrap();
        let zip = fixture(&format!("{name}.zip"));
        for mut inputs in [
            recognise(&[&zip]).unwrap(),
            from_pipe(std::fs::File::open(&zip).unwrap()).unwrap(),
            from_pipe(std::fs::File::open(fixture(name)).unwrap()).unwrap(),
        ] {
            let logs = read_logs(&mut inputs, 1 << 20).unwrap();
            assert!(logs.len() == 1 && logs[0].text == plain, "{name}");
            assert_eq!(logs[0].file.crc32, crc32fast::hash(&plain));
        }
    }
}

#[test]
fn cpu_exports_hold_what_their_readme_says() {
    for (name, readings, first, last) in [
        ("Results-2048-9000.cpu.csv", 84, 1_795_203_735, 1_795_203_818),
        ("Results-flaky-8181.cpu.csv", 27, 1_795_203_822, 1_795_203_848),
        ("Results-mix-8181.noheader.cpu.csv", 16, 1_795_203_852, 1_795_203_874),
        ("Results-flaky-8181.semicolon.cpu.csv", 22, 1_795_203_879, 1_795_203_900),
        ("Results-mix-8181.datefmt.cpu.csv", 24, 1_795_203_904, 1_795_203_927),
        ("Results-vars-8181.cpu.csv", 23, 1_795_203_932, 1_795_203_954),
        ("Results-2048-8181.killed.cpu.csv", 15, 1_795_204_387, 1_795_204_401),
    ] {
        let zip = fixture(&format!("{name}.zip"));
        for inputs in
            [recognise(&[&fixture(name)]), recognise(&[&zip]), from_pipe(std::fs::File::open(&zip).unwrap())]
        {
            let cpu = read_cpu(inputs.unwrap()).unwrap();
            let series = cpu.series.readings();
            assert_eq!(series.len(), readings, "{name}");
            assert_eq!((series[0].0, series[readings - 1].0), (first, last), "{name}");
            assert_eq!(cpu.notes, [""; 0]);
        }
    }
}
