//! Files that end too early, and commits that are not what they were.

use super::life::assert_same;
use super::*;
use crate::Error;

/// Two commits of 200 rows each; some of the first are dead in the second.
struct Written {
    folder: Folder,
    first: Vec<Row>,
    second: Vec<Row>,
}

const DIM: usize = 65;

fn written(signs_from: usize) -> Written {
    let (folder, mut noise) = (Folder::new(), Noise(44));
    let rows = rows(noise.clustered(400, DIM));
    let matrix = Matrix::tuned(&folder, Tuning { signs_from, ..SMALL }).unwrap();
    put(&matrix, &rows[..200], 1);
    let mut writer = matrix.writer().unwrap();
    for (id, source, vector) in &rows[200..] {
        writer.put(ChunkId(*id), *source, vector).unwrap();
    }
    (0..50).for_each(|i| writer.delete(ChunkId(rows[i].0)));
    writer.commit(2).unwrap();
    Written { folder, first: rows[..200].to_vec(), second: rows[50..].to_vec() }
}

/// What the matrix holds is one of the commits; or it says that it is damaged. Afterwards it can be written again.
fn assert_sound(written: &Written) -> Option<u64> {
    let matrix = match Matrix::tuned(&written.folder, SMALL) {
        Ok(matrix) => matrix,
        Err(Error::Damaged { .. }) => return None,
        Err(other) => panic!("{other}"),
    };
    let sequence = matrix.applied();
    let rows = match sequence {
        1 => &written.first,
        2 => &written.second,
        other => panic!("{other}"),
    };
    assert_same(&matrix, rows, DIM);
    let (more, mut rows) = (Noise(5).vector(DIM), rows.clone());
    rows.push((9000, 1, more.clone()));
    let mut writer = matrix.writer().unwrap();
    writer.put(ChunkId(9000), 1, &more).unwrap();
    writer.commit(3).unwrap();
    drop(writer);
    assert_same(&matrix, &rows, DIM);
    let again = Matrix::tuned(&written.folder, SMALL).unwrap();
    assert_eq!(again.applied(), 3);
    assert_same(&again, &rows, DIM);
    Some(sequence)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let generation =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let mut files: Vec<PathBuf> =
        fs::read_dir(generation.unwrap()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_file_that_ends_too_early_costs_a_commit_at_most() {
    let mut noise = Noise(12);
    let mut outcomes = std::collections::BTreeSet::new();
    for (signs_from, names) in [(usize::MAX, 4), (0, 7)] {
        for file in 0..names {
            for _ in 0..4 {
                let written = written(signs_from);
                let path = &files(&written.folder)[file];
                let handle = fs::OpenOptions::new().write(true).open(path).unwrap();
                let len = handle.metadata().unwrap().len();
                handle.set_len(noise.below(len as usize + 1) as u64).unwrap();
                outcomes.insert(assert_sound(&written));
            }
        }
    }
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [None, Some(1), Some(2)]);
}

#[test]
fn a_missing_file_is_damage() {
    for file in 0..4 {
        let written = written(usize::MAX);
        fs::remove_file(&files(&written.folder)[file]).unwrap();
        let after = assert_sound(&written);
        assert!(after.is_none() || after == Some(1));
    }
}

#[test]
fn a_commit_that_cannot_be_read_leaves_the_one_before() {
    let path = |written: &Written| written.folder.join("commit");
    for (places, expected) in [([4096, 4096], Some(2)), ([0, 0], Some(1)), ([0, 4096], None)] {
        // The first commit is in the second place.
        let written = written(0);
        let mut bytes = fs::read(path(&written)).unwrap();
        bytes[places[0] + 20] ^= 1;
        if places[0] != places[1] {
            bytes[places[1] + 40] ^= 16;
        }
        fs::write(path(&written), bytes).unwrap();
        assert_eq!(assert_sound(&written), expected);
    }
}

#[test]
fn a_commit_file_may_end_anywhere() {
    for len in [1, 95, 96, 4000, 4096, 4100, 4191, 4192] {
        let written = written(usize::MAX);
        let path = written.folder.join("commit");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..len]).unwrap();
        let expected = if len < 96 { None } else { Some(2) };
        assert_eq!(assert_sound(&written), expected, "{len}");
    }
}

#[test]
fn noise_behind_the_last_commit_does_not_matter() {
    let written = written(0);
    for path in files(&written.folder) {
        if path.ends_with("centre") {
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(std::iter::repeat_n(0xa5, 5000));
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(assert_sound(&written), Some(2));
}

#[test]
fn a_lost_commit_is_not_written_over_while_a_view_uses_it() {
    let written = written(usize::MAX);
    let matrix = Matrix::tuned(&written.folder, SMALL).unwrap();
    let view = matrix.view().unwrap();
    let query = &written.second[300].2;
    let before = view.search(query, &[0, 1, 2], None, 40).unwrap();
    let path = written.folder.join("commit");
    let mut bytes = fs::read(&path).unwrap();
    bytes[30] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(assert_sound(&written), Some(1));
    assert_eq!(view.search(query, &[0, 1, 2], None, 40).unwrap(), before);
}

#[test]
fn a_newer_format_is_not_touched() {
    let written = written(usize::MAX);
    let path = written.folder.join("commit");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 200;
    let check = blake3::hash(&bytes[..64]);
    bytes[64..96].copy_from_slice(check.as_bytes());
    fs::write(&path, bytes).unwrap();
    assert!(matches!(Matrix::open(&written.folder), Err(Error::Newer { found: 200, .. })));
}
