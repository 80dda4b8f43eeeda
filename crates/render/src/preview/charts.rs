//! Charts as SVG, in whole numbers: nothing is computed in floats, and nothing is loaded.

use std::fmt::Write as _;

use model::units::Micros;

use super::html::escaped;

const WIDTH: i64 = 720;
const LABELS: i64 = 210;
const BAR: i64 = 22;
const ROW: i64 = 30;
const PLOT_HEIGHT: i64 = 260;
const PLOT_LEFT: i64 = 90;
const LEGEND_ROW: i64 = 18;

/// Colours that stay apart for people who do not see all of them.
const COLORS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// A bar: a name, an amount where it is known, and what stands at its end.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) amount: Option<Micros>,
    pub(super) value: String,
}

/// Bars below each other, as long as their amounts.
pub(super) fn bars(title: &str, bars: &[Bar]) -> String {
    let most = bars
        .iter()
        .filter_map(|bar| bar.amount)
        .max()
        .unwrap_or_default();
    let rows = i64::try_from(bars.len()).unwrap_or_default();
    let mut svg = open(title, rows * ROW + 6);
    for (bar, row) in bars.iter().zip(0_i64..) {
        let top = row * ROW + 4;
        let middle = top + BAR / 2 + 4;
        let length = bar
            .amount
            .map_or(0, |amount| scaled(amount.0, most.0, WIDTH - LABELS - 190));
        let color = if bar.amount.is_some() {
            color(0)
        } else {
            "#999999"
        };
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABELS}\" y=\"{top}\" width=\"{}\" height=\"{BAR}\" fill=\"{color}\"/>\
             <text x=\"{}\" y=\"{middle}\">{}</text>",
            LABELS - 8,
            escaped(&bar.label),
            length.max(1),
            LABELS + length.max(1) + 8,
            escaped(&bar.value),
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A way to pay: by the hour used, or for the whole month whether used or not.
pub(super) struct Course {
    pub(super) label: String,
    /// At the right end.
    pub(super) end: Micros,
    pub(super) is_flat: bool,
}

/// What something costs by the time that it takes; the marks stand at the left end, in the middle
/// and at the right end.
pub(super) fn courses(title: &str, marks: &[String; 3], courses: &[Course]) -> String {
    let most = courses
        .iter()
        .map(|course| course.end.0)
        .max()
        .unwrap_or_default();
    let rows = i64::try_from(courses.len()).unwrap_or_default();
    let bottom = PLOT_HEIGHT - 30;
    let right = WIDTH - 20;
    let mut svg = open(title, PLOT_HEIGHT + rows * LEGEND_ROW + 10);
    let _ = write!(
        svg,
        "<path d=\"M{PLOT_LEFT} 10V{bottom}H{right}\" fill=\"none\" stroke=\"#555555\"/>\
         <text x=\"{}\" y=\"18\" text-anchor=\"end\">{}</text>\
         <text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>",
        PLOT_LEFT - 6,
        escaped(&Micros(most).to_string()),
        PLOT_LEFT - 6,
    );
    for (text, half) in marks.iter().zip(0_i64..) {
        let x = PLOT_LEFT + scaled(half, 2, right - PLOT_LEFT);
        let anchor = if half == 0 { "start" } else { "end" };
        let _ = write!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            bottom + 18,
            escaped(text),
        );
    }
    for (course, row) in courses.iter().zip(0_i64..) {
        let end = bottom - scaled(course.end.0, most, bottom - 14);
        let start = if course.is_flat { end } else { bottom };
        let color = color(row);
        let legend = PLOT_HEIGHT + row * LEGEND_ROW + 6;
        let _ = write!(
            svg,
            "<path d=\"M{PLOT_LEFT} {start}L{right} {end}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <rect x=\"{PLOT_LEFT}\" y=\"{}\" width=\"14\" height=\"10\" fill=\"{color}\"/>\
             <text x=\"{}\" y=\"{legend}\">{}</text>",
            legend - 9,
            PLOT_LEFT + 20,
            escaped(&course.label),
        );
    }
    svg.push_str("</svg>");
    svg
}

fn open(title: &str, height: i64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><title>{}</title>",
        escaped(title)
    )
}

fn color(row: i64) -> &'static str {
    let index = usize::try_from(row).unwrap_or_default() % COLORS.len();
    COLORS.get(index).copied().unwrap_or("#0072b2")
}

/// `part` of `whole` on a scale of `length`.
fn scaled(part: i64, whole: i64, length: i64) -> i64 {
    if whole <= 0 {
        return 0;
    }
    let scaled = i128::from(part) * i128::from(length) / i128::from(whole);
    i64::try_from(scaled).unwrap_or(length).clamp(0, length)
}
