//! The report as one HTML file: whole, small, repeatable, and nothing in it but what it should hold.

#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use perfpipe_analyze::breakdown::{Details, ErrorKind, HeatColumn, LabelStats};
use perfpipe_analyze::{League, Second, Timeline};
use perfpipe_plot::{Palette, Style, html};

/// Details as a busy run has them: 60 different buckets in each second.
fn details(run: &Timeline) -> Details {
    let counts: Vec<(u32, u64)> =
        (20..80).map(|bucket| (bucket, 1 + u64::from(bucket * 7919 % 900))).collect();
    let column = |second: &Second| {
        let mut column = HeatColumn::default();
        (column.second, column.counts) = (second.second, counts.clone());
        column
    };
    let mut details = Details::default();
    details.heatmap.width = 1;
    details.heatmap.columns = run.seconds.iter().map(column).collect();
    details.curve = (0..100).map(|percent| (f64::from(percent), f64::from(percent) * 3.5)).collect();
    details.errors.push(failures());
    details.labels.push(label());
    details.sweep = Some(support::sweep());
    details
}

fn failures() -> ErrorKind {
    let mut kind = ErrorKind::default();
    (kind.response_code, kind.message) = ("<503>".to_owned(), "</td></script>&".to_owned());
    (kind.count, kind.first, kind.last) = (12, 3, 9);
    kind
}

fn label() -> LabelStats {
    let mut stats = LabelStats::default();
    (stats.label, stats.successes) = ("Get \"<x>\"".to_owned(), 7);
    stats
}

fn report(runs: &[Timeline], style: &Style) -> String {
    let details: Vec<Details> = runs.iter().map(details).collect();
    let league = League::new(runs).unwrap();
    html("2048", runs.iter().zip(&details), &league, style).unwrap()
}

/// What stands between two marks, the first time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

#[test]
fn size_of_a_run_of_seven_minutes_is_as_documented() {
    let html = report(&[support::ramp("perfectnio")], &Style::default());
    // The documentation promises 0.4 MB.
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert_eq!(html, report(&[support::ramp("perfectnio")], &Style::default()));
}

#[test]
fn file_names_nothing_that_could_be_loaded() {
    let html = report(&support::field(), &Style::default());
    for part in ["http:", "https:", "url(", "@import", "src=", "<link", "<base", "<iframe"] {
        // The name space of SVG is a name, and is never asked for.
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(part), "{part}");
    }
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("self"), "{policy}");
}

#[test]
fn texts_of_users_are_escaped() {
    let mut run = support::short(5);
    run.info.key.framework = "<img src=x onerror=alert(1)></script>\u{0}".to_owned();
    let html = report(&[run], &Style::default());
    assert!(!html.contains("<img") && !html.contains('\u{0}'));
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(html.contains("<td>&lt;503&gt;</td><td>&lt;/td&gt;&lt;/script&gt;&amp;</td>"));
    assert!(html.contains("<td>Get &quot;&lt;x&gt;&quot;</td>"));
    // The data's and the program's own ends, and no other.
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn runs_stand_best_first_as_in_the_league() {
    let names = ["slow", "fast", "middling"];
    let runs: Vec<Timeline> = names
        .iter()
        .zip([10.0, 900.0, 80.0])
        .map(|(name, rate)| support::steady(name, rate, 0.1, 9))
        .collect();
    let html = report(&runs, &Style::default());
    let order = ["<h2>fast 2048</h2>", "<h2>middling 2048</h2>", "<h2>slow 2048</h2>"]
        .map(|name| html.find(name).unwrap());
    assert!(order.is_sorted());
    let data = between(&html, "id=\"data\">", "</script>");
    assert!(data.find("\"fast\"").unwrap() < data.find("\"slow\"").unwrap());
    // A run alone is compared with nothing.
    assert!(
        html.contains("id=\"compare\"") && !report(&runs[..1], &Style::default()).contains("id=\"compare\"")
    );
}

#[test]
fn every_made_up_run_and_none_can_be_told() {
    for (name, run) in support::cases() {
        if name != "day" {
            let html = report(&[run], &Style::default().with_palette(Palette::Viridis));
            assert!(html.ends_with("</body>\n</html>\n") && !html.contains("NaN"), "{name}");
        }
    }
    assert!(report(&[], &Style::default()).contains("\"runs\":[]"));
}
