//! A plan for people.

use std::fmt;

use mainstem_core::Across;
use mainstem_core::contract::Filter;
use mainstem_core::pipeline::{GuaranteeSpec, Guarantees, NeighboursSpec, guarantee};

use super::{Plan, PlannedLeg};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "query     {}", self.query())?;
        for variant in self.variants.iter().skip(1) {
            writeln!(f, "variant   {variant}")?;
        }
        if let Some(route) = &self.route {
            let rule =
                route.rule.as_ref().map_or("no rule applies".to_owned(), |rule| format!("rule `{rule}`"));
            writeln!(f, "route     {rule}")?;
        }
        let filter = words(&self.filter);
        if !filter.is_empty() {
            writeln!(f, "only      {}", filter.join(", "))?;
        }
        self.write_legs(f)?;
        let [soft, hard] = [self.deadline.soft, self.deadline.hard].map(|limit| limit.as_millis());
        writeln!(f, "wait      {soft} ms, at most {hard} ms")?;
        self.write_stages(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note      {note}"))
    }
}

impl Plan {
    fn write_legs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.legs.iter().map(|leg| leg.name.chars().count()).max().unwrap_or(0);
        for (at, leg) in self.legs.iter().enumerate() {
            let head = if at == 0 { "legs" } else { "" };
            writeln!(f, "{head:<8}  {:<width$}  {}", leg.name, leg_words(leg))?;
        }
        if self.legs.is_empty() {
            writeln!(f, "legs      none")?;
        }
        Ok(())
    }

    fn write_stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = if self.pipeline.across == Across::Rank { "leg" } else { "channel" };
        writeln!(f, "take      the best {} of each {list}", self.candidates)?;
        for (name, settings) in self.stages() {
            writeln!(f, "{name:<8}  {settings}")?;
        }
        Ok(())
    }

    /// The stages that run, in order, with their settings in words.
    fn stages(&self) -> Vec<(&'static str, String)> {
        let spec = &self.pipeline;
        let dedup = spec.dedup.as_ref();
        let mut stages = Vec::new();
        let mut stage = |name, words: Option<String>| stages.extend(words.map(|words| (name, words)));
        stage("join", spec.aggregate.map(|method| format!("chunks to documents, {}", method.as_str())));
        stage(
            "collapse",
            dedup.and_then(|spec| spec.within).map(|least| format!("copies within a source, from {least}")),
        );
        let merge = match spec.across {
            Across::Rank => None,
            Across::Score => Some("each channel over all sources, by score"),
            Across::Calibrated => {
                Some("each channel over all sources, by score; each leg scores what others found")
            }
        };
        stage("merge", merge.map(str::to_owned));
        let formula = spec.fuse.check().map(|fusion| fusion.formula()).unwrap_or_default();
        stage("fuse", Some(format!("{}: {formula}", spec.fuse.method)));
        stage(
            "collapse",
            dedup.and_then(|spec| spec.across).map(|least| format!("copies across sources, from {least}")),
        );
        let near = |spec: NeighboursSpec| {
            format!("{} to the {} nearest of the first {}", spec.weight, spec.count, spec.top)
        };
        stage("near", spec.neighbours.map(near));
        stage(
            "source",
            spec.prior.map(|prior| format!("the best of each source, to the power {}", prior.power)),
        );
        stage("rerank", spec.rerank.map(|rerank| format!("the first {}", rerank.top)));
        let aging: Vec<_> = spec.recency.keys().map(String::as_str).collect();
        stage("recency", (!aging.is_empty()).then(|| aging.join(", ")));
        stage("diverse", spec.diversify.map(|spec| format!("lambda {}", spec.lambda)));
        stage("ensure", (!spec.guarantee.is_empty()).then(|| ensured(&spec.guarantee)));
        let limit = spec.limit.map_or("all hits".to_owned(), |limit| format!("{limit} hits"));
        stage(
            "cut",
            Some(if spec.offset > 0 { format!("{limit} after the first {}", spec.offset) } else { limit }),
        );
        stages
    }
}

/// The guarantees, in words.
fn ensured(table: &Guarantees) -> String {
    let one = |(source, spec): (&String, &GuaranteeSpec)| {
        let source = if source == "*" { "each other source" } else { source };
        let min = spec.min.map(|min| format!("at least {min}"));
        let max = spec.max.map(|max| format!("at most {max}"));
        let bounds: Vec<_> = min.into_iter().chain(max).collect();
        format!("{} of {source}", bounds.join(" and "))
    };
    let mut entries: Vec<_> = table.iter().collect();
    // By name: in which order settings are read depends on how they were written.
    entries.sort_unstable_by_key(|(source, _)| *source);
    let all: Vec<_> = entries.into_iter().map(one).collect();
    format!("{} in the first {}", all.join(", "), guarantee::top(table))
}

fn leg_words(leg: &PlannedLeg) -> String {
    let weight = leg.effective_weight();
    match (weight, leg.routed) {
        (0.0, _) => "weight 0, not run".to_owned(),
        (_, 1.0) => format!("weight {weight}"),
        (_, routed) => format!("weight {weight} ({} × {routed} by the route)", leg.weight),
    }
}

/// What a filter asks for, in words.
fn words(filter: &Filter) -> Vec<String> {
    let list = |name: &str, all: &Option<Vec<String>>| {
        all.as_ref().map(|all| format!("{name} {}", all.join(" or ")))
    };
    let named = [list("source", &filter.sources), list("kind", &filter.kinds)];
    let since = filter.since.as_ref().map(|since| format!("since {since}"));
    let until = filter.until.as_ref().map(|until| format!("until {until}"));
    let metadata = filter.metadata.iter().map(|(key, value)| format!("{key} = {value}"));
    let reader = filter.reader.as_ref().map(|reader| format!("what {reader} may read"));
    named.into_iter().flatten().chain(since).chain(until).chain(metadata).chain(reader).collect()
}
