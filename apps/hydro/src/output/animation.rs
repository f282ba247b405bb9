//! Animated PNG files.

use crate::HydroError;
use png::{BitDepth, ColorType, Compression, Decoder, Encoder};
use std::io::{Cursor, Write};

/// Formats of animations; all but the first are ffmpeg's.
pub const ENDINGS: [&str; 3] = ["png", "gif", "mp4"];
/// Duration of an animation, s, as long as its frames stay visible and smooth.
const DURATION: f64 = 6.0;

/// Time between frames, ms.
pub fn delay_ms(frames: usize) -> u16 {
    (1000.0 * DURATION / frames.max(1) as f64).clamp(20.0, 250.0) as u16
}

fn cannot(e: impl std::fmt::Display) -> HydroError {
    HydroError::Output(format!("the animation cannot be drawn: {e}"))
}

/// Pixels of a PNG file as red, green, blue, from a white background.
fn pixels(file: &[u8]) -> Result<(u32, u32, Vec<u8>), HydroError> {
    let mut reader = Decoder::new(Cursor::new(file))
        .read_info()
        .map_err(cannot)?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| cannot("too large"))?;
    let mut all = vec![0; size];
    let info = reader.next_frame(&mut all).map_err(cannot)?;
    all.truncate(info.buffer_size());
    let rgb = match info.color_type {
        ColorType::Rgb => all,
        ColorType::Rgba => all
            .chunks_exact(4)
            .flat_map(|p| {
                let a = u16::from(p[3]);
                let over = |c: u8| ((u16::from(c) * a + 255 * (255 - a)) / 255) as u8;
                [over(p[0]), over(p[1]), over(p[2])]
            })
            .collect(),
        other => return Err(cannot(format!("colours are {other:?}"))),
    };
    Ok((info.width, info.height, rgb))
}

/// Writes frames, PNG files of one size each, as one animated PNG that repeats forever. `frame` makes the frame of a
/// number below `count`; `origin` are names and values that the file keeps as text.
///
/// # Errors
/// A frame cannot be made, or the file cannot be written.
pub fn apng<W: Write>(
    to: W,
    origin: &[(String, String)],
    count: usize,
    frame: &mut dyn FnMut(usize) -> Result<Vec<u8>, HydroError>,
) -> Result<(), HydroError> {
    let (width, height, first) = pixels(&frame(0)?)?;
    let mut encoder = Encoder::new(to, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    encoder.set_animated(count as u32, 0).map_err(cannot)?;
    encoder
        .set_frame_delay(delay_ms(count), 1000)
        .map_err(cannot)?;
    for (name, value) in origin {
        encoder
            .add_itxt_chunk(name.clone(), value.clone())
            .map_err(cannot)?;
    }
    let mut writer = encoder.write_header().map_err(cannot)?;
    writer.write_image_data(&first).map_err(cannot)?;
    for k in 1..count {
        let (w, h, rgb) = pixels(&frame(k)?)?;
        if (w, h) != (width, height) {
            return Err(cannot("its frames differ in size"));
        }
        writer.write_image_data(&rgb).map_err(cannot)?;
    }
    writer.finish().map_err(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back() {
        let one = |grey: u8| {
            let mut out = Vec::new();
            let mut e = Encoder::new(&mut out, 2, 1);
            e.set_color(ColorType::Rgba);
            let mut w = e.write_header().unwrap();
            w.write_image_data(&[grey, grey, grey, 255, 0, 0, 0, 0])
                .unwrap();
            w.finish().unwrap();
            out
        };
        let mut file = Vec::new();
        let origin = [("host".to_owned(), "π".to_owned())];
        apng(&mut file, &origin, 3, &mut |k| Ok(one(10 * k as u8))).unwrap();
        let mut reader = Decoder::new(Cursor::new(&file)).read_info().unwrap();
        assert_eq!(reader.info().utf8_text[0].get_text().unwrap(), "π");
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        let mut all = vec![0; reader.output_buffer_size().unwrap()];
        for k in 0..3 {
            reader.next_frame(&mut all).unwrap();
            assert_eq!(all, [10 * k, 10 * k, 10 * k, 255, 255, 255]);
        }
        assert!(apng(Vec::new(), &[], 1, &mut |_| Ok(b"no".to_vec())).is_err());
        assert_eq!((delay_ms(1), delay_ms(60), delay_ms(1000)), (250, 100, 20));
    }
}
