//! The chart of the load: a strip on pages whose colours show something else, or a chart that stands alone.

use super::chart::{Height, TimeChart};
use super::run::RunData;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::marks::ColumnLine;
use crate::output::drawing::Drawing;
use crate::palette::SOFT;
use crate::style::ColorBy;
use crate::text::number::measured;

/// The width of the line, in points.
const WIDTH: f64 = 1.1;
/// The height of the strip, in points.
const HEIGHT: f64 = 34.0;

/// The chart of the load.
pub(crate) struct LoadChart<'a>(&'a RunData<'a>);

impl<'a> LoadChart<'a> {
    /// Returns the chart; `None` if the colours show the load already, or the log does not have it.
    pub(crate) fn new(run: &'a RunData<'a>) -> Option<Self> {
        (run.style.color_by != ColorBy::Load && run.summary().load_max.is_some()).then_some(Self(run))
    }

    /// Returns the chart that stands alone.
    pub(crate) fn alone(run: &'a RunData<'a>) -> Self {
        Self(run)
    }

    fn most(&self) -> f64 {
        self.0.summary().load_max.unwrap_or_default()
    }
}

impl TimeChart for LoadChart<'_> {
    fn legend(&self) -> Legend {
        let most = format!("at most {} threads", measured(self.most()));
        let entries = vec![LegendEntry::new(Swatch::Line(SOFT, WIDTH), most)];
        Legend { heading: "Load (active threads)".to_owned(), entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        format!("Load over time: at most {} threads.", measured(self.most()))
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let most = self.0.summary().load_max.ok_or("The log has no load")?;
        if self.0.is_alone {
            return Ok(ValueAxis::new(ValueTicks::up_to(most, 6, Steps::Whole)));
        }
        Ok(ValueAxis::ends(most.max(1.0), 0).with_room(most))
    }

    fn height(&self) -> Height {
        Height::Fixed(HEIGHT)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let values = |column: &crate::time_columns::TimeColumn| column.load;
        ColumnLine { values, color: |_: &_| SOFT, width: WIDTH }.draw(
            drawing,
            frame,
            &self.0.columns.columns,
        );
    }
}
