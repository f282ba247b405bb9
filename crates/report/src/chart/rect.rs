//! A rectangle of a drawing.

/// A rectangle, pixels from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rect {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Whether two rectangles share more than an edge.
    pub fn hits(&self, o: &Self) -> bool {
        self.left < o.right()
            && o.left < self.right()
            && self.top < o.bottom()
            && o.top < self.bottom()
    }

    /// Whether the rectangle lies inside another.
    pub fn inside(&self, o: &Self) -> bool {
        self.left >= o.left
            && self.right() <= o.right()
            && self.top >= o.top
            && self.bottom() <= o.bottom()
    }

    /// The nearest point of the rectangle.
    pub fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            x.clamp(self.left, self.right()),
            y.clamp(self.top, self.bottom()),
        )
    }

    /// Distance of a point, 0 inside.
    pub fn distance(&self, p: (f64, f64)) -> f64 {
        let n = self.nearest(p);
        (n.0 - p.0).hypot(n.1 - p.1)
    }
}
