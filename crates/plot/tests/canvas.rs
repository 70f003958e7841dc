//! A page on a canvas of plotters: a bitmap drawn pixel by pixel, as plotters' own backends draw it.

mod support;

use std::collections::BTreeSet;
use std::convert::Infallible;

use perfpipe_plot::{Page, Style, png};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, WHITE};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use tiny_skia::Pixmap;

type Checked = Result<(), Box<dyn std::error::Error>>;

/// The canvas of a page on A4 with a pixel for a point.
const SIZE: (u32, u32) = (595, 842);

/// A bitmap that keeps texts apart instead of drawing them.
struct Bitmap {
    size: (u32, u32),
    pixels: Vec<[f64; 3]>,
    texts: Vec<(String, BackendCoord)>,
}

impl Bitmap {
    fn new(size: (u32, u32)) -> Self {
        Self { size, pixels: vec![[0.0; 3]; (size.0 * size.1) as usize], texts: Vec::new() }
    }

    /// A white area over the whole bitmap.
    fn area(&mut self) -> Result<DrawingArea<Canvas<'_>, Shift>, Box<dyn std::error::Error>> {
        let area = Canvas(self).into_drawing_area();
        area.fill(&WHITE)?;
        Ok(area)
    }
}

/// The backend that draws on a bitmap.
struct Canvas<'a>(&'a mut Bitmap);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.0.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        let (red, green, blue) = color.rgb;
        if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
            && x < self.0.size.0
            && y < self.0.size.1
        {
            let pixel = &mut self.0.pixels[(y * self.0.size.0 + x) as usize];
            for (old, new) in pixel.iter_mut().zip([red, green, blue]) {
                *old += (f64::from(new) - *old) * color.alpha;
            }
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, _: &S, at: BackendCoord) -> Drawn {
        self.0.texts.push((text.to_owned(), at));
        Ok(())
    }
}

/// The places of the pixels with a colour, which no text has.
fn colored(pixels: impl Iterator<Item = [f64; 3]>) -> BTreeSet<usize> {
    let is_colored =
        |[red, green, blue]: &[f64; 3]| red.max(*green).max(*blue) - red.min(*green).min(*blue) > 60.0;
    pixels.enumerate().filter(|(_, pixel)| is_colored(pixel)).map(|(at, _)| at).collect()
}

#[test]
fn page_on_a_canvas_looks_like_its_png() -> Checked {
    for run in [support::outage(), support::failing()] {
        let page = Page::run(&run, &Style::default());
        let mut bitmap = Bitmap::new(SIZE);
        page.draw(&bitmap.area()?)?;
        let picture = Pixmap::decode_png(&png(&page, 1.0)?)?;
        assert_eq!((picture.width(), picture.height()), SIZE);
        let in_picture = picture.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
        let in_picture = colored(in_picture.map(|pixel| pixel.map(f64::from)));
        let on_canvas = colored(bitmap.pixels.iter().copied());
        let both = in_picture.intersection(&on_canvas).count() as f64;
        // Edges differ, since plotters draws whole pixels.
        let (least, most) = (0.9 * in_picture.len() as f64, 1.25 * in_picture.len() as f64);
        assert!(least > 30_000.0 && both > least, "{}: {both}", page.title());
        assert!((on_canvas.len() as f64) < most, "{}: {}", page.title(), on_canvas.len());
    }
    Ok(())
}

#[test]
fn page_on_a_part_of_a_canvas_stays_in_it() -> Checked {
    let mut bitmap = Bitmap::new((SIZE.0 * 2, SIZE.1));
    let page = Page::run(&support::short(60), &Style::default());
    let (left, right) = bitmap.area()?.split_horizontally(SIZE.0);
    page.draw(&left)?;
    drop(left);
    drop(right);
    let white = |pixel: &[f64; 3]| pixel.iter().all(|channel| *channel == 255.0);
    let rows: Vec<&[[f64; 3]]> = bitmap.pixels.chunks(2 * SIZE.0 as usize).collect();
    let (left, right): (Vec<_>, Vec<_>) = rows.iter().map(|row| row.split_at(SIZE.0 as usize)).unzip();
    assert!(right.into_iter().flatten().all(white));
    assert!(left.into_iter().flatten().filter(|pixel| !white(pixel)).count() > 10_000);
    let texts: Vec<&str> = bitmap.texts.iter().map(|(text, _)| text.as_str()).collect();
    assert!(texts.contains(&page.title()) && texts.contains(&"Requests per second"), "{texts:?}");
    assert!(bitmap.texts.iter().all(|(_, (x, y))| (0..595).contains(x) && (0..842).contains(y)));
    Ok(())
}
