//! The space of settings: axes, each with the values to try.
//!
//! A space is data, so that whatever a pipeline can be told can be tuned:
//!
//! ```toml
//! [[axis]]
//! path = "pipeline.fuse"                      # a table with `method` takes the place of `fuse` as a whole
//! values = [{ method = "rrf" }, { method = "linear", normalise = "zscore" }]
//!
//! [[axis]]
//! path = "pipeline.fuse.k"
//! values = [10, 20, 40, 60, 100]
//! default = 60                                # what it is where the settings do not say
//! when = { "pipeline.fuse.method" = "rrf" }   # without meaning otherwise
//!
//! [[axis]]
//! path = "weights.dense"
//! from = 0.25
//! to = 4
//! steps = 9
//! scale = "log"
//!
//! [[axis]]
//! path = "pipeline.diversify.lambda"
//! values = [0.5, 0.7, 0.9]
//! off = "pipeline.diversify"                  # also try it without this
//!
//! [[axis]]
//! name = "flavour"                            # several places at once: JSON merge patches over all settings
//! patches = [{ pipeline = { across = "rank" }, candidates = 50 }]
//! ```
//!
//! The first choice of every axis is what the settings already say.

mod file;
mod usual;

use mainstem_core::Error;
use serde_json::Value;

use super::setting::{Path, Setting};

pub use file::{AxisFile, SpaceFile};
pub use usual::{Contents, usual};

/// One point: for each axis which choice; 0 is what the settings already say.
pub type Point = Vec<u16>;

/// One value to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How reports call it.
    pub label: String,
    /// Where it stands among the others, where that is a number.
    pub number: Option<f64>,
    /// What it changes.
    changes: Vec<(Path, Value)>,
}

impl Choice {
    /// Changes the settings; false where they have no such place.
    fn apply(&self, setting: &mut Setting) -> bool {
        self.changes.iter().all(|(path, value)| setting.put(path, value))
    }
}

/// A condition: the value at a place is one of these.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    path: Path,
    values: Vec<Value>,
}

/// One thing that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// How reports call it.
    pub name: String,
    /// The values, what the settings already say first.
    pub choices: Vec<Choice>,
    when: Vec<Condition>,
    /// The choices in the order of their numbers; those without one stand alone.
    order: Vec<u16>,
}

impl Axis {
    fn applies(&self, setting: &Setting) -> bool {
        self.when.iter().all(|condition| {
            setting.get(&condition.path).is_some_and(|value| condition.values.contains(value))
        })
    }

    /// The choices next to this one; all others where they have no order.
    pub fn neighbours(&self, choice: u16) -> Vec<u16> {
        let Some(at) = self.order.iter().position(|one| *one == choice) else {
            return (0..self.choices.len() as u16).filter(|other| *other != choice).collect();
        };
        let beside = [at.checked_sub(1), Some(at + 1)];
        let ordered = beside.into_iter().flatten().filter_map(|at| self.order.get(at).copied());
        let loose = (0..self.choices.len() as u16).filter(|other| !self.order.contains(other));
        ordered.chain(loose).collect()
    }

    /// How far a choice is from what the settings say: steps over all steps, and 1 where there is no order.
    fn distance(&self, choice: u16) -> f64 {
        let place = |choice| self.order.iter().position(|one| *one == choice);
        match (choice, place(0), place(choice)) {
            (0, ..) => 0.0,
            (_, Some(home), Some(at)) => home.abs_diff(at) as f64 / (self.order.len() - 1) as f64,
            _ => 1.0,
        }
    }
}

/// All axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    axes: Vec<Axis>,
}

impl Space {
    /// The axes of a file, seen from these settings. Values that the settings have already are not tried twice.
    ///
    /// # Errors
    /// When an axis is not of the documented shape, or a value is refused by the pipeline.
    pub fn new(file: &SpaceFile, base: &Setting) -> Result<Self, Error> {
        let axes: Vec<Axis> = file.axis.iter().map(|axis| axis.resolve(base)).collect::<Result<_, _>>()?;
        if let Some(twice) =
            axes.iter().enumerate().find(|(at, axis)| axes[..*at].iter().any(|other| other.name == axis.name))
        {
            return Err(Error::Duplicate { what: "axis", name: twice.1.name.clone() });
        }
        let space = Self { axes: axes.into_iter().filter(|axis| axis.choices.len() > 1).collect() };
        space.check(base)?;
        Ok(space)
    }

    /// Every value alone must be acceptable; combinations need not be.
    fn check(&self, base: &Setting) -> Result<(), Error> {
        for (at, axis) in self.axes.iter().enumerate() {
            for (choice, value) in (0..).zip(&axis.choices).skip(1) {
                let mut setting = self.first_that_applies(base, at);
                let outcome = if value.apply(&mut setting) {
                    setting.compile().map(drop)
                } else {
                    Err(unreachable(axis))
                };
                outcome.map_err(|error| wrong_value(axis, choice, &error))?;
            }
        }
        Ok(())
    }

    /// The settings, changed along earlier axes until this one applies.
    fn first_that_applies(&self, base: &Setting, axis: usize) -> Setting {
        let mut tries = std::iter::once(base.clone()).chain(self.axes[..axis].iter().flat_map(|earlier| {
            earlier.choices.iter().map(|choice| {
                let mut setting = base.clone();
                choice.apply(&mut setting);
                setting
            })
        }));
        tries.find(|setting| self.axes[axis].applies(setting)).unwrap_or_else(|| base.clone())
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The point of the settings as they are.
    pub fn home(&self) -> Point {
        vec![0; self.axes.len()]
    }

    /// How many points there are, counting those that mean the same.
    pub fn size(&self) -> f64 {
        self.axes.iter().map(|axis| axis.choices.len() as f64).product()
    }

    /// The settings at a point, and the point without choices that have no meaning there.
    pub fn at(&self, base: &Setting, point: &[u16]) -> (Point, Setting) {
        let mut setting = base.clone();
        let mut canonical = self.home();
        for (at, (axis, &choice)) in self.axes.iter().zip(point).enumerate() {
            if choice == 0 || !axis.applies(&setting) {
                continue;
            }
            if axis.choices[usize::from(choice)].apply(&mut setting) {
                canonical[at] = choice;
            }
        }
        (canonical, setting)
    }

    /// How far a point is from the settings as they are: first the number of changes, then their size.
    pub fn distance(&self, point: &[u16]) -> f64 {
        let moved = self.axes.iter().zip(point).filter(|(_, choice)| **choice != 0);
        moved.map(|(axis, &choice)| 1.0 + 0.5 * axis.distance(choice)).sum()
    }

    /// What a point changes: the axis, what it is, what it becomes.
    pub fn changes<'a>(
        &'a self,
        point: &'a [u16],
    ) -> impl Iterator<Item = (&'a Axis, &'a Choice, &'a Choice)> {
        let moved = self.axes.iter().zip(point).filter(|(_, choice)| **choice != 0);
        moved.map(|(axis, &choice)| (axis, &axis.choices[0], &axis.choices[usize::from(choice)]))
    }
}

fn unreachable(axis: &Axis) -> Error {
    Error::range(format!("axis `{}`", axis.name), "a path that the settings have", "a list without that name")
}

fn wrong_value(axis: &Axis, choice: usize, error: &Error) -> Error {
    let label = &axis.choices[choice].label;
    Error::Parse {
        message: format!("axis `{}`: the value `{label}` is refused: {error}", axis.name),
        code: mainstem_core::Code::Value,
        hint: Some("leave the value out, or say with `when` where it has a meaning".into()),
        place: mainstem_core::Place::default(),
    }
}

#[cfg(test)]
mod tests {
    use mainstem_core::{Diagnostic as _, PipelineSpec};
    use serde_json::json;

    use super::*;

    fn base() -> Setting {
        Setting::new(&PipelineSpec::default()).unwrap()
    }

    fn space(value: Value) -> Result<Space, Error> {
        Space::new(&SpaceFile::from_json(value)?, &base())
    }

    fn two_axes() -> Space {
        space(json!({"axis": [
            {"path": "pipeline.fuse", "values": [{"method": "rrf"}, {"method": "rsf"}]},
            {"path": "pipeline.fuse.k", "values": [10, 60, 100], "default": 60, "when": {"pipeline.fuse.method": "rrf"}},
        ]}))
        .unwrap()
    }

    #[test]
    fn what_the_settings_say_is_the_first_choice_and_not_tried_twice() {
        let space = two_axes();
        let labels =
            |at: usize| space.axes[at].choices.iter().map(|choice| choice.label.as_str()).collect::<Vec<_>>();
        assert_eq!(labels(0), ["rrf", "rsf"]);
        assert_eq!(labels(1), ["60", "10", "100"]);
        assert_eq!(space.axes[1].neighbours(0), [1, 2]);
        assert_eq!(space.axes[1].neighbours(1), [0]);
    }

    #[test]
    fn choices_without_meaning_fall_away() {
        let space = two_axes();
        let (point, setting) = space.at(&base(), &[1, 2]);
        assert_eq!(point, [1, 0]);
        assert_eq!(setting.json()["pipeline"]["fuse"], json!({"method": "rsf"}));
        let (point, setting) = space.at(&base(), &[0, 2]);
        assert_eq!((point, &setting.json()["pipeline"]["fuse"]["k"]), (vec![0, 2], &json!(100)));
    }

    #[test]
    fn fewer_changes_are_nearer_whatever_their_size() {
        let space = two_axes();
        assert!(space.distance(&[0, 2]) < space.distance(&[1, 1]));
        assert_eq!(space.distance(&space.home()), 0.0);
    }

    #[test]
    fn ranges_are_round_and_hold_both_ends() {
        let space = space(
            json!({"axis": [{"path": "weights.a", "from": 0.25, "to": 4, "steps": 5, "scale": "log", "default": 1}]}),
        );
        let numbers: Vec<_> =
            space.unwrap().axes[0].choices.iter().map(|choice| choice.number.unwrap()).collect();
        assert_eq!(numbers, [1.0, 0.25, 0.5, 2.0, 4.0]);
    }

    #[test]
    fn slips_are_named() {
        let cases = [
            (json!({"axis": [{"path": "pipeline.fuse.k", "values": [-3]}]}), "the value `-3` is refused"),
            (json!({"axis": [{"path": "pipeline.nothing", "values": [1]}]}), "unknown field `nothing`"),
            (json!({"axis": [{"path": "weights.a"}]}), "expected `values`, `from` and `to`, or `patches`"),
            (json!({"axis": [{"path": "weights.a", "from": 0, "to": 4, "scale": "log"}]}), "numbers over 0"),
            (json!({"axis": [{"values": [1]}]}), "expected `path`"),
            (json!({"axis": [{"path": "a", "value": [1]}]}), "unknown field `value`"),
            (
                json!({"axis": [{"path": "weights.a", "values": [2]}, {"path": "weights.a", "values": [3]}]}),
                "axis",
            ),
            (json!({"axis": [{"path": "pipeline.route.why.weights.a", "values": [2]}]}), "refused"),
        ];
        for (file, words) in cases {
            let error = space(file.clone()).unwrap_err();
            assert!(error.to_string().contains(words), "{file}: {error}");
            assert!(error.code().exit_code() == 2);
        }
    }

    #[test]
    fn a_value_that_another_axis_makes_possible_is_accepted() {
        let file = json!({"axis": [
            {"path": "pipeline.fuse", "values": [{"method": "linear"}]},
            {"path": "pipeline.fuse.normalise", "values": ["zscore"], "when": {"pipeline.fuse.method": "linear"}},
        ]});
        assert_eq!(space(file).unwrap().axes.len(), 2);
    }
}
