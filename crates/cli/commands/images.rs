//! `images`: the catalogue's images.

use model::catalog::Catalog;
use render::images::ImageEntry;

use crate::{app::App, exit::Exit};

/// Lists images.
pub(crate) fn run(app: &App) -> Exit {
    let rows: Vec<ImageEntry<'_>> = Catalog::embedded()
        .images()
        .iter()
        .map(|image| ImageEntry { image, fit: None })
        .collect();
    let text = if app.output.is_json() {
        render::images::json(&rows)
    } else {
        render::images::text(&rows, app.output.stdout)
    };
    app.output.data(&text);
    Exit::Done
}
