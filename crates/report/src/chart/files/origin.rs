//! Where a figure comes from, kept in its files as metadata.

use crate::chart::Chart;
use crate::chart::canvas::escape;

/// Length of a PNG file's signature and its first chunk, which holds the size.
const PNG_HEAD: usize = 8 + 25;

impl Chart {
    /// One line a name.
    pub(in crate::chart) fn origin_text(&self) -> String {
        let lines: Vec<String> = (self.origin.iter())
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.join("\n")
    }

    /// The SVG document with its origin as `<metadata>`.
    pub(in crate::chart) fn svg_with_origin(&self, svg: String) -> String {
        match svg.find('>') {
            Some(at) if !self.origin.is_empty() => {
                let (head, rest) = svg.split_at(at + 1);
                let text = escape(&self.origin_text());
                format!("{head}\n<metadata>{text}</metadata>{rest}")
            }
            _ => svg,
        }
    }

    /// The PNG file with its origin as international text, one chunk a name.
    pub(in crate::chart) fn png_with_origin(&self, png: Vec<u8>) -> Vec<u8> {
        let Some((head, rest)) = png.split_at_checked(PNG_HEAD) else {
            return png;
        };
        let mut out = head.to_vec();
        for (name, value) in &self.origin {
            out.extend(text_chunk(name, value));
        }
        out.extend(rest);
        out
    }
}

/// An `iTXt` chunk: keyword of at most 79 bytes of Latin-1, no compression, no language, UTF-8.
fn text_chunk(name: &str, value: &str) -> Vec<u8> {
    let keyword: Vec<u8> = name
        .bytes()
        .filter(|b| (32..127).contains(b))
        .take(79)
        .collect();
    let mut body = b"iTXt".to_vec();
    body.extend(if keyword.is_empty() {
        b"text"
    } else {
        &keyword[..]
    });
    body.extend([0; 5]);
    body.extend(value.bytes().filter(|b| *b != 0));
    let mut out = (body.len() as u32 - 4).to_be_bytes().to_vec();
    out.extend(&body);
    out.extend(crc(&body).to_be_bytes());
    out
}

/// The check sum of PNG chunks (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, b| {
        (0..8).fold(sum ^ u32::from(*b), |s, _| {
            (s >> 1) ^ if s & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn files_hold_where_they_come_from() {
        assert_eq!(crc(b"IEND"), 0xae42_6082);
        let mut chart = Chart::default();
        let plain = chart.png(Style::Light, 300.0, 1.0).unwrap();
        assert!(!chart.svg(Style::Light, 300.0).contains("<metadata>"));
        chart.origin = vec![("command".into(), "gisaxs <π>".into())];
        let svg = chart.svg(Style::Light, 300.0);
        assert!(svg.contains("<metadata>command: gisaxs &lt;π&gt;</metadata>"));
        let png = chart.png(Style::Light, 300.0, 1.0).unwrap();
        let chunk = "iTXtcommand\0\0\0\0\0gisaxs <π>".as_bytes();
        assert_eq!(png.len(), plain.len() + chunk.len() + 8);
        assert!(png.windows(chunk.len()).any(|w| w == chunk));
        let pdf = chart.pdf(Style::Print, 300.0);
        assert!(pdf.windows(9).any(|w| w == b"/Keywords"));
    }
}
