//! Answers the planner's questions: sizes, quota, images, terms.
//!
//! What Azure refuses to tell is unknown, with the reason; a read that fails is an error, never
//! an answer.

mod batch;
mod image;
mod own_image;
mod placement;
mod policy;
mod proximity;
mod reservation;
mod sizes;
mod subnet;
pub(crate) mod terms;
mod usages;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use model::{
    ids::ArmId,
    live::{
        Answer, Facts, PlacementQuestion, PolicyFact, PolicyQuestion, ProximityGroupFact, Question,
        ReservationGroupFact,
    },
    permissions::Permissions,
    resource::PurchasePlan,
};

use crate::{
    client::Client,
    error::{ReadError, RequestError},
    examine,
    read::explain,
};

/// An answer together with the question.
enum Told {
    Sizes(
        model::units::Region,
        Answer<BTreeMap<model::units::SizeName, model::live::SizeFact>>,
    ),
    Compute(model::units::Region, Answer<Vec<model::live::UsageFact>>),
    Network(model::units::Region, Answer<Vec<model::live::UsageFact>>),
    Image(
        model::live::ImageQuestion,
        Answer<Option<model::live::ImageFact>>,
    ),
    OwnImage(
        model::live::OwnImageQuestion,
        Answer<Option<model::live::ImageFact>>,
    ),
    Namespaces(Answer<BTreeMap<String, String>>),
    Permissions(ArmId, Answer<Permissions>),
    Policy(PolicyQuestion, Answer<Vec<PolicyFact>>),
    SpotPlacement(PlacementQuestion, Answer<Option<String>>),
    Reservations(ArmId, Answer<Option<ReservationGroupFact>>),
    ProximityGroup(ArmId, Answer<Option<ProximityGroupFact>>),
    Terms(PurchasePlan, Answer<model::live::TermsFact>),
    BatchSizes(
        model::units::Region,
        Answer<BTreeSet<model::units::SizeName>>,
    ),
    BatchQuota(ArmId, Answer<Vec<model::live::UsageFact>>),
    Subnet(ArmId, Answer<Option<model::live::SubnetFact>>),
}

/// Answers those of the questions that have no answer yet.
///
/// # Errors
/// A read failed, which says nothing about what was asked.
pub async fn answer(
    client: &Client,
    questions: &[Question],
    facts: &mut Facts,
) -> Result<(), ReadError> {
    let mut open: Vec<&Question> = questions
        .iter()
        .filter(|question| !facts.has(question))
        .collect();
    open.sort_unstable();
    open.dedup();
    let told = join_all(open.into_iter().map(|question| tell(client, question))).await;
    for told in told {
        match told? {
            Told::Sizes(region, answer) => {
                facts.sizes.insert(region, answer);
            }
            Told::Compute(region, answer) => {
                facts.compute_quota.insert(region, answer);
            }
            Told::Network(region, answer) => {
                facts.network_quota.insert(region, answer);
            }
            Told::Image(image, answer) => {
                facts.images.insert(image, answer);
            }
            Told::OwnImage(image, answer) => {
                facts.own_images.insert(image, answer);
            }
            Told::Namespaces(answer) => facts.namespaces = Some(answer),
            Told::Permissions(scope, answer) => {
                facts.permissions.insert(scope, answer);
            }
            Told::Policy(node, answer) => {
                facts.policies.insert(node, answer);
            }
            Told::SpotPlacement(asked, answer) => {
                facts.placements.insert(asked, answer);
            }
            Told::Reservations(group, answer) => {
                facts.reservations.insert(group, answer);
            }
            Told::ProximityGroup(group, answer) => {
                facts.proximity_groups.insert(group, answer);
            }
            Told::Terms(plan, answer) => {
                facts.terms.insert(plan, answer);
            }
            Told::BatchSizes(region, answer) => {
                facts.batch_sizes.insert(region, answer);
            }
            Told::BatchQuota(account, answer) => {
                facts.batch_quota.insert(account, answer);
            }
            Told::Subnet(id, answer) => {
                facts.subnets.insert(id, answer);
            }
        }
    }
    Ok(())
}

async fn tell(client: &Client, question: &Question) -> Result<Told, ReadError> {
    match question {
        Question::Sizes(region) => {
            let found = sizes::read(client, region).await;
            let what = format!("the sizes of `{region}`");
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::Sizes(region.clone(), answer))
        }
        Question::ComputeQuota(region) => {
            let found = usages::read(client, "Microsoft.Compute", region).await;
            let what = format!("the compute quota of `{region}`");
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::Compute(region.clone(), answer))
        }
        Question::NetworkQuota(region) => {
            let found = usages::read(client, "Microsoft.Network", region).await;
            let what = format!("the network quota of `{region}`");
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::Network(region.clone(), answer))
        }
        Question::Image(image) => {
            let found = image::read(client, image).await;
            let what = format!(
                "the image `{}:{}:{}`",
                image.publisher, image.offer, image.sku
            );
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::Image(image.clone(), answer))
        }
        Question::OwnImage(image) => {
            let found = own_image::read(client, image).await;
            let what = format!("the image `{}`", image.id);
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::OwnImage(image.clone(), answer))
        }
        Question::Terms(plan) => of_terms(client, plan).await,
        Question::Namespaces => of_namespaces(client).await,
        Question::Permissions(scope) => of_permissions(client, scope).await,
        Question::Policy(node) => of_policies(client, node).await,
        Question::SpotPlacement(asked) => of_placement(client, asked).await,
        Question::BatchSizes(region) => {
            let found = batch::sizes(client, region).await;
            let what = format!("the sizes of Batch in `{region}`");
            let answer = known_or_untold(client, &what, found).await?;
            Ok(Told::BatchSizes(region.clone(), answer))
        }
        Question::BatchQuota(account) => {
            let found = batch::quota(client, account).await;
            let what = format!("the quota of `{}`", account.name());
            let answer = known_or_refused(client, &what, found).await?;
            Ok(Told::BatchQuota(account.clone(), answer))
        }
        Question::Subnet(id) => of_subnet(client, id).await,
        Question::Reservations(group) => of_reservations(client, group).await,
        Question::ProximityGroup(group) => of_proximity_group(client, group).await,
    }
}

async fn of_namespaces(client: &Client) -> Result<Told, ReadError> {
    let found = examine::namespaces(client).await;
    let answer = known_or_untold(client, "the registered namespaces", found).await?;
    Ok(Told::Namespaces(answer))
}

async fn of_permissions(client: &Client, scope: &ArmId) -> Result<Told, ReadError> {
    let found = examine::permissions(client, scope.as_str()).await;
    let answer = known_or_untold(client, "the permissions", found).await?;
    Ok(Told::Permissions(scope.clone(), answer))
}

async fn of_policies(client: &Client, node: &PolicyQuestion) -> Result<Told, ReadError> {
    let found = policy::read(client, node).await;
    let answer = known_or_untold(client, "the policies", found).await?;
    Ok(Told::Policy(node.clone(), answer))
}

async fn of_placement(client: &Client, asked: &PlacementQuestion) -> Result<Told, ReadError> {
    let found = placement::read(client, asked).await;
    let answer = known_or_untold(client, "the spot placement score", found).await?;
    Ok(Told::SpotPlacement(asked.clone(), answer))
}

async fn of_subnet(client: &Client, id: &ArmId) -> Result<Told, ReadError> {
    let found = subnet::read(client, id).await;
    let what = format!("the network of the subnet `{}`", id.name());
    let answer = known_or_refused(client, &what, found).await?;
    Ok(Told::Subnet(id.clone(), answer))
}

async fn of_reservations(client: &Client, group: &ArmId) -> Result<Told, ReadError> {
    let found = reservation::read(client, group).await;
    let what = format!("the capacity reservation group `{group}`");
    let answer = known_or_refused(client, &what, found).await?;
    Ok(Told::Reservations(group.clone(), answer))
}

async fn of_proximity_group(client: &Client, group: &ArmId) -> Result<Told, ReadError> {
    let found = proximity::read(client, group).await;
    let what = format!("the proximity placement group `{group}`");
    let answer = known_or_refused(client, &what, found).await?;
    Ok(Told::ProximityGroup(group.clone(), answer))
}

async fn of_terms(client: &Client, plan: &PurchasePlan) -> Result<Told, ReadError> {
    let found = terms::read(client, plan).await;
    let what = format!("the terms of `{}:{}`", plan.publisher, plan.product);
    let answer = known_or_refused(client, &what, found).await?;
    Ok(Told::Terms(plan.clone(), answer))
}

/// A refusal is an answer of its own kind; anything else that goes wrong is an error.
async fn known_or_refused<T>(
    client: &Client,
    what: &str,
    found: Result<T, RequestError>,
) -> Result<Answer<T>, ReadError> {
    match found {
        Ok(value) => Ok(Answer::Known(value)),
        Err(error)
            if error
                .arm()
                .is_some_and(|arm| matches!(arm.status, 400 | 403 | 404)) =>
        {
            Ok(Answer::Unknown {
                reason: error.reason(),
            })
        }
        Err(error) => Err(explain(client, what, error).await),
    }
}

/// The same for what only helps to foresee a refusal: whatever Azure says instead, it is unknown.
async fn known_or_untold<T>(
    client: &Client,
    what: &str,
    found: Result<T, RequestError>,
) -> Result<Answer<T>, ReadError> {
    match found {
        Err(error) if error.arm().is_some() => Ok(Answer::Unknown {
            reason: error.reason(),
        }),
        other => known_or_refused(client, what, other).await,
    }
}

#[cfg(test)]
mod tests;
