//! How far colours of series are apart, as readers with each kind of colour vision see them, and in grey.

use super::{COLOURS, DARK, LIGHT};

/// Red, green and blue, linear.
type Rgb = [f64; 3];
/// Lightness, green to red, blue to yellow.
type Lab = [f64; 3];

/// Full protanopia, deuteranopia and tritanopia, of linear colours: Machado, Oliveira and Fernandes (2009), table 1.
const BLIND: [[Rgb; 3]; 3] = [
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

fn linear(hex: &str) -> Rgb {
    [1, 3, 5].map(|i| {
        let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
        if v <= 0.04045 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn dot(row: &Rgb, c: Rgb) -> f64 {
    row.iter().zip(c).map(|(a, b)| a * b).sum()
}

fn grey(c: Rgb) -> Rgb {
    [dot(&[0.2126, 0.7152, 0.0722], c); 3]
}

fn blind(matrix: &[Rgb; 3], c: Rgb) -> Rgb {
    [0, 1, 2].map(|i| dot(&matrix[i], c).clamp(0.0, 1.0))
}

/// CIELAB under D65.
fn lab(c: Rgb) -> Lab {
    let f = |row: &Rgb, white: f64| {
        let t = dot(row, c) / white;
        if t > 0.008_856 {
            t.cbrt()
        } else {
            7.787 * t + 16.0 / 116.0
        }
    };
    let x = f(&[0.412_456_4, 0.357_576_1, 0.180_437_5], 0.950_47);
    let y = f(&[0.212_672_9, 0.715_152_2, 0.072_175_0], 1.0);
    let z = f(&[0.019_333_9, 0.119_192_0, 0.950_304_1], 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// CIEDE2000, as in Sharma, Wu and Dalal (2005).
fn distance(a: Lab, b: Lab) -> f64 {
    let chroma = |l: Lab| l[1].hypot(l[2]);
    let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
    let g = 0.5 * (1.0 - seventh(0.5 * (chroma(a) + chroma(b))));
    let polar = |l: Lab| {
        let p = (1.0 + g) * l[1];
        (p.hypot(l[2]), l[2].atan2(p).to_degrees().rem_euclid(360.0))
    };
    let ((c1, h1), (c2, h2)) = (polar(a), polar(b));
    let grey = c1 * c2 < 1e-9;
    let turn = match h2 - h1 {
        _ if grey => 0.0,
        d if d > 180.0 => d - 360.0,
        d if d < -180.0 => d + 360.0,
        d => d,
    };
    let hue = match h1 + h2 {
        s if grey => s,
        s if (h1 - h2).abs() <= 180.0 => 0.5 * s,
        s if s < 360.0 => 0.5 * (s + 360.0),
        s => 0.5 * (s - 360.0),
    };
    let (l, c) = (0.5 * (a[0] + b[0]), 0.5 * (c1 + c2));
    let cos = |times: f64, from: f64| (times * hue + from).to_radians().cos();
    let t = 1.0 - 0.17 * cos(1.0, -30.0) + 0.24 * cos(2.0, 0.0) + 0.32 * cos(3.0, 6.0)
        - 0.2 * cos(4.0, -63.0);
    let off = (l - 50.0).powi(2);
    let dl = (b[0] - a[0]) / (1.0 + 0.015 * off / (20.0 + off).sqrt());
    let dc = (c2 - c1) / (1.0 + 0.045 * c);
    let dh = 2.0 * (c1 * c2).sqrt() * (0.5 * turn).to_radians().sin() / (1.0 + 0.015 * c * t);
    let rotation = 60.0 * (-((hue - 275.0) / 25.0).powi(2)).exp();
    let rt = -2.0 * seventh(c) * rotation.to_radians().sin();
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
}

/// Pairs 1, 7 and 17 of the paper's table of test data.
#[test]
fn distances_are_the_published_ones() {
    for (a, b, want) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.3669),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
    ] {
        let d = distance(a, b);
        assert!((d - want).abs() < 1e-4, "{d} {want}");
    }
}

#[test]
fn series_differ_for_every_reader_and_in_grey() {
    for colours in [LIGHT, DARK] {
        for i in 0..COLOURS {
            for j in 0..i {
                let (a, b) = (linear(colours[i]), linear(colours[j]));
                let mut seen = vec![(a, b)];
                seen.extend(BLIND.iter().map(|m| (blind(m, a), blind(m, b))));
                // The second half has another shape than the first.
                if (i < COLOURS / 2) == (j < COLOURS / 2) {
                    seen.push((grey(a), grey(b)));
                }
                for (k, (a, b)) in seen.into_iter().enumerate() {
                    let d = distance(lab(a), lab(b));
                    assert!(d >= 10.0, "{} {} {k}: {d:.1}", colours[i], colours[j]);
                }
            }
        }
    }
}
