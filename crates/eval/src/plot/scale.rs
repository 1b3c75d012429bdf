//! From values to places on the paper.

/// A linear vertical axis with round tick marks.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    step: f64,
    top: f64,
    bottom: f64,
}

impl Scale {
    /// An axis that holds 0 and all `values`, drawn between `top` and `bottom`.
    pub(super) fn new(values: impl Iterator<Item = f64>, top: f64, bottom: f64) -> Self {
        let (mut low, mut high) =
            values.fold((0.0, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        if low == high {
            (low, high) = (-1.0, 1.0);
        }
        let step = round_step((high - low) / 5.0);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step, top, bottom }
    }

    /// The place of `value`.
    pub(super) fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.bottom - share * (self.bottom - self.top)
    }

    /// The values of the tick marks.
    pub(super) fn ticks(&self) -> impl Iterator<Item = f64> {
        let first = (self.low / self.step).round() as i64;
        let last = (self.high / self.step).round() as i64;
        (first..=last).map(|index| index as f64 * self.step)
    }

    /// How many decimals a tick mark needs.
    pub(super) fn decimals(&self) -> usize {
        (-self.step.log10().floor()).max(0.0) as usize
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors.into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_every_value() {
        let scale = Scale::new([-0.31, 0.74].into_iter(), 0.0, 100.0);
        let ticks: Vec<_> = scale.ticks().map(|tick| format!("{tick:.1}")).collect();
        assert_eq!(ticks, ["-0.5", "0.0", "0.5", "1.0"]);
        assert!(scale.y(0.74) > 0.0 && scale.y(-0.31) < 100.0);
        assert_eq!(scale.decimals(), 1);
    }

    #[test]
    fn a_flat_axis_has_some_height() {
        let scale = Scale::new([0.0].into_iter(), 0.0, 100.0);
        assert_eq!(scale.y(0.0), 50.0);
    }
}
