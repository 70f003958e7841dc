//! Sweeps that were computed independently of this crate.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::fixtures::{FORMS, read};
use super::walk::FoundSection;
use perfpipe_model::points::Figures;

/// The median, where of an even number of values it is the mean of the middle two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (middle, odd) = (values.len() / 2, values.len() % 2 == 1);
    if odd { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// The median of a figure over sections.
fn median_of(sections: &[FoundSection], figure: impl Fn(&Figures) -> Option<f64>) -> f64 {
    median(sections.iter().filter_map(|section| figure(&section.figures)).collect())
}

fn rate(figures: &Figures) -> Option<f64> {
    figures.answers_per_second
}

fn close(value: f64, printed: f64, digits: i32) -> bool {
    (value - printed).abs() <= 0.5001 * 10f64.powi(-digits)
}

#[test]
fn sweep_of_ab_gives_the_medians() {
    let beta = [
        (1, 230.94, 0, 230.9),
        (2, 413.65, 0, 413.7),
        (4, 828.56, 0, 828.6),
        (8, 908.72, 0, 908.8),
        (16, 953.67, 0, 953.7),
        (32, 992.10, 0, 992.1),
        (64, 16567.06, 3805, 809.1),
        (128, 10242.02, 3829, 770.3),
    ];
    for (c, printed, failed, successes) in beta {
        let sections = read(&format!("ab/jempower/{c}.8101")).sections;
        assert_eq!((sections.len(), sections[0].concurrency), (3, Some(c)));
        assert_eq!(median_of(&sections, rate), printed);
        let most = sections.iter().map(|section| section.figures.failures.unwrap().greatest).max();
        assert_eq!(most, Some(failed));
        assert!(close(median_of(&sections, Figures::throughput), successes, 1), "{c}");
    }
    let alpha = [192.64, 329.32, 713.80, 1523.07, 1507.40, 1686.10, 1629.83, 1610.34];
    for (power, printed) in alpha.into_iter().enumerate() {
        let sections = read(&format!("ab/jempower/{}.8100", 1 << power)).sections;
        assert_eq!(median_of(&sections, rate), printed);
        assert!(sections.iter().all(|section| section.figures.failures.unwrap().greatest == 0));
    }
}

fn repeats_of_wrk(framework: &str, c: u32) -> Vec<FoundSection> {
    (1..=3).flat_map(|repeat| read(&format!("wrk/sweep/{framework}_c{c}_r{repeat}.txt")).sections).collect()
}

#[test]
fn sweep_of_wrk_gives_the_medians() {
    let alpha = [188.22, 393.41, 755.56, 1580.88, 1710.23, 1648.40, 1631.96, 1711.88];
    let beta = [242.93, 505.70, 1062.17, 1069.06, 1036.24, 1009.08, 16471.20, 15326.78];
    for (power, (alpha, beta)) in alpha.into_iter().zip(beta).enumerate() {
        assert_eq!(median_of(&repeats_of_wrk("alpha", 1 << power), rate), alpha);
        assert_eq!(median_of(&repeats_of_wrk("beta", 1 << power), rate), beta);
    }
    for (c, p50, p90, p99) in [
        (1, 5.16, 6.43, 16.26),
        (8, 4.90, 6.42, 13.71),
        (32, 18.61, 21.80, 35.44),
        (128, 73.07, 77.58, 96.91),
    ] {
        let sections = repeats_of_wrk("alpha", c);
        let of = |percent| median_of(&sections, |figures| figures.latencies.percentile(percent));
        assert_eq!((of(50.0), of(90.0), of(99.0)), (p50, p90, p99));
    }
    for (c, successes) in [(64, 534.6), (128, 504.4)] {
        assert!(close(median_of(&repeats_of_wrk("beta", c), Figures::throughput), successes, 1), "{c}");
    }
}

#[test]
fn workers_speed_up_as_computed() {
    let medians = |path: &str| {
        [1, 2, 4].map(|workers| {
            let all = (1..=3)
                .flat_map(|repeat| read(&format!("wrk/workers/result_w{workers}_{repeat}.log")).sections);
            let is_of = |section: &FoundSection| {
                section.tool == "wrk" && section.url.as_deref().unwrap().ends_with(path)
            };
            median_of(&all.filter(is_of).collect::<Vec<_>>(), rate)
        })
    };
    let json = medians("/json");
    assert_eq!(json, [201.95, 414.93, 842.73]);
    assert!(close(json[1] / json[0], 2.055, 3) && close(json[2] / json[0], 4.173, 3));
    assert_eq!(medians("/hello"), [201.01, 415.04, 832.50]);
}

/// A run of wrk by 128 connections in 8 threads, with the figures of a published benchmark in the form of wrk 4.
fn published(count: u32, rate: &str, mean: &str) -> String {
    let requests = (rate.parse::<f64>().unwrap() * 20.1).round();
    format!(
        "wrk -c 128 -t 8 --latency -d 20 http://127.0.0.1:8080/resource?count={count}\n\
         Running 20s test @ http://127.0.0.1:8080/resource?count={count}\n  8 threads and 128 connections\n  \
         Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency {mean:>9}    1.94ms 125.94ms   98.70%\n  \
         {requests} requests in 20.10s, 1.00GB read\nRequests/sec: {rate}\nTransfer/sec:     85.04MB\n"
    )
}

/// See [`BIGBOX`].
type BigboxRow = (u32, &'static str, f64, f64, f64, &'static str, [&'static str; 3]);

/// By workers: requests/s of 16 bytes, speed-up, efficiency in %, c/X in us, the printed mean; requests/s of 256, 4096 and
/// 65536 bytes.
const BIGBOX: [BigboxRow; 7] = [
    (1, "20506.92", 1.000, 100.0, 6241.8, "6.65ms", ["21410.14", "19821.39", "7017.55"]),
    (2, "41575.49", 2.027, 101.4, 3078.7, "3.31ms", ["40407.77", "34484.95", "12141.71"]),
    (4, "86174.28", 4.202, 105.1, 1485.4, "1.68ms", ["83887.62", "70121.91", "23470.26"]),
    (8, "149272.90", 7.279, 91.0, 857.5, "1.00ms", ["147993.65", "129993.66", "47404.04"]),
    (16, "301800.37", 14.717, 92.0, 424.1, "543.00us", ["292734.47", "261339.52", "93221.94"]),
    (32, "516108.96", 25.168, 78.6, 248.0, "363.50us", ["497908.47", "464059.35", "174585.67"]),
    (40, "627990.75", 30.623, 76.6, 203.8, "358.14us", ["594120.37", "569673.63", "205196.90"]),
];

/// Checks the sections of one number of workers, in the order 16, 256, 4096 and 65536 bytes.
fn check_bigbox(sections: &[FoundSection], row: usize) {
    let (workers, printed, speed_up, efficiency, little, _, others) = BIGBOX[row];
    let rates: Vec<f64> = sections.iter().filter_map(|section| section.figures.answers_per_second).collect();
    let expected: Vec<f64> = [printed].iter().chain(&others).map(|text| text.parse().unwrap()).collect();
    assert_eq!(rates, expected, "{workers} workers");
    let first: f64 = BIGBOX[0].1.parse().unwrap();
    assert!(close(rates[0] / first, speed_up, 3), "{workers}: {}", rates[0] / first);
    assert!(close(rates[0] / first / f64::from(workers) * 100.0, efficiency, 1), "{workers}");
    assert!(close(sections[0].figures.little_ms().unwrap() * 1e3, little, 1), "{workers}");
    assert!(sections[0].figures.notes.iter().any(|note| note.contains("wrk invents latencies")), "{workers}");
}

#[test]
fn published_scaling_is_computed() {
    for (row, (_, rate, .., mean, others)) in BIGBOX.iter().enumerate() {
        let mut text = published(16, rate, mean);
        for (count, rate) in [256, 4096, 65536].into_iter().zip(others) {
            text += &published(count, rate, "9.99ms");
        }
        check_bigbox(&super::sections(text.as_bytes()).sections, row);
    }
}

/// The folder of the published logs, which are not part of this repository.
fn crossbar() -> Option<PathBuf> {
    std::env::var_os("PERFPIPE_TEST_CROSSBAR").map(PathBuf::from)
}

#[test]
fn published_logs_are_read_whole() {
    let Some(folder) = crossbar() else { return };
    let read = |name: String| super::sections(&std::fs::read(folder.join(name)).unwrap());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (row, (workers, ..)) in BIGBOX.iter().enumerate() {
        let found = read(format!("bigbox_w{workers}.txt"));
        check_bigbox(&found.sections, row);
        all.extend(found.sections.into_iter().map(|section| (0, 0, section)));
    }
    for (workers, repeats) in [(1, 3), (2, 2), (4, 2), (8, 3)] {
        for repeat in 1..=repeats {
            let found = read(format!("result_w{workers}_{repeat}.log"));
            assert_eq!(found.ignored, 0, "{workers} {repeat}: {:?}", found.first_ignored);
            all.extend(found.sections.into_iter().map(|section| (workers, repeat, section)));
        }
    }
    for (_, _, section) in &all {
        *counts.entry(section.tool).or_default() += 1;
        assert_eq!((section.figures.aborted.as_deref(), section.concurrency), (None, Some(128)));
        let invents = section.figures.notes.iter().any(|note| note.contains("wrk invents latencies"));
        assert_eq!(invents, section.tool == "wrk", "every printed mean is above c/X");
    }
    assert_eq!(counts, BTreeMap::from([("weighttp", 54), ("wrk", 82)]));
    check_quad_core(&all);
}

/// Medians by workers of the smaller machine, and the speed-up.
fn check_quad_core(all: &[(u32, u32, FoundSection)]) {
    let table = [
        ("/json", [50719.82, 94823.275, 174246.625, 170636.94], [1.870, 3.435, 3.364]),
        ("?count=256", [52993.49, 97942.005, 172350.32, 175973.66], [1.848, 3.252, 3.321]),
        ("?count=4096", [40792.09, 75152.83, 127337.52, 133521.17], [1.842, 3.122, 3.273]),
        ("?count=65536", [9485.28, 15399.455, 17819.93, 17808.66], [1.624, 1.879, 1.878]),
        (":8080/", [17185.84, 30938.94, 57224.25, 63009.60], [1.800, 3.330, 3.666]),
        ("?count=16", [55819.75, 105131.69, 174416.75, 174175.26], [1.883, 3.125, 3.120]),
    ];
    for (path, medians, speed_ups) in table {
        let of = [1, 2, 4, 8].map(|workers| {
            let own = all.iter().filter(|(own, _, section)| {
                *own == workers && section.tool == "wrk" && section.url.as_deref().unwrap().ends_with(path)
            });
            median(own.filter_map(|(_, _, section)| section.figures.answers_per_second).collect())
        });
        for (value, printed) in of.into_iter().zip(medians) {
            assert!((value - printed).abs() < 0.0005, "{path}: {value}");
        }
        for (value, printed) in of[1..].iter().zip(speed_ups) {
            assert!(close(value / of[0], printed, 3), "{path}: {}", value / of[0]);
        }
    }
    let pair =
        all.iter().find(|(workers, repeat, section)| (*workers, *repeat, section.tool) == (4, 2, "weighttp"));
    let figures = &pair.unwrap().2.figures;
    assert_eq!((figures.duration, figures.answers_per_second), (Some(31.470_472), Some(158_879.0)));
}

#[test]
fn no_real_output_is_without_figures() {
    for name in FORMS.iter().filter(|name| **name != "ab/timeout-r.txt") {
        for section in read(name).sections {
            assert_eq!(section.figures.aborted, None, "{name}");
        }
        assert!(!read(name).sections.is_empty(), "{name}");
    }
}
