//! What is found, against the exact answer.

use std::sync::Arc;

use super::super::Allowed;
use super::*;

/// Searches all three sources with some queries; returns the share of the right chunks that was found.
fn recall(matrix: &Matrix, rows: &[Row], allowed: Option<&Arc<Allowed>>, noise: &mut Noise) -> f64 {
    let view = matrix.view().unwrap();
    let (mut found, mut wanted) = (0, 0);
    for _ in 0..8 {
        let near = &rows[noise.below(rows.len())].2;
        let query: Vec<f32> = near.iter().map(|x| x + 0.3 * noise.normal()).collect();
        let answer = view.search(&query, &[2, 0, 1], allowed, 10).unwrap();
        assert_eq!(answer.iter().map(|(source, _)| *source).collect::<Vec<_>>(), [2, 0, 1]);
        for (source, hits_of_source) in answer {
            let may = |row: &&Row| allowed.is_none_or(|allowed| allowed.contains(ChunkId(row.0)));
            let right = nearest(rows.iter().filter(may), &query, source, 10);
            assert_eq!(hits_of_source.len(), right.len());
            assert!(hits_of_source.is_sorted_by(|a, b| (b.score, a.chunk) <= (a.score, b.chunk)));
            for found in &hits_of_source {
                let row = rows.iter().find(|row| row.0 == found.chunk.0).unwrap();
                assert!((found.score - cosine(&query, &row.2)).abs() < 1e-3, "{found:?}");
            }
            found += hits(&hits_of_source, &right);
            wanted += right.len();
        }
    }
    f64::from(found as u32) / f64::from(wanted as u32)
}

fn check(vectors: Vec<Vec<f32>>, tuning: Tuning) {
    let (folder, mut noise) = (Folder::new(), Noise(77));
    let matrix = Matrix::tuned(&folder, tuning).unwrap();
    let rows = rows(vectors);
    put(&matrix, &rows, 1);
    let some = |every: usize| Allowed::new(rows.iter().step_by(every).map(|row| ChunkId(row.0)).collect());
    for allowed in [None, Some(Arc::new(some(2))), Some(Arc::new(some(33)))] {
        let share = recall(&matrix, &rows, allowed.as_ref(), &mut noise);
        assert!(share >= 0.99, "{share} of {} with {:?}", rows[0].2.len(), allowed.map(|a| a.len()));
    }
}

#[test]
fn codes_find_what_is_nearest() {
    let tuning = Tuning { signs_from: usize::MAX, ..SMALL };
    for dim in [7, 100, 384] {
        let mut noise = Noise(dim as u64);
        check((0..900).map(|_| noise.vector(dim)).collect(), tuning);
        check(noise.clustered(900, dim), tuning);
    }
}

#[test]
fn signs_find_what_is_nearest() {
    for dim in [100, 384] {
        let mut noise = Noise(dim as u64);
        check((0..900).map(|_| noise.vector(dim)).collect(), SMALL);
        check(noise.clustered(900, dim), SMALL);
    }
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let (folder, mut noise) = (Folder::new(), Noise(5));
    let rows = rows(noise.clustered(1200, 64));
    put(&Matrix::tuned(&folder, SMALL).unwrap(), &rows, 1);
    let search = |rows_per_thread: usize| {
        let matrix = Matrix::tuned(&folder, Tuning { rows_per_thread, ..SMALL }).unwrap();
        matrix.view().unwrap().search(&rows[3].2, &[0, 1, 2], None, 30).unwrap()
    };
    assert_eq!(search(1), search(usize::MAX));
}

#[test]
fn equal_vectors_come_in_the_order_of_their_ids() {
    for signs_from in [0, usize::MAX] {
        let folder = Folder::new();
        let matrix = Matrix::tuned(&folder, Tuning { signs_from, ..SMALL }).unwrap();
        let vector = Noise(9).vector(64);
        let equal: Vec<Row> = (0..900).map(|id| (id, 4, vector.clone())).collect();
        put(&matrix, &equal, 1);
        let answer = matrix.view().unwrap().search(&vector, &[4], None, 5).unwrap();
        assert_eq!(ids(&answer[0].1), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn unwanted_sources_are_not_found_and_empty_ones_are_left_out() {
    let (folder, mut noise) = (Folder::new(), Noise(3));
    let matrix = Matrix::tuned(&folder, SMALL).unwrap();
    let mut rows = rows(noise.clustered(900, 64));
    rows[700].1 = u32::MAX;
    put(&matrix, &rows, 1);
    let view = matrix.view().unwrap();
    let answer = view.search(&rows[0].2, &[u32::MAX, 17, 1, 1], None, 4).unwrap();
    assert_eq!(answer.iter().map(|(source, _)| *source).collect::<Vec<_>>(), [u32::MAX, 1]);
    assert_eq!(ids(&answer[0].1), [rows[700].0]);
    assert_eq!(answer[1].1.len(), 4);
    assert!(view.search(&rows[0].2, &[], None, 4).unwrap().is_empty());
    assert!(view.search(&rows[0].2, &[1], None, 0).unwrap().is_empty());
    assert!(view.search(&rows[0].2, &[1], Some(&Arc::default()), 4).unwrap().is_empty());
}

#[test]
fn scores_are_those_of_the_search() {
    let (folder, mut noise) = (Folder::new(), Noise(8));
    let matrix = Matrix::tuned(&folder, SMALL).unwrap();
    let rows = rows(noise.clustered(200, 33));
    put(&matrix, &rows, 1);
    let view = matrix.view().unwrap();
    let (_, found) = view.search(&rows[5].2, &[0], None, 7).unwrap().remove(0);
    let mut chunks: Vec<ChunkId> = found.iter().map(|found| found.chunk).collect();
    chunks.push(ChunkId(1));
    let mut expected: Vec<Option<f64>> = found.iter().map(|found| Some(found.score)).collect();
    expected.push(None);
    assert_eq!(view.scores(&rows[5].2, &chunks).unwrap(), expected);
}
