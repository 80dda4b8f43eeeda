//! The table of published figures.

/// A published figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) group: String,
    pub(super) source: String,
    pub(super) model: String,
    pub(super) gpu: String,
    pub(super) gpus: u32,
    pub(super) precision: String,
    pub(super) method: String,
    pub(super) layout: String,
    pub(super) sequence: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) tokens: Option<f64>,
    pub(super) quantity: String,
    pub(super) published: f64,
    pub(super) note: String,
}

/// All of them, in the order of the table.
pub(super) fn points() -> Vec<Point> {
    let text = include_str!("../../reference/points.csv");
    text.lines().skip(1).map(point).collect()
}

fn point(line: &str) -> Point {
    let cells: Vec<&str> = line.split(',').collect();
    let [
        group,
        source,
        model,
        gpu,
        gpus,
        precision,
        method,
        layout,
        sequence,
        output,
        tokens,
        _concurrency,
        quantity,
        published,
        note,
    ] = cells.as_slice()
    else {
        panic!("expected 15 cells, found {}: {line}", cells.len());
    };
    let number = |text: &str| (!text.is_empty()).then(|| text.parse::<f64>().expect(line));
    Point {
        group: group.replace(';', ","),
        source: (*source).to_owned(),
        model: (*model).to_owned(),
        gpu: (*gpu).to_owned(),
        gpus: gpus.parse().expect(line),
        precision: (*precision).to_owned(),
        method: (*method).to_owned(),
        layout: (*layout).to_owned(),
        sequence: number(sequence),
        output: number(output),
        tokens: number(tokens).map(|billions| billions * 1e9),
        quantity: (*quantity).to_owned(),
        published: number(published).expect(line),
        note: note.replace(';', ","),
    }
}
