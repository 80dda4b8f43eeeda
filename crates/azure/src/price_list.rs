//! The Azure Retail Prices API, which asks nobody who they are.

use std::{fmt, sync::Arc};

use azure_core::{Method, Pipeline, Url};
use model::{catalog, units::Region};
use serde_json::Value;

use crate::{
    call::{self, Call, Reply},
    client::{endpoint_of, pipeline_over, way_to},
    counts::RequestCounts,
    credentials::ConnectError,
    error::RequestError,
    paging::{Pages, Sends, Shape},
    settings::{Cloud, Settings},
    transport::ArmTransport,
    versions,
};

const PATH: &str = "/api/retail/prices";
/// The most requests a second to Azure's own API, which names no limit and answers 429 to who
/// asks too often.
const POLITE: u32 = 5;
/// The most pages of one region; they hold 1,000 items each, and the largest have eight.
const MOST_PAGES: usize = 200;
const SHAPE: Shape = Shape {
    items: "Items",
    next: "NextPageLink",
    count: Some("Count"),
};

/// A connection to the price list.
pub struct PriceList {
    endpoint: Url,
    pipeline: Pipeline,
    transport: Arc<ArmTransport>,
}

impl fmt::Debug for PriceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PriceList")
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

impl PriceList {
    /// The price list of the cloud, or of another endpoint. Sends nothing yet.
    ///
    /// # Errors
    /// The endpoint is not acceptable.
    pub fn new(settings: &Settings) -> Result<Self, ConnectError> {
        // Somebody else may have installed a provider already: any will do.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let endpoint = endpoint_of(settings, settings.cloud.price_list())?;
        let way = way_to(settings, &endpoint)?;
        let mut limits = settings.limits;
        if settings.endpoint.is_none() {
            limits.requests_per_second = limits.requests_per_second.or(Some(POLITE));
        }
        let clock = Arc::clone(&settings.clock);
        let transport = ArmTransport::new(way, endpoint.clone(), None, clock, limits);
        let transport = Arc::new(transport);
        let policy: Arc<dyn azure_core::Policy> = transport.clone();
        Ok(Self {
            endpoint,
            pipeline: pipeline_over(policy),
            transport,
        })
    }

    /// Where the list is read, for people.
    pub fn endpoint(&self) -> &str {
        self.endpoint.as_str()
    }

    /// What has been sent so far, retries included.
    pub fn requests(&self) -> RequestCounts {
        self.transport.counts()
    }

    /// Every meter of machines in a region, page by page.
    ///
    /// # Errors
    /// The list cannot be read to its end.
    pub async fn machines(&self, region: &Region) -> Result<Vec<Value>, RequestError> {
        self.list(&format!(
            "serviceName eq '{}' and armRegionName eq '{region}'",
            catalog::MACHINES
        ))
        .await
    }

    /// Every meter of disks, addresses and services in a region, page by page.
    ///
    /// # Errors
    /// The list cannot be read to its end.
    pub async fn items(&self, region: &Region) -> Result<Vec<Value>, RequestError> {
        let products = catalog::PRODUCTS;
        self.list(&format!("armRegionName eq '{region}' and {products}"))
            .await
    }

    /// Every meter of services that have one price everywhere, page by page.
    ///
    /// # Errors
    /// The list cannot be read to its end.
    pub async fn items_everywhere(&self) -> Result<Vec<Value>, RequestError> {
        self.list(catalog::PRODUCTS_EVERYWHERE).await
    }

    /// A few meters, to see whether the list can be read at all.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn sample(&self) -> Result<Vec<Value>, RequestError> {
        self.list("armRegionName eq 'eastus' and armSkuName eq 'Standard_D2s_v5'")
            .await
    }

    async fn list(&self, filter: &str) -> Result<Vec<Value>, RequestError> {
        let query = [
            ("currencyCode", catalog::CURRENCY),
            ("$filter", filter),
            ("api-version", versions::PRICES),
        ];
        let url = call::url_of(&self.endpoint, PATH, &query).map_err(|fault| RequestError {
            method: Method::Get.to_string(),
            target: PATH.to_owned(),
            fault,
        })?;
        let mut items = Vec::new();
        let mut pages = Pages::new(Call::new(Method::Get, url), MOST_PAGES, SHAPE);
        pages.rest(self, &mut items).await?;
        Ok(items)
    }
}

impl Sends for PriceList {
    async fn send(&self, call: &Call) -> Result<Reply, RequestError> {
        call::send(&self.pipeline, call).await
    }
}

impl Cloud {
    /// The address of its price list.
    fn price_list(self) -> Url {
        let text = match self {
            Self::Public | Self::UsGovernment => "https://prices.azure.com",
            Self::China => "https://prices.azure.cn",
        };
        Url::parse(text).expect("the addresses of price lists are constants")
    }
}

#[cfg(test)]
mod tests;
