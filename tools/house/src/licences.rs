//! The licences and origins of all dependencies, against the lists in `deny.toml`.
//!
//! The file is the one `cargo deny` reads, so both checks share one truth. This one needs no tool beyond cargo
//! and builds in seconds; it knows the licence each package declares, not the texts in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Failure;
use crate::report::Offence;

/// What cargo calls the default registry, wherever a mirror of it is.
const DEFAULT_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

impl Licences {
    fn allows(&self, package: &str, licence: &str) -> bool {
        let exceptions = self.exceptions.iter().filter(|exception| exception.package == package);
        let special = exceptions.flat_map(|exception| &exception.allow);
        self.allow.iter().chain(special).any(|allowed| allowed == licence)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a package of this workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

/// Checks every package that the lock file of `manifest` names, for every platform.
pub(crate) fn check(rules: &Path, manifest: &Path) -> Result<Vec<Offence>, Failure> {
    let text = std::fs::read_to_string(rules)
        .map_err(|error| format!("cannot read `{}`: {error}", rules.display()))?;
    let rules: Rules =
        toml::from_str(&text).map_err(|error| format!("cannot parse `{}`: {error}", rules.display()))?;
    let packages = packages(manifest)?;
    print!("{}", summary(&packages));
    Ok(packages.iter().flat_map(|package| check_package(&rules.licenses, package)).collect())
}

fn packages(manifest: &Path) -> Result<Vec<Package>, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| format!("cannot run `cargo metadata`: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`cargo metadata` failed\n{}", reason.trim_end()));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot parse the output of `cargo metadata`: {error}"))?;
    Ok(metadata.packages)
}

fn check_package(licences: &Licences, package: &Package) -> Vec<Offence> {
    let place = format!("{} {}", package.name, package.version);
    let mut offences = Vec::new();
    if let Some(what) = refused_licence(licences, package) {
        offences.push(Offence::new("licence", &place, what));
    }
    if let Some(origin) = package.source.as_ref().filter(|origin| *origin != DEFAULT_REGISTRY) {
        offences.push(Offence::new("origin", &place, format!("`{origin}` is not the default registry")));
    }
    let ours = package.source.is_none();
    let is_wildcard = |dependency: &&Dependency| ours && dependency.req == "*" && dependency.path.is_none();
    for Dependency { name, .. } in package.dependencies.iter().filter(is_wildcard) {
        offences.push(Offence::new("wildcard", &place, format!("takes any version of `{name}`")));
    }
    offences
}

/// Why the licence is not good enough; `None` when it is.
fn refused_licence(licences: &Licences, package: &Package) -> Option<String> {
    let Some(written) = &package.license else {
        return Some("declares no licence".to_owned());
    };
    let expression = match spdx::Expression::parse_mode(written, spdx::ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("`{written}` is not an SPDX expression: {}", error.reason)),
    };
    let allowed = expression.evaluate(|part| licences.allows(&package.name, &part.to_string()));
    (!allowed).then(|| format!("`{written}` is not on the list of deny.toml"))
}

/// How many packages there are under each licence.
fn summary(packages: &[Package]) -> String {
    let foreign = packages.iter().filter(|package| package.source.is_some());
    let mut counts = BTreeMap::<&str, usize>::new();
    for package in foreign {
        *counts.entry(package.license.as_deref().unwrap_or("none")).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let mut lines: Vec<_> = counts.into_iter().collect();
    lines.sort_by_key(|(licence, count)| (std::cmp::Reverse(*count), *licence));
    let lines = lines.iter().map(|(licence, count)| format!("{count:5}  {licence}\n"));
    format!("{total:5}  dependencies\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Licences {
        let text = "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\nexceptions = [{ crate = \"b\", allow = [\"NCSA\"] }]";
        toml::from_str::<Rules>(text).expect("valid rules").licenses
    }

    fn package(name: &str, license: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: Some(DEFAULT_REGISTRY.to_owned()),
            dependencies: Vec::new(),
        }
    }

    fn offences(package: &Package) -> Vec<&'static str> {
        check_package(&rules(), package).iter().map(|offence| offence.rule).collect()
    }

    #[test]
    fn expressions_are_evaluated() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "MIT AND Apache-2.0",
            "MIT/Apache-2.0",
            "(MIT OR ISC) AND Apache-2.0",
        ] {
            assert_eq!(offences(&package("a", Some(good))), [""; 0], "{good}");
        }
        for bad in
            ["GPL-3.0-only", "MIT AND GPL-3.0-only", "ISC OR Zlib", "Apache-2.0 WITH LLVM-exception", "free"]
        {
            assert_eq!(offences(&package("a", Some(bad))), ["licence"], "{bad}");
        }
        assert_eq!(offences(&package("a", None)), ["licence"]);
    }

    #[test]
    fn exceptions_hold_for_their_package_only() {
        assert_eq!(offences(&package("b", Some("MIT AND NCSA"))), [""; 0]);
        assert_eq!(offences(&package("a", Some("MIT AND NCSA"))), ["licence"]);
    }

    #[test]
    fn packages_come_from_the_default_registry() {
        let mut package = package("a", Some("MIT"));
        package.source = Some("git+https://example.org/a".to_owned());
        assert_eq!(offences(&package), ["origin"]);
        package.source = None;
        assert_eq!(offences(&package), [""; 0]);
    }

    #[test]
    fn our_own_packages_name_versions() {
        let mut package = package("a", Some("MIT"));
        package.source = None;
        let dependency = |req: &str, path: Option<&str>| Dependency {
            name: "c".to_owned(),
            req: req.to_owned(),
            path: path.map(str::to_owned),
        };
        package.dependencies = vec![dependency("^1", None), dependency("*", Some("crates/c"))];
        assert_eq!(offences(&package), [""; 0]);
        package.dependencies.push(dependency("*", None));
        assert_eq!(offences(&package), ["wildcard"]);
    }
}
