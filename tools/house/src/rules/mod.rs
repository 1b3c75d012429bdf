//! The house rules, one file each.

mod files;
mod functions;
mod marks;
mod names;
mod panics;
mod traits;
mod unsafety;

use crate::report::Offence;
use crate::source::Source;

/// What the rules found, and the numbers behind it.
pub(crate) struct Survey {
    /// Every broken rule, grouped by rule.
    pub(crate) offences: Vec<Offence>,
    /// One line per counted thing, whether or not a rule is broken.
    pub(crate) summary: String,
}

/// Applies every rule to every file.
pub(crate) fn survey(sources: &[Source]) -> Survey {
    let functions = functions::measure(sources);
    let files = files::measure(sources);
    let traits = traits::measure(sources);
    let mut offences = functions::check(&functions);
    offences.extend(files::check(&files));
    offences.extend(traits::check(&traits));
    for rule in [unsafety::check, panics::check, names::check, marks::check] {
        offences.extend(sources.iter().flat_map(rule));
    }
    let summary = [
        functions::summary(&functions),
        files::summary(&files),
        traits::summary(&traits),
        unsafety::summary(sources),
    ];
    Survey { offences, summary: summary.concat() }
}
