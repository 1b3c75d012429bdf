//! Putting, deleting, committing, opening again.

use super::super::MatrixView;
use super::*;
use crate::Error;

#[test]
fn an_empty_matrix_finds_nothing() {
    let folder = Folder::new();
    let matrix = Matrix::open(&folder).unwrap();
    let view = matrix.view().unwrap();
    assert_eq!((matrix.applied(), view.len(), view.dim()), (0, 0, 0));
    assert!(view.search(&[1.0], &[0], None, 5).unwrap().is_empty());
    assert_eq!(view.scores(&[1.0], &[ChunkId(3)]).unwrap(), [None]);
    let mut writer = matrix.writer().unwrap();
    writer.delete(ChunkId(3));
    writer.commit(9).unwrap();
    drop(writer);
    assert_eq!((matrix.view().unwrap().applied(), Matrix::open(&folder).unwrap().applied()), (9, 9));
}

#[test]
fn vectors_of_another_length_or_without_one_are_refused() {
    let folder = Folder::new();
    let matrix = Matrix::open(&folder).unwrap();
    let mut writer = matrix.writer().unwrap();
    assert!(matches!(writer.put(ChunkId(1), 0, &[]), Err(Error::Input { .. })));
    assert!(matches!(writer.put(ChunkId(1), 0, &[1.0, f32::INFINITY]), Err(Error::Input { .. })));
    writer.put(ChunkId(1), 0, &[3.0, 4.0]).unwrap();
    assert!(matches!(writer.put(ChunkId(2), 0, &[1.0]), Err(Error::Input { .. })));
    writer.commit(1).unwrap();
    assert!(matches!(writer.put(ChunkId(2), 0, &[1.0]), Err(Error::Input { .. })));
    drop(writer);
    let view = matrix.view().unwrap();
    assert_eq!((view.len(), view.dim()), (1, 2));
    assert!(matches!(view.search(&[1.0], &[0], None, 1), Err(Error::Input { .. })));
    assert!(matches!(view.search(&[1.0, f32::NAN], &[0], None, 1), Err(Error::Input { .. })));
    let score = view.scores(&[6.0, 8.0], &[ChunkId(1)]).unwrap()[0].unwrap();
    assert!((score - 1.0).abs() < 1e-3);
}

#[test]
fn one_writes_at_a_time() {
    let folder = Folder::new();
    let (one, other) = (Matrix::open(&folder).unwrap(), Matrix::open(&folder).unwrap());
    let writer = one.writer().unwrap();
    assert!(matches!(other.writer(), Err(Error::Busy { .. })));
    drop(writer);
    assert!(other.writer().is_ok());
}

#[test]
fn a_view_shows_the_commit_it_was_taken_at() {
    let (folder, mut noise) = (Folder::new(), Noise(4));
    let rows = rows(noise.clustered(300, 16));
    let (writing, reading) = (Matrix::open(&folder).unwrap(), Matrix::open(&folder).unwrap());
    put(&writing, &rows[..100], 1);
    let before = reading.view().unwrap();
    let search = |view: &MatrixView| view.search(&rows[200].2, &[0, 1, 2], None, 5).unwrap();
    let answer = search(&before);
    let mut writer = writing.writer().unwrap();
    for (id, source, vector) in &rows[100..] {
        writer.put(ChunkId(*id), *source, vector).unwrap();
    }
    writer.delete(ChunkId(rows[0].0));
    assert_eq!(reading.view().unwrap().len(), 100);
    writer.commit(2).unwrap();
    let after = reading.view().unwrap();
    assert_eq!((before.len(), before.applied(), after.len(), after.applied()), (100, 1, 299, 2));
    assert_eq!(search(&before), answer);
    assert_eq!(ids(&search(&after)[2].1)[0], rows[200].0);
}

#[test]
fn what_was_not_committed_is_forgotten() {
    let (folder, mut noise) = (Folder::new(), Noise(6));
    let rows = rows(noise.clustered(60, 16));
    let matrix = Matrix::open(&folder).unwrap();
    put(&matrix, &rows[..20], 1);
    let mut writer = matrix.writer().unwrap();
    writer.put(ChunkId(1000), 0, &rows[30].2).unwrap();
    writer.delete(ChunkId(rows[3].0));
    drop(writer);
    assert_eq!(matrix.view().unwrap().len(), 20);
    put(&matrix, &rows[20..], 2);
    assert_same(&matrix, &rows, 16);
}

#[test]
fn dead_rows_are_gone_and_many_of_them_make_a_new_generation() {
    for tuning in [SMALL, Tuning { signs_from: usize::MAX, ..SMALL }] {
        let (folder, mut noise) = (Folder::new(), Noise(2));
        let mut rows = rows(noise.clustered(1200, 64));
        let matrix = Matrix::tuned(&folder, tuning).unwrap();
        put(&matrix, &rows, 1);
        let (old, folders) = (matrix.view().unwrap(), generations(&folder));
        let mut left = 1200;
        for sequence in 2..6 {
            let mut writer = matrix.writer().unwrap();
            for _ in 0..150 {
                let row = rows.remove(noise.below(rows.len()));
                writer.delete(ChunkId(row.0));
                writer.delete(ChunkId(row.0));
                left -= 1;
            }
            writer.commit(sequence).unwrap();
            drop(writer);
            assert_eq!((matrix.view().unwrap().len(), matrix.view().unwrap().applied()), (left, sequence));
            assert_same(&matrix, &rows, 64);
        }
        assert_ne!(folders, generations(&folder));
        assert_eq!((generations(&folder).len(), old.len()), (1, 1200));
        assert_eq!(old.search(&rows[0].2, &[0], None, 20).unwrap()[0].1.len(), 20);
        assert_same(&Matrix::tuned(&folder, tuning).unwrap(), &rows, 64);
    }
}

#[test]
fn a_chunk_may_be_put_again_and_ids_may_come_in_any_order() {
    let (folder, mut noise) = (Folder::new(), Noise(1));
    let mut rows = rows(noise.clustered(300, 64));
    let matrix = Matrix::tuned(&folder, SMALL).unwrap();
    put(&matrix, &rows[100..], 1);
    let again: Vec<Row> = rows[150..160].iter().map(|row| (row.0, row.1, noise.vector(64))).collect();
    let mut writer = matrix.writer().unwrap();
    for (id, source, vector) in rows[..100].iter().rev().chain(&again).chain(&again) {
        writer.put(ChunkId(*id), *source, vector).unwrap();
    }
    writer.delete(ChunkId(rows[50].0));
    writer.commit(2).unwrap();
    writer.put(ChunkId(rows[50].0), rows[50].1, &rows[50].2).unwrap();
    writer.commit(3).unwrap();
    drop(writer);
    rows.splice(150..160, again);
    assert_same(&matrix, &rows, 64);
}

#[test]
fn everything_may_be_deleted() {
    let (folder, mut noise) = (Folder::new(), Noise(1));
    let rows = rows(noise.clustered(100, 8));
    let matrix = Matrix::tuned(&folder, SMALL).unwrap();
    put(&matrix, &rows, 1);
    let mut writer = matrix.writer().unwrap();
    for row in &rows {
        writer.delete(ChunkId(row.0));
    }
    writer.commit(2).unwrap();
    drop(writer);
    assert_same(&matrix, &[], 8);
    put(&matrix, &rows, 3);
    assert_same(&Matrix::open(&folder).unwrap(), &rows, 8);
}

fn generations(folder: &Path) -> Vec<std::ffi::OsString> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with('g')).collect()
}

/// The matrix holds these rows and no others.
pub(super) fn assert_same(matrix: &Matrix, rows: &[Row], dim: usize) {
    let view = matrix.view().unwrap();
    assert_eq!(view.len(), rows.len());
    let query = Noise(123).vector(dim);
    let chunks: Vec<ChunkId> = rows.iter().map(|row| ChunkId(row.0)).collect();
    for (score, row) in view.scores(&query, &chunks).unwrap().into_iter().zip(rows) {
        assert!((score.unwrap() - cosine(&query, &row.2)).abs() < 2e-3);
    }
    for (source, found) in view.search(&query, &[0, 1, 2], None, rows.len()).unwrap() {
        let right = nearest(rows.iter(), &query, source, rows.len());
        assert_eq!((found.len(), hits(&found, &right)), (right.len(), right.len()));
    }
}
