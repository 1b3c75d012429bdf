//! Models behind HTTP as a user sets them up: llama.cpp's server with the weights of the local model, and a service of our own that
//! counts what it is asked.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod letters;
mod model_here;
mod served;

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use command::{Folder, stderr, stdout};
use letters::Service;
use mainstem::models::minilm::MiniLm;
use mainstem::models::{HttpEmbedder, HttpSettings, Shape};
use mainstem_client::Client;
use mainstem_core::contract::{Ctx, Embedder};
use mainstem_core::time::Moment;
use model_here::{model_folder, search, skip};
use serde_json::{Value, json};
use served::Served;

fn run(folder: &Folder, arguments: &str) -> Output {
    folder.command(arguments).env("MAINSTEM_MODELS", folder.0.join("models")).output().unwrap()
}

#[track_caller]
fn good(folder: &Folder, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    stdout(&output)
}

/// llama.cpp's server; it ends when its input does.
struct Llama {
    child: Child,
    url: String,
    input: Option<ChildStdin>,
}

impl Llama {
    /// `None`, with a word on why, where the Python that `MAINSTEM_LLAMA_PYTHON` names, or the model, is not here.
    fn start(folder: &Folder) -> Option<Self> {
        let Some(python) = std::env::var_os("MAINSTEM_LLAMA_PYTHON") else {
            skip("llama", "`MAINSTEM_LLAMA_PYTHON` names no Python with xllamacpp");
            return None;
        };
        let mut child = Command::new(python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model_here/llama.py"))
            .args([model_folder()?, folder.0.join("model.gguf")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.0.join("llama.log")).unwrap())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.map_while(Result::ok).find(|line| line.starts_with("http://"));
        let url = url.unwrap_or_else(|| panic!("the server did not start: {}", folder.read("llama.log")));
        let input = child.stdin.take();
        Some(Self { child, url, input })
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn cosine(a: &dyn Embedder, b: &dyn Embedder, texts: (&str, &str)) -> f32 {
    let vector = |model: &dyn Embedder, text| {
        model.embed(&[text], &Ctx::unhurried(Moment::now())).unwrap().remove(0).vector
    };
    vector(a, texts.0).iter().zip(vector(b, texts.1)).map(|(a, b)| a * b).sum()
}

const ENGLISH: [&str; 4] = [
    "Our two cars are serviced every spring.",
    "Ångström, naïve, DÉJÀ-vu: accents go.",
    "fn main() { println!(\"{}\", x^2 + y_i); }",
    "我是中国人, 日本語のガギグ 😀",
];

#[test]
fn the_server_of_llama_cpp_gives_the_vectors_of_the_local_model() {
    let folder = Folder::new("model_llama");
    let Some(server) = Llama::start(&folder) else { return };
    let settings = HttpSettings::new(Shape::OpenAi, &server.url, "gguf");
    let theirs = HttpEmbedder::connect(&settings, &Ctx::unhurried(Moment::now())).unwrap();
    let ours = MiniLm::load(&model_folder().unwrap()).unwrap();
    for text in ENGLISH {
        let near = cosine(&ours, &theirs, (text, text));
        assert!(near >= 0.999, "{text}: {near}");
    }
    // The reference takes syllables and letters with vowel signs apart and keeps all parts; so do we. llama.cpp keeps the first part
    // of each only: of a Korean syllable its first consonant (cosine .68 to the whole), of a Hindi one its consonant.
    for (text, read_as) in [("한국어 문장", "ᄒᄀᄋ ᄆᄌ"), ("हिन्दी", "हनद")] {
        let [whole, first_parts] =
            [text, read_as].map(|ours_reads| cosine(&ours, &theirs, (ours_reads, text)));
        assert!(
            whole.max(first_parts) >= 0.999,
            "{text}: {whole} to all of it, {first_parts} to `{read_as}`"
        );
    }
    let long = "water ".repeat(900);
    let embedded = theirs.embed(&["short", &long], &Ctx::unhurried(Moment::now())).unwrap();
    assert_eq!(embedded.iter().map(|one| one.cut).collect::<Vec<_>>(), [false, true]);

    std::fs::create_dir(folder.0.join("docs")).unwrap();
    folder.file("docs/cars.md", "# Vehicles\n\nOur two cars are serviced every spring.\n");
    folder.file("docs/bread.md", "# Baking\n\nKnead the dough and let it rise.\n");
    good(&folder, &format!("model add gguf --url {}", server.url));
    assert!(
        good(&folder, "model list").contains("gguf                   384"),
        "{}",
        good(&folder, "model list")
    );
    let said = good(&folder, "ingest docs --source wiki --model gguf");
    assert!(said.contains("embedded 2 chunks"), "{said}");
    let found = search(&folder, "automobile");
    assert_eq!(found["hits"][0]["document"], "cars.md", "{found:#}");
    std::fs::remove_file(folder.0.join("model.gguf")).unwrap();
}

#[test]
fn a_service_that_comes_late_is_used_from_then_on() {
    let folder = Folder::new("model_late");
    // An address where nobody is yet.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    std::fs::create_dir(folder.0.join("models")).unwrap();
    // How long its vectors are is not written down: the store knows.
    let service = json!([{"shape": "openai", "url": format!("http://{address}"), "model": "letters", "retries": 0, "cooldown": 1.0}]);
    folder.file("models/http.json", service.to_string());
    let documents = [
        json!({"id": "1", "text": "aaaa", "vector": [5, 1, 1]}).to_string(),
        json!({"id": "2", "text": "bbbb", "vector": [1, 5, 1]}).to_string(),
    ];
    folder.file("d.jsonl", documents.join("\n"));
    good(&folder, "--store s ingest d.jsonl --source s --no-embed --vectors-model letters");
    let server = Served::with_models(&folder, "models", "error", &folder.0.join("server.log"));
    let ask = |query: &str| -> Value {
        let body = json!({"query": query, "deadline": {"soft_ms": 2000, "hard_ms": 2000}});
        Client::new(&server.url, None).unwrap().call("POST", "/v1/search", Some(&body)).unwrap()
    };
    let found = ask("aaaa");
    assert_eq!(
        (&found["hits"][0]["document"], &found["status"]["partial"]),
        (&json!("1"), &json!(true)),
        "{found:#}"
    );
    let told = found["status"].to_string();
    assert!(told.contains("cannot reach `letters`") && !told.contains(&address), "{told}");
    let told: Vec<String> = (0..4).map(|_| ask("bbbb")["status"].to_string()).collect();
    assert!(told.iter().any(|told| told.contains("it failed too often and is not asked")), "{told:#?}");

    let service = Service::start_at(&address);
    // A query that no document has the words of, until it is found by meaning.
    let later = (0..600).map(|at| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        ask(&format!("b{}", "ab".repeat(at % 5 + 1)))
    });
    let found = later.into_iter().find(|found| found["status"]["partial"] == false);
    let found = found.unwrap_or_else(|| panic!("the service was never asked again"));
    assert_eq!(found["hits"][0]["document"], "2", "{found:#}");
    assert!(!service.asked().is_empty());
}

#[test]
fn a_service_is_named_once_and_asked_for_each_text_once() {
    let (folder, service) = (Folder::new("model_service"), Service::start());
    let added = run(&folder, &format!("model add letters --url {}", service.url));
    assert!(stderr(&added).contains("added `letters`, with vectors of 3 numbers"), "{}", stderr(&added));
    assert_eq!(service.asked(), ["dimension"]);
    let documents = r#"{"id":"1","text":"aaaa"}"#.to_owned() + "\n" + r#"{"id":"2","text":"bbbb"}"#;
    let again = documents.clone() + "\n" + r#"{"id":"3","text":"aaaa"}"#;
    folder.file("again.jsonl", again).file("d.jsonl", documents);
    good(&folder, "ingest again.jsonl --source s --model letters");
    assert_eq!(
        service.asked(),
        ["aaaa", "bbbb"],
        "no probe: the length is known; a text that comes twice is asked once"
    );
    good(&folder, "ingest again.jsonl --source s");
    assert_eq!(service.asked(), Vec::<String>::new(), "nothing has changed");
    good(&folder, "ingest d.jsonl --source s --sync");
    good(&folder, "ingest d.jsonl --source s");
    assert_eq!(service.asked(), Vec::<String>::new(), "nothing has changed");

    let found = search(&folder, "bab");
    assert_eq!(found["hits"][0]["document"], "2", "{found:#}");
    assert!(service.asked().iter().all(|text| text == "bab"));
    let queries = ["1", "2", "3"].map(|id| json!({"_id": id, "text": "baa"}).to_string()).join("\n");
    folder
        .file("q.jsonl", queries)
        .file("qrels.tsv", "query-id\tcorpus-id\tscore\n1\t1\t1\n2\t1\t1\n3\t2\t1\n");
    good(&folder, "eval --queries q.jsonl --qrels qrels.tsv --judged-source s -m MRR --json");
    assert_eq!(service.asked(), ["baa"], "the vector of a query is remembered");
}

#[test]
fn what_is_wrong_with_a_service_is_said_with_a_hint() {
    let (folder, service) = (Folder::new("model_service_wrong"), Service::start());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    good(&folder, &format!("model add letters --url {}", service.url));
    folder.file("d.jsonl", r#"{"id":"1","text":"a"}"#);
    good(&folder, "ingest d.jsonl --source s --model letters");
    good(&folder, &format!("model add others --url {}", service.url));
    for (wrong, expected) in [
        (format!("model add m --url http://{port} --timeout 1"), "cannot reach"),
        ("model add m --url ftp://a".to_owned(), "expected `url`"),
        ("model add m --url http://user:secret@a".to_owned(), "without a user name"),
        ("model add m --url http://a --key-env MAINSTEM_NO_SUCH_KEY".to_owned(), "MAINSTEM_NO_SUCH_KEY"),
        ("model add m --url http://a --shape cohere --batch 97".to_owned(), "1 to 96"),
        (format!("model add all-MiniLM-L6-v2 --url {}", service.url), "which is a model that runs here"),
        ("model remove nobody".to_owned(), "expected a model behind HTTP"),
        ("ingest d.jsonl --source s --model nobody".to_owned(), "received `nobody`"),
        ("ingest d.jsonl --source s --model others".to_owned(), "holds vectors of `letters (3 numbers)`"),
        ("ingest d.jsonl --source s --model letters --no-embed".to_owned(), "cannot be used with"),
    ] {
        let output = run(&folder, &wrong);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {said}");
        assert!(said.contains(expected) && !said.contains("secret"), "{wrong}: {said}");
    }
    good(&folder, "model remove letters");
    folder.file("d.jsonl", r#"{"id":"1","text":"b"}"#);
    let without = run(&folder, "ingest d.jsonl --source s");
    assert!(stderr(&without).contains("`mainstem model add` names the service"), "{}", stderr(&without));
}
