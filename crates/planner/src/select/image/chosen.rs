//! An image that was chosen: its name, what Azure says of it, and how it stands in resources.

use model::{
    live::{Answer, ImageFact, Question},
    resource::{ImageReference, MarketplaceImage, OwnImage},
    units::CaseInsensitive,
};

use super::choice::{Choice, Name, own_name, question_of};
use crate::select::Context;

impl Choice {
    /// `publisher:offer:sku`, or the id.
    pub(super) fn name(&self) -> String {
        match &self.name {
            Name::Marketplace {
                publisher,
                offer,
                sku,
            } => format!("{publisher}:{offer}:{sku}"),
            Name::Managed(id) | Name::Gallery(id) => id.clone(),
        }
    }

    /// What Azure says of it, where it says something.
    pub(super) fn fact<'a>(&self, context: Context<'a>) -> Option<&'a ImageFact> {
        self.answer(context)?.known()?.as_ref()
    }

    /// The answer about it, where it was asked for.
    pub(super) fn answer<'a>(&self, context: Context<'a>) -> Option<&'a Answer<Option<ImageFact>>> {
        let facts = &context.live.facts;
        if facts.images.is_empty() && facts.own_images.is_empty() {
            return None;
        }
        match question_of(context, self) {
            Question::Image(question) => context.live.facts.images.get(&question),
            Question::OwnImage(question) => context.live.facts.own_images.get(&question),
            Question::Sizes(_)
            | Question::ComputeQuota(_)
            | Question::NetworkQuota(_)
            | Question::Terms(_)
            | Question::Namespaces
            | Question::Permissions(_)
            | Question::Policy(_)
            | Question::SpotPlacement(_)
            | Question::BatchSizes(_)
            | Question::BatchQuota(_)
            | Question::Subnet(_)
            | Question::Reservations(_)
            | Question::ProximityGroup(_) => None,
        }
    }

    pub(super) fn reference(&self, version: String) -> ImageReference {
        match &self.name {
            Name::Marketplace {
                publisher,
                offer,
                sku,
            } => ImageReference::Marketplace(MarketplaceImage {
                publisher: CaseInsensitive::from(publisher.as_str()),
                offer: CaseInsensitive::from(offer.as_str()),
                sku: CaseInsensitive::from(sku.as_str()),
                version,
            }),
            Name::Managed(id) => ImageReference::Own(OwnImage {
                id: id.as_str().into(),
            }),
            Name::Gallery(id) => ImageReference::Own(OwnImage {
                id: CaseInsensitive::new(format!("{id}/versions/{version}")),
            }),
        }
    }

    /// Whether a live node's image is the one this choice stands for, whatever the version
    /// unless the spec pins one.
    pub fn covers(&self, live: &ImageReference) -> bool {
        let version = match live {
            ImageReference::Marketplace(image) => Some(image.version.clone()),
            ImageReference::Own(image) => own_name(image.id.as_str()).1,
        };
        let version = self.pinned.clone().or(version).unwrap_or_default();
        self.reference(version) == *live
    }
}
