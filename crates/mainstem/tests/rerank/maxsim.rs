//! MaxSim by the local model. Runs where the model is in the folder of models, and says elsewhere that it is skipped.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use mainstem::models::cache::{Cache, State};
use mainstem::models::known;
use mainstem::models::minilm::MiniLm;
use mainstem::rerank::MaxSim;
use mainstem_core::contract::{Ctx, Reranker as _};
use mainstem_core::time::Moment;

fn model() -> Option<Arc<MiniLm>> {
    let (cache, known) = (Cache::standard().unwrap(), &known::ALL[0]);
    if cache.state(known) == State::Present {
        return Some(MiniLm::shared(&cache.folder(known)).unwrap());
    }
    let needed = std::env::var("MAINSTEM_TESTS_NEED").unwrap_or_default();
    let why = format!("`{}` has not been pulled into `{}`", known.name, cache.root().display());
    assert!(!needed.split(',').any(|need| need == "model"), "{why}");
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
    None
}

const QUERY: &str = "how does a fork win material in chess?";
const TEXTS: [&str; 4] = [
    "In chess, a fork attacks two pieces at once, so that one of them is lost.",
    "The fork lies to the left of the plate.",
    "A recipe for bread with olives.",
    "",
];

#[test]
fn the_text_that_answers_is_first_and_scores_stay_whatever_is_remembered() {
    let Some(model) = model() else { return };
    let ctx = Ctx::unhurried(Moment::now());
    let ask = |maxsim: &MaxSim, texts: &[&str]| maxsim.rerank(QUERY, texts, &ctx).unwrap();
    let remembering = MaxSim::new(Arc::clone(&model), 64 << 20);
    let scores = ask(&remembering, &TEXTS);
    assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
    assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)), "{scores:?}");
    assert_eq!(ask(&remembering, &TEXTS), scores, "from memory");
    assert_eq!(ask(&remembering, &[TEXTS[2], TEXTS[0], TEXTS[2]]), [scores[2], scores[0], scores[2]]);
    let forgetful = MaxSim::new(model, 0);
    assert_eq!(ask(&forgetful, &TEXTS), scores, "made anew");
}

#[test]
fn a_text_is_equal_to_itself() {
    let Some(model) = model() else { return };
    let ctx = Ctx::unhurried(Moment::now());
    let scores = MaxSim::new(model, 0).rerank(TEXTS[0], &[TEXTS[0]], &ctx).unwrap();
    assert!((scores[0] - 1.0).abs() < 1e-3, "{scores:?}");
}

#[test]
fn who_has_no_time_gets_no_scores() {
    let Some(model) = model() else { return };
    let late = Ctx { deadline: Some(Instant::now()), now: Moment::now() };
    let refused = MaxSim::new(model, 0).rerank(QUERY, &TEXTS, &late).err().unwrap().to_string();
    assert_eq!(refused, "`all-MiniLM-L6-v2` did not finish in time");
}
