//! Rules by which settings are chosen from those that were tried.
//!
//! | rule | chooses |
//! |---|---|
//! | `plateau` | the settings nearest to the present ones among all that the queries cannot tell from the best |
//! | `one change` | the best settings that differ in one place |
//! | `best` | the best settings |
//!
//! On a plateau the mean decides by luck. `plateau` takes everything within one standard error of the best (of the paired
//! difference), and prefers what changes least: the one-standard-error rule of Breiman, Friedman, Olshen and Stone, *Classification and
//! regression trees*, 1984, section 3.4.3, with nearness to the present settings as simplicity.

use super::board::Row;
use super::space::Space;

/// How settings are chosen. The order is the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The nearest that cannot be told from the best.
    Plateau,
    /// The best of those that differ in one place.
    OneChange,
    /// The best.
    Best,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Plateau, Self::OneChange, Self::Best];

    /// The name, as reports have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plateau => "plateau",
            Self::OneChange => "one change",
            Self::Best => "best",
        }
    }
}

/// What the queries that decide say.
pub(super) trait Tally {
    /// The mean of a row, or its mean difference from the present settings: only differences of it count.
    fn mean(&self, row: usize) -> f64;
    /// How many queries decide.
    fn count(&self) -> f64;
    /// How much the difference of two rows varies: the sum of its squared distances from its mean.
    fn spread(&self, a: usize, b: usize) -> f64;
}

/// Queries that decide by their values.
pub(super) struct Voters<'a> {
    pub(super) rows: &'a [Row],
    pub(super) queries: &'a [usize],
}

impl Tally for Voters<'_> {
    fn mean(&self, row: usize) -> f64 {
        let values = &self.rows[row].values[0];
        self.queries.iter().map(|&query| values[query]).sum::<f64>() / self.count().max(1.0)
    }

    fn count(&self) -> f64 {
        self.queries.len() as f64
    }

    fn spread(&self, a: usize, b: usize) -> f64 {
        let (one, two) = (&self.rows[a].values[0], &self.rows[b].values[0]);
        let squares: f64 = self.queries.iter().map(|&query| (one[query] - two[query]).powi(2)).sum();
        squares - self.count() * (self.mean(a) - self.mean(b)).powi(2)
    }
}

/// The rows to choose from and who decides.
pub(super) struct Ballot<'a> {
    pub(super) rows: &'a [Row],
    /// The rows that may be chosen, nearest to the present settings first.
    pub(super) pool: &'a [usize],
    pub(super) tally: &'a dyn Tally,
}

impl Ballot<'_> {
    /// The row that the rule chooses.
    pub(super) fn choose(&self, rule: Rule, home: usize) -> usize {
        let usable = || self.pool.iter().copied().filter(|&row| self.rows[row].refused.is_none());
        let best = match rule {
            Rule::OneChange => self.best(usable().filter(|&row| changes(&self.rows[row]) <= 1)),
            Rule::Best | Rule::Plateau => self.best(usable()),
        };
        match (rule, best) {
            (Rule::Plateau, Some((mean, best))) => self.nearest_level(mean, best, usable()),
            (_, Some((_, best))) => best,
            (_, None) => home,
        }
    }

    /// The greatest mean; of equals the nearest.
    fn best(&self, rows: impl Iterator<Item = usize>) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for row in rows {
            let mean = self.tally.mean(row);
            if best.is_none_or(|(most, _)| mean > most) {
                best = Some((mean, row));
            }
        }
        best
    }

    /// The nearest row that cannot be told from the best; of equally near ones the one with the greatest mean.
    fn nearest_level(&self, mean: f64, best: usize, rows: impl Iterator<Item = usize>) -> usize {
        let mut found: Option<(f64, usize)> = None;
        for row in rows {
            if found.is_some_and(|(_, known)| self.rows[known].distance < self.rows[row].distance) {
                break;
            }
            let own = self.tally.mean(row);
            if self.cannot_tell(mean - own, best, row) && found.is_none_or(|(most, _)| own > most) {
                found = Some((own, row));
            }
        }
        found.map_or(best, |(_, row)| row)
    }

    /// Whether the queries cannot tell a row from the best: their mean difference is within its standard error.
    fn cannot_tell(&self, difference: f64, best: usize, row: usize) -> bool {
        let count = self.tally.count();
        let spread = self.tally.spread(best, row).max(0.0);
        let error = (spread / (count - 1.0).max(1.0) / count).sqrt();
        // A difference that one query alone makes is exactly its own standard error; rounding must not decide about it.
        difference <= error * (1.0 + 1e-9)
    }
}

/// Puts rows in the order that a ballot wants: nearest to the present settings first.
pub(super) fn nearest_first(rows: &[Row], pool: &mut [usize]) {
    pool.sort_by(|&a, &b| {
        let (one, two) = (&rows[a], &rows[b]);
        one.distance.total_cmp(&two.distance).then_with(|| one.point.cmp(&two.point))
    });
}

fn changes(row: &Row) -> usize {
    row.point.iter().filter(|choice| **choice != 0).count()
}

/// What a row changes, in words.
pub(super) fn describe(space: &Space, row: &Row) -> Vec<Change> {
    let change = |(axis, from, to): (&super::Axis, &super::Choice, &super::Choice)| Change {
        axis: axis.name.clone(),
        from: from.label.clone(),
        to: to.label.clone(),
    };
    space.changes(&row.point).map(change).collect()
}

/// One setting that becomes another.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// The axis.
    pub axis: String,
    /// What it is.
    pub from: String,
    /// What it becomes.
    pub to: String,
}

#[cfg(test)]
mod tests {
    use mainstem_core::PipelineSpec;

    use super::*;
    use crate::tune::Setting;

    fn row(point: &[u16], values: &[f64]) -> Row {
        Row {
            point: point.to_vec(),
            setting: Setting::new(&PipelineSpec::default()).unwrap(),
            values: vec![values.to_vec()],
            cost: 1.0,
            refused: None,
            distance: point.iter().map(|choice| f64::from(*choice)).sum(),
        }
    }

    fn choose(rows: &[Row], rule: Rule) -> usize {
        let pool: Vec<usize> = (0..rows.len()).collect();
        let queries: Vec<usize> = (0..rows[0].values[0].len()).collect();
        Ballot { rows, pool: &pool, tally: &Voters { rows, queries: &queries } }.choose(rule, 0)
    }

    #[test]
    fn each_rule_chooses_as_it_says() {
        let rows = [
            row(&[0, 0], &[0.1, 0.2, 0.3, 0.1]),
            row(&[1, 0], &[0.5, 0.6, 0.7, 0.5]),
            row(&[1, 1], &[0.5, 0.6, 0.7, 0.6]),
            row(&[2, 1], &[0.9, 0.5, 0.9, 0.9]),
        ];
        assert_eq!(choose(&rows, Rule::Best), 3);
        assert_eq!(choose(&rows, Rule::OneChange), 1);
        // Row 1 is behind row 2 by one query only, which is within the error; both are clearly behind row 3.
        assert_eq!(choose(&rows[..3], Rule::Plateau), 1);
        assert_eq!(choose(&rows, Rule::Plateau), 3);
    }

    #[test]
    fn ties_stay_with_the_present_settings() {
        let rows = [row(&[0], &[0.5, 0.5]), row(&[1], &[0.5, 0.5]), row(&[2], &[0.4, 0.6])];
        for rule in Rule::ALL {
            assert_eq!(choose(&rows, rule), 0, "{rule:?}");
        }
    }

    #[test]
    fn refused_settings_are_never_chosen() {
        let rows = [row(&[0], &[0.1]), Row { refused: Some("no".into()), ..row(&[1], &[0.9]) }];
        assert_eq!(choose(&rows, Rule::Best), 0);
    }
}
