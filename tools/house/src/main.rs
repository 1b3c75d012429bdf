//! Counts the house numbers of this code base and checks the licences of what it depends on.
//!
//! A rule with no check becomes a wish, and an average hides the one function that nobody can read. So this
//! program counts, names every offender, and prints the tail of each distribution even when all is well.
//!
//! ```text
//! house numbers              functions, files, traits, unsafe, names, marks
//! house licences [MANIFEST]  licences and origins of all dependencies, against deny.toml
//! ```
//! Both run in the workspace root. Exit code: 0 all well, 1 offenders found, 2 the check could not run.
#![forbid(unsafe_code)]

mod licences;
mod report;
mod rules;
mod source;
mod tokens;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use report::Offence;

/// Why a check could not run, in one sentence.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["numbers"] => numbers(Path::new(".")),
        ["licences"] => licences::check(Path::new("deny.toml"), Path::new("Cargo.toml")),
        ["licences", manifest] => licences::check(Path::new("deny.toml"), Path::new(manifest)),
        _ => Err("expected `house numbers` or `house licences [MANIFEST]`".to_owned()),
    };
    match outcome {
        Ok(offences) if offences.is_empty() => ExitCode::SUCCESS,
        Ok(offences) => {
            eprint!("{}", report::table(&offences));
            ExitCode::from(1)
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn numbers(root: &Path) -> Result<Vec<Offence>, Failure> {
    let sources = workspace::load(root)?;
    let survey = rules::survey(&sources);
    print!("{}", survey.summary);
    Ok(survey.offences)
}
