//! `mainstem key`: making, listing and revoking.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use command::{Folder, stderr, stdout};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_key_is_made_listed_and_revoked() {
    let folder = Folder::new("key-life");
    let none = folder.run("--store s key list");
    assert_eq!((none.status.code(), stdout(&none).as_str()), (Some(1), ""));
    assert!(stderr(&none).contains("everybody on this machine"), "{}", stderr(&none));

    let made = folder.run("--store s key create bot --source wiki --source chat --expires 90d");
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let secret = stdout(&made);
    assert!(secret.starts_with("ms_") && secret.trim_end().len() == 67, "{secret}");
    assert!(
        stderr(&made).contains("not shown again") && stderr(&made).contains("first key"),
        "{}",
        stderr(&made)
    );
    assert!(!folder.read("s/keys.json").contains(&secret[3..20]));

    let made = json(&folder.stdout("--store s key create ann --reader ann --json"));
    assert_eq!(
        (&made["name"], &made["reader"], &made["write"]),
        (&"ann".into(), &"ann".into(), &false.into())
    );
    assert!(made["key"].as_str().unwrap().starts_with("ms_"), "{made}");

    let listed = json(&folder.stdout("--store s key list --json"));
    assert_eq!(listed[0]["sources"], serde_json::json!(["chat", "wiki"]));
    assert_eq!((&listed[0]["expired"], &listed[1]["sources"]), (&false.into(), &Value::Null));
    assert!(listed[0].get("key").is_none() && listed[0].get("hash").is_none(), "{listed}");
    let table = folder.stdout("--store s key list");
    assert!(table.contains("chat, wiki") && table.contains("never"), "{table}");

    assert_eq!(folder.stdout("--store s key revoke bot"), "revoked `bot`\n");
    let last = folder.run("--store s key revoke ann --json");
    assert_eq!(json(&stdout(&last))["name"], "ann");
    assert!(stderr(&last).contains("lets nobody in"), "{}", stderr(&last));
    let gone = folder.run("--store s key list");
    assert_eq!(gone.status.code(), Some(1));
    assert!(stderr(&gone).contains("nobody may ask"), "{}", stderr(&gone));
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new("key-wrong");
    folder.stdout("--store s key create bot");
    for (arguments, said) in [
        ("create bot", "there is a key `bot` already"),
        ("create x --write --read", "cannot be used with"),
        ("create x --write --reader ann", "cannot be used with"),
        ("create x --expires soon", "`--expires` is `soon`, expected a time or a time span"),
        ("create x --expires 2020-01-01", "expected a time to come"),
        ("create", "required arguments"),
        ("revoke bott", "unknown key `bott`, expected one of `bot`"),
    ] {
        let output = folder.run(&format!("--store s key {arguments}"));
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{arguments}");
        assert!(
            stderr(&output).contains(said) && stderr(&output).contains("hint"),
            "{arguments}: {}",
            stderr(&output)
        );
    }
    folder.file("s/keys.json", "no keys");
    for arguments in ["create x", "list", "revoke bot"] {
        let output = folder.run(&format!("--store s key {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(stderr(&output).contains("error[E0302]"), "{arguments}: {}", stderr(&output));
    }
    assert_eq!(
        folder.run("--store s serve --address 127.0.0.1:0").status.code(),
        Some(2),
        "it would let anybody in"
    );
}

#[test]
fn keys_can_be_there_before_the_store() {
    let folder = Folder::new("key-first");
    folder.stdout("--store s key create bot");
    folder.stdout("--store s init");
    assert!(folder.stdout("--store s doctor").starts_with("all is well"));
    assert!(folder.stdout("--store s key list").contains("bot"));
}
