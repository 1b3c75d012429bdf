//! Judgements from clicks.
