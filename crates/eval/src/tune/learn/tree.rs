//! Growing small regression trees, one after the other.

use mainstem_core::learned::Node;

/// How trees are grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    pub(super) depth: usize,
    /// The fewest rows of a leaf.
    pub(super) leaf: usize,
    /// What is added to the sum of second derivatives, so that few rows say little.
    pub(super) smoothing: f64,
    pub(super) rate: f64,
}

/// How many values of a feature are tried as a split.
const CUTS: usize = 32;

/// Rows with the first and second derivatives of what is to become small.
pub(super) struct Data<'a> {
    pub(super) rows: &'a [Vec<f64>],
    pub(super) gradients: &'a [f64],
    pub(super) hessians: &'a [f64],
}

/// The best question found so far.
struct Best {
    gain: f64,
    feature: usize,
    at: f64,
}

/// Grows a tree on these rows.
pub(super) fn grow(data: &Data<'_>, members: Vec<usize>, growth: Growth) -> Vec<Node> {
    let mut nodes = Vec::new();
    add(&mut nodes, data, members, growth, growth.depth);
    nodes
}

fn add(nodes: &mut Vec<Node>, data: &Data<'_>, members: Vec<usize>, growth: Growth, depth: usize) -> usize {
    let own = nodes.len();
    let (gradient, hessian) = sums(data, &members);
    nodes.push(Node::Leaf(growth.rate * gradient / (hessian + growth.smoothing)));
    let best = if depth == 0 { None } else { split(data, &members, growth) };
    if let Some(Best { feature, at, .. }) = best {
        let (low, high) = members.into_iter().partition(|&row| data.rows[row][feature] <= at);
        let below = add(nodes, data, low, growth, depth - 1);
        let above = add(nodes, data, high, growth, depth - 1);
        nodes[own] = Node::Split { feature, at, below, above };
    }
    own
}

fn sums(data: &Data<'_>, members: &[usize]) -> (f64, f64) {
    let sum = |values: &[f64]| members.iter().map(|&row| values[row]).sum();
    (sum(data.gradients), sum(data.hessians))
}

/// The question that helps most, if any does.
fn split(data: &Data<'_>, members: &[usize], growth: Growth) -> Option<Best> {
    let worth = |(gradient, hessian): (f64, f64)| gradient * gradient / (hessian + growth.smoothing);
    let all = sums(data, members);
    let mut best: Option<Best> = None;
    for feature in 0..data.rows.first().map_or(0, Vec::len) {
        let mut order: Vec<usize> = members.to_vec();
        // Stable: equal values stay in the order of the rows.
        order.sort_by(|&a, &b| data.rows[a][feature].total_cmp(&data.rows[b][feature]));
        let step = (order.len() / CUTS).max(1);
        let mut left = (0.0, 0.0);
        for (at, pair) in order.windows(2).enumerate() {
            left = (left.0 + data.gradients[pair[0]], left.1 + data.hessians[pair[0]]);
            let (low, high) = (data.rows[pair[0]][feature], data.rows[pair[1]][feature]);
            let sized = at + 1 >= growth.leaf && order.len() - at > growth.leaf;
            if low == high || !sized || !(at + 1).is_multiple_of(step) {
                continue;
            }
            let gain = worth(left) + worth((all.0 - left.0, all.1 - left.1)) - worth(all);
            if gain > 1e-9 && best.as_ref().is_none_or(|best| gain > best.gain) {
                best = Some(Best { gain, feature, at: f64::midpoint(low, high) });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use mainstem_core::learned::Tree;

    use super::*;

    #[test]
    fn a_tree_finds_the_step() {
        let rows: Vec<Vec<f64>> = (0..100).map(|at| vec![f64::from(at % 7), f64::from(at)]).collect();
        let gradients: Vec<f64> = (0..100).map(|at| if at < 40 { -1.0 } else { 1.0 }).collect();
        let data = Data { rows: &rows, gradients: &gradients, hessians: &[1.0; 100] };
        let growth = Growth { depth: 2, leaf: 5, smoothing: 0.0, rate: 1.0 };
        let tree = Tree::new(grow(&data, (0..100).collect(), growth), 2).unwrap();
        // Cuts are tried at every third row, so that the step may be off by two.
        assert!(tree.value(&[0.0, 30.0]) < -0.9 && tree.value(&[0.0, 60.0]) > 0.9, "{tree:?}");
    }
}
