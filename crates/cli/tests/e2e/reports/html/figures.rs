//! Comparisons and trends as one file, in a browser.

use serde_json::json;

use crate::support::*;
use crate::tools::chromium::Chromium;

#[test]
fn comparisons_and_trends_are_files_of_their_own() {
    let mut both = Vec::new();
    for store in Store::each() {
        super::ingest_two(&store);
        let compare =
            ["compare", "nio_2048", "spring_2048", "nio_2048", "--format", "html", "-o", "compared.html"];
        store.run(&compare).said();
        // The flags that change the report's own pages are taken, those on files of pages are not.
        let own = ["compare", "nio_2048", "spring_2048", "--format", "html", "-o", "own.html"];
        store.run(&[&own[..], &["--log-scale", "--paper", "letter"]].concat()).said();
        assert!(std::fs::read_to_string(store.folder.path().join("own.html")).unwrap().contains("log scale"));
        store.run(&[&own[..], &["--page-format", "pdf"]].concat()).complaint(2);
        let trend = ["trend", "--test", "2048", "--by", "run", "--format", "html", "-o", "trend.html"];
        store.run(&trend).said();
        let path = |name: &str| store.folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        let (compared, trends) = (read("compared.html"), read("trend.html"));
        assert_eq!(
            compared.matches("<svg xmlns").count(),
            4,
            "for each side its changes, and both over time"
        );
        assert!(compared.contains("the noise is taken from the seconds"));
        assert_eq!(trends.matches("<svg xmlns").count(), 2, "a page for each framework");
        assert!(compared.len() < 500_000 && trends.len() < 500_000);
        both.push((compared, trends));

        let Some(mut chromium) = Chromium::start() else { continue };
        for name in ["compared.html", "trend.html"] {
            for width in [390, 1280] {
                let screen =
                    json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
                chromium.call("Emulation.setDeviceMetricsOverride", screen);
                chromium.open(&path(name));
                let wide = chromium.number("document.documentElement.scrollWidth");
                assert!(wide <= f64::from(width), "{name} is {wide} wide on {width}");
            }
            let (complaints, requests) = chromium.complaints_and_requests();
            assert!(complaints.is_empty(), "{name}: {complaints:?}");
            assert!(requests.iter().all(|url| url.starts_with("file:")), "{name}: {requests:?}");
        }
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores give different reports");
}
