// Entry point: builds the charts from the data in the page.

const report = JSON.parse(document.getElementById("data").textContent);

const seriesColor = (index) => `var(--series-${index % report.series})`;
const quantileColor = (index, count) => {
  const share = count < 2 ? 60 : (100 * index) / (count - 1);
  return `color-mix(in srgb, var(--quantile-low), var(--quantile-high) ${Math.round(share)}%)`;
};

function charts(run, host, view) {
  const [successes, failures] = [run.successes, run.failures];
  const percentiles = run.percentiles.map((percent, at) => ({ percent, values: run.elapsed[at] }));
  percentiles.sort((a, b) => a.percent - b.percent);
  const lines = percentiles.map(({ percent, values }, at) => {
    return { name: `p${percent}`, values, color: quantileColor(at, percentiles.length) };
  });
  const common = { first: run.first, end: run.first + successes.length, hold: run.hold };
  const reading = (name, values, show, unit = "") => ({ name, values, first: run.first, show, unit });
  const group = new Group(host, view, [
    reading("successes/s", successes, counted),
    reading("failures/s", failures, counted),
    reading("load", run.load, measured),
    reading("CPU", run.cpu, measured, " %"),
    ...lines.map(({ name, values, color }) => ({ ...reading(name, values, measured, " ms"), color })),
  ]);
  requestsChart(run, group, common);
  lineChart(group, common, "Load (active threads)", [{ name: "load", values: run.load, color: seriesColor(0) }], 70);
  const cpu = { ...common, top: run.cpuTop };
  lineChart(group, cpu, "CPU utilisation (%)", [{ name: "CPU", values: run.cpu, color: seriesColor(1) }], 90);
  lineChart(group, common, "Response time (ms)", lines, 170);
  const heat = { ...common, heading: "Response times over time", height: 190, heat: run.heat, series: [] };
  group.add(new HeatChart(group.box, heat));
}

function requestsChart(run, group, common) {
  const swatch = `linear-gradient(90deg, ${report.scale.filter((_, at) => at % 8 === 0).join(", ")})`;
  const series = [{ name: `successes, coloured by ${run.colorBy}`, values: run.successes, swatch }];
  if (run.failures.some((failures) => failures > 0)) {
    series.push({ name: "failures", values: run.failures, color: "var(--failure)" });
  }
  const options = { ...common, heading: "Requests per second", height: 170, series };
  group.add(new RequestsChart(group.box, { ...options, measure: run[run.measure], scale: report.scale }));
}

// Adds a chart of lines, if there is anything to draw.
function lineChart(group, common, heading, series, height) {
  if (series.some(({ values }) => compact(values).length)) {
    group.add(new TimeChart(group.box, { ...common, heading, series, height }));
  }
}

// Adds the charts of the run by load.
function sweep(run, host) {
  const { loads, throughput, spread, elapsed, cpu, knee, capacity, beyond } = run.sweep;
  const common = { loads, knee, beyond };
  const chart = (options) => {
    const drawn = new SweepChart(host, { ...common, ...options });
    addEventListener("resize", () => drawn.draw());
    drawn.draw();
  };
  const throughputs = { name: "successes/s", values: throughput, spread, color: seriesColor(0), unit: "/s" };
  chart({ heading: "Successes per second by load (threads)", height: 190, series: [throughputs], bound: capacity });
  const order = run.percentiles.map((percent, at) => ({ percent, at })).sort((a, b) => a.percent - b.percent);
  const line = ({ percent, at }, rank) => {
    return { name: `p${percent}`, values: elapsed[at], color: quantileColor(rank, order.length), unit: " ms" };
  };
  chart({ heading: "Response time by load (ms)", height: 170, series: order.map(line) });
  if (!compact(cpu).length) return;
  const readings = { name: "CPU", values: cpu, color: seriesColor(1), unit: " %" };
  chart({ heading: "CPU utilisation by load (%)", height: 90, series: [readings], top: run.cpuTop });
}

function compareRuns(host, view) {
  const named = (run, at) => ({ name: run.name, color: seriesColor(at), values: run.successes, first: run.first });
  const series = report.runs.map(named);
  const readings = series.map((one) => ({ ...one, show: counted, unit: "" }));
  const group = new Group(host, view, readings);
  const options = { heading: "Successes per second", series, height: 240, first: view.first, end: view.end };
  group.add(new TimeChart(group.box, options));
  curves(host, report.runs.map((run, at) => ({ name: run.name, color: seriesColor(at), curve: run.curve })));
}

function curves(host, series) {
  const curve = new CurveChart(host, { heading: "Response time by percentile (ms)", height: 190, series });
  addEventListener("resize", () => curve.draw());
  curve.draw();
}

function build() {
  const first = Math.min(...report.runs.map((run) => run.first));
  const end = Math.max(...report.runs.map((run) => run.first + run.successes.length));
  const view = new View(first, end);
  const compare = document.getElementById("compare");
  if (compare) compareRuns(compare, view);
  report.runs.forEach((run, at) => {
    const host = document.getElementById(`live-${at}`);
    charts(run, host, view);
    curves(host, [{ name: run.name, color: seriesColor(at), curve: run.curve }]);
    const byLoad = document.getElementById(`load-${at}`);
    if (byLoad) sweep(run, byLoad);
  });
  document.getElementById("whole").addEventListener("click", () => view.all());
}

// Makes a button show the printed page below it, and hide it again.
function showsSheet(button) {
  button.addEventListener("click", () => {
    const shown = button.nextElementSibling.classList.toggle("shown");
    button.setAttribute("aria-expanded", String(shown));
  });
}

function followTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

document.documentElement.classList.add("live");
document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("button.sheet-switch").forEach(showsSheet);
followTheme(document.getElementById("theme"));
if (report.runs.length) build();
