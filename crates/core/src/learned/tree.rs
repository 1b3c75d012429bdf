//! Small regression trees, as they are followed. How they are grown is in `mainstem-eval`.

use serde::{Deserialize, Serialize};

/// A tree as a list of nodes; the first is the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree(Vec<Node>);

/// A question or an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Go on with `below` where the feature is at most `at`, with `above` otherwise.
    Split {
        /// The feature.
        feature: usize,
        /// The limit.
        at: f64,
        /// The next node up to the limit.
        below: usize,
        /// The next node above it.
        above: usize,
    },
    /// The end: what is added to the score.
    Leaf(f64),
}

impl Tree {
    /// A tree of these nodes; nothing where they cannot be followed: every question must be about one of so many features, and lead
    /// further on.
    pub fn new(nodes: Vec<Node>, features: usize) -> Option<Self> {
        Some(Self(nodes)).filter(|tree| tree.is_sound(features))
    }

    /// What the tree adds to the score of a row.
    pub fn value(&self, row: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            match &self.0[at] {
                Node::Leaf(value) => return *value,
                Node::Split { feature, at: limit, below, above } => {
                    at = if row[*feature] <= *limit { *below } else { *above };
                }
            }
        }
    }

    /// Whether a tree that was read from a file can be followed: questions about features that exist, and always further on.
    pub(super) fn is_sound(&self, features: usize) -> bool {
        !self.0.is_empty()
            && self.0.iter().enumerate().all(|(own, node)| match node {
                Node::Leaf(value) => value.is_finite(),
                Node::Split { feature, at, below, above } => {
                    let further = |next: &usize| *next > own && *next < self.0.len();
                    *feature < features && at.is_finite() && further(below) && further(above)
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_followed() {
        let nodes =
            vec![Node::Split { feature: 1, at: 0.5, below: 1, above: 2 }, Node::Leaf(-1.0), Node::Leaf(1.0)];
        assert!(Tree::new(nodes.clone(), 1).is_none(), "there is no second feature");
        let tree = Tree::new(nodes, 2).unwrap();
        assert_eq!((tree.value(&[9.0, 0.5]), tree.value(&[0.0, 0.6])), (-1.0, 1.0));
        let again = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<Tree>(&again).unwrap(), tree);
    }

    #[test]
    fn a_tree_that_goes_in_circles_is_not_sound() {
        assert!(Tree::new(vec![Node::Split { feature: 0, at: 0.5, below: 0, above: 0 }], 1).is_none());
        assert!(Tree::new(Vec::new(), 1).is_none());
    }
}
