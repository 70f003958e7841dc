//! What can be wrong with an interval.

/// What is wrong with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntervalFlaw {
    /// The log's version is unknown.
    Version,
    /// The histogram is no base64.
    Base64,
    /// The histogram is of an encoding that is not read.
    Encoding,
    /// The histogram is cut, or its parts contradict each other.
    Damaged,
    /// The histogram is of decimals, or shifted.
    Decimals,
    /// The histogram has more in it than any real one.
    Large,
    /// A time does not fit the unit of the run.
    LongTime,
    /// The unit of the values is not known.
    NoUnit,
    /// The unit of the values is none, or another than above.
    Unit,
    /// The interval begins before another above it.
    Backwards,
    /// The interval is far longer than a second.
    LongInterval,
    /// There are too many histograms of the same interval.
    Crowded,
}

impl IntervalFlaw {
    /// All of them.
    pub(crate) const ALL: [Self; 12] = [
        Self::Version,
        Self::Base64,
        Self::Encoding,
        Self::Damaged,
        Self::Decimals,
        Self::Large,
        Self::LongTime,
        Self::NoUnit,
        Self::Unit,
        Self::Backwards,
        Self::LongInterval,
        Self::Crowded,
    ];

    /// The reason to reject the interval, as a clause.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Version => "the log is of another version than 1.2 and 1.3",
            Self::Base64 => "its histogram is not whole base64",
            Self::Encoding => "its histogram is not encoded as V2, the only encoding that is read",
            Self::Damaged => "its histogram is damaged or cut short",
            Self::Decimals => "its histogram is one of decimal or shifted values, which are not read",
            Self::Large => {
                "its histogram holds more than any measured one: over 100,000 different times, over 10^12 requests of one, or room for over a million"
            }
            Self::LongTime => {
                "a response time, or the interval itself, is too long to be counted in the unit of the run"
            }
            Self::NoUnit => {
                "Interval_Max is the histogram's largest value itself, so that the unit is not known: write the log with Interval_Max in ms (a maxValueUnitRatio of 1000 for µs, 1000000 for ns)"
            }
            Self::Unit => {
                "Interval_Max is not the largest value of the histogram in ms, or not in the unit of the intervals above"
            }
            Self::Backwards => "it begins before the interval above it",
            Self::LongInterval => {
                "it is longer than 1.5 s, and requests are counted by second: log an interval each second, or make the percentiles a point of a sweep (HistogramLogProcessor -i run.hlog -o run writes run.hgrm)"
            }
            Self::Crowded => "there are too many histograms of the same interval",
        }
    }
}
