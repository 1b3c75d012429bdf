// What was last measured on this store: tables and plots of `eval`, `eval sources`, `tune` and the demo.

import { get } from "./api.js";
import { bars, columns, curve, intervals, parts } from "./charts.js";
import { h, harmless, plain, show } from "./dom.js";
import { age, capital, hour, many, moment, number, signed } from "./words.js";

/** Fills the view. */
export async function draw(view) {
  try {
    const { reports } = await get("/v1/reports");
    const newest = (a, b) => (moment(b.at) ?? 0) - (moment(a.at) ?? 0);
    const drawn = reports.filter((report) => SECTIONS[report.kind]).sort(newest).map(section);
    show(view, h("h1", {}, "Evaluation"), drawn.length ? drawn : nothing());
  } catch (error) {
    show(view, h("h1", {}, "Evaluation"), h("p", { class: "problem" }, harmless(error.message)));
  }
}

function nothing() {
  return h("div", { class: "blank" },
    h("p", {}, "Nothing has been measured on this store yet."),
    h("p", { class: "dim" }, "With judged questions, each of these leaves its last report here:"),
    h("pre", {}, "mainstem eval --queries queries.jsonl --qrels qrels.tsv\nmainstem eval sources --queries queries.jsonl --qrels qrels.tsv\nmainstem tune --queries queries.jsonl --qrels qrels.tsv"));
}

function section(report) {
  const [title, body] = SECTIONS[report.kind];
  const at = moment(report.at);
  return h("section", { class: "report panel" },
    h("div", { class: "head" }, h("h2", {}, title), at === null ? null : h("time", { class: "dim", datetime: new Date(at).toISOString(), title: hour(at) }, age(at, Date.now()))),
    body(report.report));
}

const SECTIONS = {
  demo: ["The demo's questions, answered in several ways", demo],
  sources: ["Sources and channels, alone and together", ways],
  eval: ["Measures of the search", measures],
  tune: ["Tuning", tune],
};

function table(heads, rows, label) {
  const cell = (value, at) => (at ? h("td", { class: "number" }, value) : h("th", { scope: "row" }, value));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label },
    h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: at ? "number" : null }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", { class: row.own ? "own" : null }, row.cells.map(cell))))));
}

const verdict = (one) => {
  if (!one) return "";
  return one.verdict === "not_shown" ? "no sure difference" : `${one.verdict} (${one.wins}/${one.losses}/${one.ties})`;
};

function demo(report) {
  const own = (name) => name === "all sources, default" || name === "MAINSTEM";
  const rows = (report.ways ?? []).map((way) => ({
    own: own(way.name),
    cells: [harmless(way.name), number(way.all), way.comparison ? signed(way.comparison.difference) : "", verdict(way.comparison), ...way.recipes.map((value) => number(value)), number(way.reach, 2)],
  }));
  const heads = ["nDCG@10", "all", "diff", "against the default", ...(report.alone ?? []).map((one) => harmless(one.recipe)), "reach"];
  return [
    h("p", { class: "lead" }, `${many(report.questions, "judged question")} of five made-up users; all 16 sources are searched at once unless a row says otherwise.`),
    bars((report.ways ?? []).map((way) => ({ name: way.name, value: way.all, own: own(way.name) })), "nDCG@10 of each way"),
    table(heads, rows, "The ways in numbers"),
  ];
}

function wayName(way) {
  const names = { source: `${way.of} alone`, rank: "all sources, merged by rank alone", default: "all sources, default", configured: `all sources, tuned (${way.of})`, fresh: "all sources, default with freshness" };
  if (way.way === "channel") return way.of === "dense" ? "all sources, by meaning alone" : "all sources, by words alone";
  return names[way.way] ?? String(way.of ?? way.way);
}

function ways(report) {
  const list = report.ways ?? [];
  const all = Object.keys(list[0]?.measures ?? {});
  const against = (way, measure) => (report.comparisons ?? []).find((one) => one.measure === measure && one.run === wayName(way));
  return all.map((measure) => {
    const rows = list.map((way) => {
      const one = against(way, measure);
      return { own: way.way === "default", cells: [harmless(wayName(way)), number(way.measures[measure]), one ? signed(one.difference) : "", verdict(one)] };
    });
    return h("div", {}, h("h3", {}, measure), bars(list.map((way) => ({ name: wayName(way), value: way.measures[measure], own: way.way === "default" })), measure),
      table([measure, "mean", "diff", "against the default"], rows, `${measure} in numbers`));
  });
}

function measures(report) {
  const queries = Object.entries(report.queries ?? {});
  const first = Object.keys(report.measures ?? {})[0];
  const mean = report.measures?.[first] ?? 0;
  const weak = [...queries].sort((a, b) => a[1][first] - b[1][first]).slice(0, 10);
  return [
    bars(Object.entries(report.measures ?? {}).map(([name, value]) => ({ name, value })), "Means"),
    queries.length ? h("figure", {}, columns(queries.map(([name, values]) => ({ name, value: values[first] - mean })), `${first} of each query against the mean`), h("figcaption", {}, `${first} of each of ${many(queries.length, "query").replace("querys", "queries")}, against the mean`)) : null,
    weak.length ? h("details", {}, h("summary", {}, "The weakest queries"), table(["query", first], weak.map(([id, values]) => ({ cells: [plain(id), number(values[first])] })), "The weakest queries")) : null,
  ];
}

function tune(report) {
  const change = (one) => h("li", {}, h("code", {}, plain(one.axis)), ` from ${harmless(one.from)} to ${harmless(one.to)}`);
  const curves = [...(report.sensitivity ?? [])].sort((a, b) => b.range - a.range).filter((one) => one.range > 0).slice(0, 9);
  const picture = (one) => h("figure", { class: "tile" }, h("figcaption", {}, h("strong", {}, plain(one.axis)), h("span", { class: "dim" }, ` moves it by up to ${number(one.range)}`)), curve(one.samples, `${report.measure} at each value of ${harmless(one.axis)}`));
  const tried = (report.finalists ?? []).map((one) => ({ name: one.rule, value: one.gain, interval: one.interval }));
  return [
    h("p", { class: "lead" }, report.better ? `Better settings were found: ${report.measure} from ${number(report.before, 4)} to ${number(report.after, 4)}.` : `The present settings are kept: ${report.measure} ${number(report.before, 4)}.`),
    h("p", {}, harmless(capital(`${report.reason}.`))),
    report.changes?.length ? h("ul", { class: "changes" }, report.changes.map(change)) : null,
    tried.length ? [h("h3", {}, "What the best that was tried gains, on queries that had no say"), intervals(tried, `Gain in ${report.measure} of each rule, with its 95 % interval`)] : null,
    report.ceiling ? [h("h3", {}, "What is left to gain"), ceiling(report)] : null,
    curves.length ? [h("h3", {}, "How much each setting matters"), h("div", { class: "tiles" }, curves.map(picture))] : null,
    h("p", { class: "dim" }, `${many(report.tried ?? 0, "setting")} tried on ${many(report.used?.queries ?? 0, "query").replace("querys", "queries")}, in ${report.folds} folds. The larger dot is the present value.`),
  ];
}

/** Of all that could be had: what the ranking gets, what a better order of the same candidates would add, and what was not retrieved. */
function ceiling(report) {
  const [gets, allows] = [report.after ?? report.before, report.ceiling.allows];
  return parts([
    { name: "the ranking gets", value: gets, kind: "gets" },
    { name: "lost by ranking", value: Math.max(0, allows - gets), kind: "ranked" },
    { name: "lost by retrieval", value: Math.max(0, 1 - allows), kind: "missed" },
  ], `${report.measure}, of 1`);
}
