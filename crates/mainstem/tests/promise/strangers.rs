//! Sources that have nothing to do with any question: made-up texts of other subjects, from a seed.

use std::collections::BTreeMap;
use std::ops::Range;

use mainstem_core::contract::Change;
use mainstem_core::{Chunk, Document};

use super::dice::{Dice, unit};
use super::judged::Judged;
use super::stored::Stored;

/// The words of a subject: things, what they are like, what they do.
struct Subject {
    things: &'static str,
    traits: &'static str,
    deeds: &'static str,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        things: "granite basalt shale glacier moraine fault ridge quartz feldspar sediment canyon magma crater limestone delta stratum",
        traits: "molten porous ancient jagged coarse volcanic folded eroded fossilised tilted",
        deeds: "erodes uplifts buries intrudes fractures deposits weathers overlies metamorphoses crystallises",
    },
    Subject {
        things: "yarn needle stitch cardigan loom wool skein cuff collar pattern thimble linen hem bobbin spindle mohair",
        traits: "ribbed cabled felted woven purled seamless tweedy pleated quilted embroidered",
        deeds: "knits unravels twists hems darns weaves spins braids tucks gathers",
    },
    Subject {
        things: "goalkeeper striker midfielder corner offside referee whistle league stadium penalty winger derby crossbar dugout trophy scarf",
        traits: "injured seasoned booked unbeaten relegated offensive fouled suspended cheering muddy",
        deeds: "tackles dribbles saves heads equalises kicks substitutes volleys crosses celebrates",
    },
    Subject {
        things: "nebula comet pulsar telescope orbit eclipse asteroid galaxy quasar meteor corona satellite equinox horizon supernova parallax",
        traits: "luminous distant dusty spiral elliptical faint infrared rotating icy tidal",
        deeds: "orbits collapses radiates eclipses collides brightens occults drifts flares precesses",
    },
    Subject {
        things: "abbey bishopric charter vassal knighthood crusade guild moat plague parchment heraldry serf abbot tournament castle minstrel",
        traits: "feudal monastic besieged royal illuminated heretical chivalrous itinerant tithed excommunicated",
        deeds: "besieges anoints taxes exiles ransoms crowns ordains pillages copies betroths",
    },
];

/// The little words of English, some of them twice, because they are twice as frequent.
const LITTLE: &str = "the the the of of and and a a to to in in is it that was for on are as with by at from or an be this which have \
    not but had were they one all their we has when who will more if no out so what up can about than into them only other some could \
    then do how my any where why does should before after without over between under i you";

/// Words of another script, about gardens.
const KOREAN: &str = "정원 화분 장미 튤립 수국 잔디 울타리 거름 흙 씨앗 새싹 가지치기 물뿌리개 온실 덩굴 나비 꿀벌 그늘 햇빛 서리 \
    연못 자갈 오솔길 벤치 호미 삽 갈퀴 이끼 고사리 단풍";

/// What texts are made of besides the words of their subject.
pub(crate) enum Filler {
    /// Nothing: the words might be of another language.
    Nothing,
    /// The little words that any English text has.
    Little,
    /// Words that the questions use as well.
    Shared(Vec<String>),
    /// Nothing but these words, and none of a subject.
    Only(Vec<String>),
}

impl Filler {
    /// The words that stand in one question of twenty at least.
    fn of_questions(judged: &Judged) -> Self {
        let (counts, all) = (counts(judged), judged.questions.len());
        let shared = counts.into_iter().filter(|(_, count)| count * 20 >= all);
        Self::Shared(shared.map(|(word, _)| word).collect())
    }

    /// All words of the questions but the little ones.
    fn of_content(judged: &Judged) -> Self {
        let little: Vec<&str> = LITTLE.split_whitespace().collect();
        let words = counts(judged).into_keys().filter(|word| !little.contains(&word.as_str()));
        Self::Only(words.collect())
    }

    fn of_another_script() -> Self {
        Self::Only(KOREAN.split_whitespace().map(str::to_owned).collect())
    }
}

/// In how many questions each word stands.
fn counts(judged: &Judged) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for question in &judged.questions {
        let lower = question.text.to_lowercase();
        let mut words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Where vectors point.
pub(crate) enum Aim {
    /// Anywhere.
    Anywhere,
    /// Round this direction, so far off before their length is set right.
    Round(Vec<f32>, f32),
}

impl Aim {
    /// Round the middle of these vectors. The middle is shorter than they are, and what is missing to their length is added at random: the
    /// vectors lie about the middle as the real ones do, without any subject.
    pub(crate) fn like(vectors: &[Vec<f32>]) -> Self {
        let middle = middle(vectors);
        let squares: f32 = middle.iter().map(|value| value * value).sum();
        Self::Round(middle, (1.0 - squares).sqrt())
    }

    /// Close to the middle itself, where no real vector is.
    pub(crate) fn at_the_middle_of(vectors: &[Vec<f32>]) -> Self {
        Self::Round(unit(middle(vectors)), 0.5)
    }
}

fn middle(vectors: &[Vec<f32>]) -> Vec<f32> {
    let sum = |at: usize| vectors.iter().map(|vector| vector[at]).sum::<f32>() / vectors.len() as f32;
    (0..vectors[0].len()).map(sum).collect()
}

/// What all of them start from.
const SEED: u64 = 0x5eed;

/// How strangers are made.
pub(crate) struct Strangers {
    filler: Filler,
    aim: Aim,
    /// How many sentences a text has. One of none is a single word.
    sentences: Range<usize>,
    /// The length of vectors.
    dim: usize,
    /// How many documents each has.
    documents: usize,
}

/// One sort of strangers.
pub(crate) struct Sort {
    pub(crate) name: &'static str,
    /// How many times as many documents as usual each has.
    times: usize,
    sentences: Range<usize>,
    /// Whether it is made of nothing but the words of the questions.
    pub(crate) spam: bool,
    make: fn(&Judged, &Stored) -> (Filler, Aim),
}

impl Sort {
    const fn new(name: &'static str, make: fn(&Judged, &Stored) -> (Filler, Aim)) -> Self {
        Self { name, times: 1, sentences: 3..8, spam: false, make }
    }

    /// Strangers of this sort beside a store, each of so many documents where nothing else is said.
    pub(crate) fn strangers(&self, judged: &Judged, stored: &Stored, documents: usize) -> Strangers {
        let (filler, aim) = (self.make)(judged, stored);
        let (dim, sentences) = (judged.questions[0].vector.len(), self.sentences.clone());
        Strangers { filler, aim, sentences, dim, documents: documents * self.times }
    }

    /// How many strangers there are, step by step. Of large ones, there is one.
    pub(crate) fn counts(&self) -> &'static [usize] {
        if self.times > 1 { &[1] } else { &[1, 5, 20] }
    }
}

/// Every sort, those that are made to do harm among them.
pub(crate) const SORTS: [Sort; 12] = [
    Sort::new("other subjects", |_, _| (Filler::Little, Aim::Anywhere)),
    Sort::new("words of the questions", |judged, _| (Filler::of_questions(judged), Aim::Anywhere)),
    Sort::new("vectors about the middle", |_, stored| (Filler::Little, Aim::like(&stored.vectors()))),
    Sort::new("no little words", |_, _| (Filler::Nothing, Aim::Anywhere)),
    Sort::new("vectors at the middle", |_, stored| {
        (Filler::Little, Aim::at_the_middle_of(&stored.vectors()))
    }),
    Sort::new("another script", |_, _| (Filler::of_another_script(), Aim::Anywhere)),
    Sort {
        spam: true,
        ..Sort::new("only words of the questions", |judged, _| (Filler::of_content(judged), Aim::Anywhere))
    },
    Sort { sentences: 0..1, ..Sort::new("single words", |_, _| (Filler::Little, Aim::Anywhere)) },
    Sort { sentences: 60..100, ..Sort::new("long texts", |_, _| (Filler::Little, Aim::Anywhere)) },
    Sort { times: 20, ..Sort::new("one large, other subjects", |_, _| (Filler::Little, Aim::Anywhere)) },
    Sort { times: 20, ..Sort::new("one large, no little words", |_, _| (Filler::Nothing, Aim::Anywhere)) },
    Sort {
        times: 20,
        ..Sort::new("one large, at the middle", |_, stored| {
            (Filler::Little, Aim::at_the_middle_of(&stored.vectors()))
        })
    },
];

impl Strangers {
    /// The name of the source of this number.
    pub(crate) fn name(number: usize) -> String {
        format!("stranger-{number:02}")
    }

    /// All documents of the source of this number.
    pub(crate) fn source(&self, number: usize) -> Vec<Change> {
        let mut dice = Dice::new(SEED + number as u64);
        let subject = &SUBJECTS[number % SUBJECTS.len()];
        (0..self.documents)
            .map(|at| Change::Put(self.document(number, at, &self.text(subject, &mut dice), &mut dice)))
            .collect()
    }

    fn document(&self, number: usize, at: usize, text: &str, dice: &mut Dice) -> Document {
        let vector = match &self.aim {
            Aim::Anywhere => dice.direction(self.dim),
            Aim::Round(middle, distance) => dice.near(middle, *distance),
        };
        let chunk =
            Chunk { span: 0..text.len(), text: text.to_owned(), vector: Some(vector), ..Chunk::default() };
        Document {
            source: Self::name(number),
            id: at.to_string(),
            title: text.split('.').next().map(str::to_owned),
            text: text.to_owned(),
            chunks: vec![chunk],
            ..Document::default()
        }
    }

    fn text(&self, subject: &Subject, dice: &mut Dice) -> String {
        let sentences = self.sentences.start + dice.below(self.sentences.len());
        if sentences == 0 {
            return (*dice.of(&subject.things.split_whitespace().collect::<Vec<_>>())).to_owned();
        }
        (0..sentences).map(|_| self.sentence(subject, dice) + ".").collect::<Vec<_>>().join(" ")
    }

    fn sentence(&self, subject: &Subject, dice: &mut Dice) -> String {
        if let Filler::Only(words) = &self.filler {
            return (0..6).map(|_| dice.of(words).as_str()).collect::<Vec<_>>().join(" ");
        }
        let [things, traits, deeds] = [subject.things, subject.traits, subject.deeds]
            .map(|words| words.split_whitespace().collect::<Vec<_>>());
        let mut words: Vec<&str> =
            vec![*dice.of(&traits), *dice.of(&things), *dice.of(&deeds), *dice.of(&things)];
        words.extend([*dice.of(&traits), *dice.of(&things)]);
        let fillers: Vec<&str> = match &self.filler {
            Filler::Nothing | Filler::Only(_) => Vec::new(),
            Filler::Little => LITTLE.split_whitespace().collect(),
            Filler::Shared(shared) => shared.iter().map(String::as_str).collect(),
        };
        // As many of them as words of the subject, which is about what English has.
        for _ in 0..words.len().min(fillers.len()) {
            let at = dice.below(words.len() + 1);
            words.insert(at, *dice.of(&fillers));
        }
        words.join(" ")
    }
}
