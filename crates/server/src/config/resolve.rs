//! Which value of an option counts: one precedence, in one place.

use std::fmt;

use mainstem_core::nearest;

use super::file::Entry;
use super::options::{OPTIONS, ServerConfig};
use super::setting::Raw;

/// Where the value of an option comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// A line of the file.
    File(u64),
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(line) => write!(f, "line {line}"),
            Self::Environment(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Something that is wrong with the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file, where it is one of the file.
    pub line: Option<u64>,
    /// What is wrong: expected and received.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// What was said about the options, in all places.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The options of the file.
    pub file: Vec<Entry>,
    /// Variables of the environment; those of other programs are passed over.
    pub environment: Vec<(String, String)>,
    /// Flags, by the name of the option.
    pub flags: Vec<(String, String)>,
}

/// The options that apply.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The values.
    pub config: ServerConfig,
    /// Where each comes from, in the order of [`OPTIONS`].
    pub origins: Vec<(&'static str, Origin)>,
    /// Everything that is wrong; then the values are not to be used.
    pub problems: Vec<Problem>,
}

const PREFIX: &str = "MAINSTEM_SERVER_";

/// The variable of an option.
pub fn variable(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase())
}

/// Lays what was said over the defaults: first the file, then the environment, then the flags.
pub fn resolve(given: &Given) -> Resolved {
    let origins = OPTIONS.iter().map(|option| (option.name, Origin::Default)).collect();
    let mut resolved = Resolved { config: ServerConfig::default(), origins, problems: Vec::new() };
    for entry in &given.file {
        resolved.set(&entry.name, &entry.value, Origin::File(entry.line));
    }
    for (variable, value) in &given.environment {
        if let Some(name) = variable.strip_prefix(PREFIX) {
            resolved.set(
                &name.to_lowercase(),
                &Raw::Text(value.clone()),
                Origin::Environment(variable.clone()),
            );
        }
    }
    for (name, value) in &given.flags {
        let flag = Origin::Flag(format!("--{}", name.replace('_', "-")));
        resolved.set(name, &Raw::Text(value.clone()), flag);
    }
    resolved
}

impl Resolved {
    fn set(&mut self, name: &str, value: &Raw, origin: Origin) {
        let place = match &origin {
            Origin::File(_) | Origin::Default => format!("`server.{name}`"),
            Origin::Environment(name) | Origin::Flag(name) => format!("`{name}`"),
        };
        let line = if let Origin::File(line) = origin { Some(line) } else { None };
        let Some((_, known)) = self.origins.iter_mut().find(|(option, _)| *option == name) else {
            let near = nearest(name, OPTIONS.iter().map(|option| option.name));
            let hint = near.map_or_else(
                || "`mainstem config show` lists all options".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("{place}: no option has this name");
            self.problems.push(Problem { line, message, hint });
            return;
        };
        match self.config.set(name, value) {
            Ok(()) => *known = origin,
            Err(why) => {
                let hint = "see docs/configuration.md for what each option takes".to_owned();
                self.problems.push(Problem { line, message: format!("{place}: {why}"), hint });
            }
        }
    }

    /// Where an option comes from.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.iter().find(|(option, _)| *option == name).map(|(_, origin)| origin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::read_file;
    use super::*;

    fn given(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Given {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (file, problems) = read_file(file);
        assert!(problems.is_empty(), "{problems:?}");
        Given { file, environment: owned(environment), flags: owned(flags) }
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let file = "[server]\nsearches = 1\nwrites = 1\nconnections = 1\n";
        let environment = [("MAINSTEM_SERVER_SEARCHES", "2"), ("MAINSTEM_SERVER_WRITES", "2"), ("PATH", "x")];
        let resolved = resolve(&given(file, &environment, &[("searches", "3")]));
        assert_eq!(resolved.problems, []);
        let config = &resolved.config;
        assert_eq!((config.searches, config.writes, config.connections, config.json_depth), (3, 2, 1, 64));
        assert_eq!(resolved.origin("searches"), Some(&Origin::Flag("--searches".to_owned())));
        assert_eq!(
            resolved.origin("writes"),
            Some(&Origin::Environment("MAINSTEM_SERVER_WRITES".to_owned()))
        );
        assert_eq!(resolved.origin("connections"), Some(&Origin::File(4)));
        assert_eq!(resolved.origin("json_depth"), Some(&Origin::Default));
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let file = "[pipeline]\n\n[server]\nsearchs = 1\nbody_limit = true\n";
        let resolved = resolve(&given(file, &[("MAINSTEM_SERVER_WRITES", "many")], &[]));
        let told: Vec<_> =
            resolved.problems.iter().map(|problem| (problem.line, problem.message.as_str())).collect();
        assert_eq!(
            told,
            [
                (Some(4), "`server.searchs`: no option has this name"),
                (Some(5), "`server.body_limit`: expected a size such as `16MiB`, received `true`"),
                (None, "`MAINSTEM_SERVER_WRITES`: expected a whole number ≥ 1, received `many`"),
            ]
        );
        assert_eq!(resolved.problems[0].hint, "did you mean `searches`?");
    }

    #[test]
    fn a_file_that_is_no_toml_is_a_problem_with_a_line() {
        let (_, problems) = read_file("[server]\nsearches = \n");
        assert_eq!(problems[0].line, Some(2));
    }
}
