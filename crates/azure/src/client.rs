//! The client: one pipeline, the typed Compute client on it, and raw calls for everything else.

use std::{fmt, sync::Arc};

use azure_core::{
    ClientOptions, Method, Pipeline, RetryOptions, TelemetryOptions, TransportOptions, Url,
    auth::TokenCredential,
};
use azure_mgmt_compute::package_2024_07_01 as compute;
use model::ids::ArmId;
use serde_json::Value;

use crate::{
    call::{self, Call, MachineAction, MachineCall, Reply},
    carrier::Way,
    clock::Clock,
    counts::RequestCounts,
    credentials::{self, Bridge, Chosen, ConnectError},
    error::{RequestError, RequestFault},
    lro::drive::Polls,
    paging::{OF_ARM, Pages, Sends},
    settings::{Limits, Settings},
    transport::{ArmTransport, REQUEST_ID, check_scheme},
    versions,
};

/// A connection to one subscription of one Azure Resource Manager.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Url,
    subscription: String,
    credential_name: String,
    pipeline: Pipeline,
    compute: compute::Client,
    transport: Arc<ArmTransport>,
    clock: Arc<dyn Clock>,
    polls: Arc<Polls>,
    limits: Limits,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.inner.endpoint.as_str())
            .field("subscription", &self.inner.subscription)
            .field("credential", &self.inner.credential_name)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Finds a credential that works and the subscription to use.
    ///
    /// # Errors
    /// No credential works, the endpoint is not acceptable, or the subscription is not clear.
    pub async fn connect(settings: Settings) -> Result<Self, ConnectError> {
        // Somebody else may have installed a provider already: any will do.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let endpoint = endpoint_of(&settings, settings.cloud.endpoint())?;
        let way = way_to(&settings, &endpoint)?;
        let chosen = credentials::choose(&settings).await?;
        let unbound = Self::over(settings.clone(), endpoint, way, chosen);
        let subscription = match &settings.subscription {
            Some(subscription) => subscription.clone(),
            None => credentials::subscription_of(&settings, &unbound).await?,
        };
        tracing::debug!(
            credential = unbound.credential_name(),
            subscription,
            "connected"
        );
        Ok(unbound.for_subscription(subscription))
    }

    fn over(settings: Settings, endpoint: Url, way: Way, chosen: Chosen) -> Self {
        let bridge = Arc::new(Bridge::new(chosen.credential));
        let scope = settings.cloud.scope();
        let transport = Arc::new(ArmTransport::new(
            way,
            endpoint.clone(),
            Some((Arc::clone(&bridge), scope.clone())),
            Arc::clone(&settings.clock),
            settings.limits,
        ));
        let policy: Arc<dyn azure_core::Policy> = transport.clone();
        let options = options_over(policy);
        let credential: Arc<dyn TokenCredential> = bridge;
        let typed =
            compute::Client::new(endpoint.clone(), credential, vec![scope], options.clone());
        let pipeline = pipeline_of(options);
        Self {
            inner: Arc::new(Inner {
                endpoint,
                subscription: String::new(),
                credential_name: chosen.name,
                pipeline,
                compute: typed,
                transport,
                clock: settings.clock,
                polls: Arc::default(),
                limits: settings.limits,
            }),
        }
    }

    fn for_subscription(self, subscription: String) -> Self {
        let Inner {
            endpoint,
            credential_name,
            pipeline,
            compute,
            transport,
            clock,
            polls,
            limits,
            subscription: _,
        } = &*self.inner;
        Self {
            inner: Arc::new(Inner {
                endpoint: endpoint.clone(),
                subscription,
                credential_name: credential_name.clone(),
                pipeline: pipeline.clone(),
                compute: compute.clone(),
                transport: Arc::clone(transport),
                clock: Arc::clone(clock),
                polls: Arc::clone(polls),
                limits: *limits,
            }),
        }
    }

    /// The subscription's id.
    pub fn subscription(&self) -> &str {
        &self.inner.subscription
    }

    /// The name of the credential that works.
    pub fn credential_name(&self) -> &str {
        &self.inner.credential_name
    }

    /// The address of the Resource Manager.
    pub fn endpoint(&self) -> &str {
        self.inner.endpoint.as_str()
    }

    /// What has been sent so far, retries included; token requests are not among it.
    pub fn requests(&self) -> RequestCounts {
        self.inner.transport.counts()
    }

    /// The clock that polls wait on.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The budget of polls.
    pub(crate) fn polls(&self) -> &Polls {
        &self.inner.polls
    }

    /// Sends a call.
    pub(crate) async fn send(&self, call: &Call) -> Result<Reply, RequestError> {
        let Some(typed) = &call.typed else {
            return call::send(&self.inner.pipeline, call).await;
        };
        let id = call.client_request_id.clone();
        let sent = REQUEST_ID.scope(id, self.send_typed(typed)).await;
        sent.map_err(|fault| RequestError {
            method: call.method.to_string(),
            target: call.url.path().to_owned(),
            fault,
        })
    }

    /// Sends a call on a VM with the typed client. It is only sent: awaiting such a call would
    /// send the write again instead of polling.
    async fn send_typed(&self, call: &MachineCall) -> Result<Reply, RequestFault> {
        let machines = self.inner.compute.virtual_machines_client();
        let (group, name) = (call.id.group().unwrap_or_default(), call.id.name());
        let subscription = call.id.subscription().unwrap_or_default();
        let response = match call.action {
            MachineAction::Deallocate => {
                let request = machines.deallocate(group, name, subscription);
                request.send().await.map(azure_mgmt_compute::package_2024_07_01::virtual_machines::deallocate::Response::into_raw_response)
            }
            MachineAction::Start => {
                let request = machines.start(group, name, subscription);
                request.send().await.map(azure_mgmt_compute::package_2024_07_01::virtual_machines::start::Response::into_raw_response)
            }
            MachineAction::Reapply => {
                let request = machines.reapply(group, name, subscription);
                request.send().await.map(azure_mgmt_compute::package_2024_07_01::virtual_machines::reapply::Response::into_raw_response)
            }
            MachineAction::Delete => {
                let request = machines.delete(group, name, subscription);
                request.send().await.map(azure_mgmt_compute::package_2024_07_01::virtual_machines::delete::Response::into_raw_response)
            }
        };
        call::read(response.map_err(call::fault_of)?).await
    }

    /// A call on a VM.
    pub(crate) fn machine_call(
        &self,
        action: MachineAction,
        id: &ArmId,
    ) -> Result<Call, RequestError> {
        let (method, below) = action.request();
        let query = [("api-version", versions::COMPUTE)];
        let mut call = self.call_at(method, &format!("{id}{below}"), &query)?;
        call.typed = Some(MachineCall {
            action,
            id: id.clone(),
        });
        Ok(call)
    }

    /// A call on a resource, with the version of its type's API.
    pub(crate) fn call_on(&self, method: Method, id: &ArmId) -> Result<Call, RequestError> {
        let version = versions::of_type(&id.resource_type());
        let url = call::resource_url(&self.inner.endpoint, id, version);
        Self::call_to(method, url, id.as_str())
    }

    /// A call on a path, such as a collection.
    pub(crate) fn call_at(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Call, RequestError> {
        Self::call_to(
            method,
            call::url_of(&self.inner.endpoint, path, query),
            path,
        )
    }

    fn call_to(
        method: Method,
        url: Result<Url, RequestFault>,
        target: &str,
    ) -> Result<Call, RequestError> {
        url.map(|url| Call::new(method, url))
            .map_err(|fault| RequestError {
                method: method.to_string(),
                target: target.to_owned(),
                fault,
            })
    }

    /// Reads a resource; `None` where it is absent.
    pub(crate) async fn get(&self, id: &ArmId) -> Result<Option<Reply>, RequestError> {
        absent_as_none(self.send(&self.call_on(Method::Get, id)?).await)
    }

    /// How much faster than time the clock of a sandbox runs; 1 where nobody says.
    pub async fn pace(&self) -> f64 {
        let about = self.call_at(Method::Get, "/sandbox", &[]);
        let Ok(about) = about else { return 1.0 };
        let told = self.send(&about).await.ok();
        let told = told.and_then(|told| told.body.get("speed")?.as_f64());
        told.filter(|speed| speed.is_finite() && *speed >= 0.001)
            .unwrap_or(1.0)
    }

    /// Reads all pages of a list. A collection that is absent is an error that says so.
    pub(crate) async fn list(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, RequestError> {
        let mut items = Vec::new();
        let mut pages = self.pages(self.call_at(Method::Get, path, query)?);
        pages.rest(self, &mut items).await?;
        Ok(items)
    }

    /// What of each item of a list is looked at: the rest of a page is dropped before the next.
    pub(crate) async fn list_of<T>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        of: impl Fn(Value) -> Option<T>,
    ) -> Result<Vec<T>, RequestError> {
        let mut found = Vec::new();
        let mut pages = self.pages(self.call_at(Method::Get, path, query)?);
        while !pages.is_at_end() {
            let mut page = Vec::new();
            pages.page(self, &mut page).await?;
            found.extend(page.into_iter().filter_map(&of));
        }
        Ok(found)
    }

    /// A list to be read page by page.
    pub(crate) fn pages(&self, first: Call) -> Pages {
        Pages::new(first, self.inner.limits.pages, OF_ARM)
    }
}

impl Sends for Client {
    async fn send(&self, call: &Call) -> Result<Reply, RequestError> {
        Self::send(self, call).await
    }
}

/// What typed clients and raw calls share: everything but sending is left to the transport.
fn options_over(transport: Arc<dyn azure_core::Policy>) -> ClientOptions {
    ClientOptions::new(TransportOptions::new_custom_policy(transport))
        .retry(RetryOptions::none())
        .telemetry(
            TelemetryOptions::default()
                .application_id(format!("tensorform/{}", env!("CARGO_PKG_VERSION"))),
        )
}

fn pipeline_of(options: ClientOptions) -> Pipeline {
    Pipeline::new(
        Some("tensorform"),
        Some(env!("CARGO_PKG_VERSION")),
        options,
        Vec::new(),
        Vec::new(),
    )
}

/// A pipeline for raw calls over a transport.
pub(crate) fn pipeline_over(transport: Arc<dyn azure_core::Policy>) -> Pipeline {
    pipeline_of(options_over(transport))
}

/// The answer, or `None` where the resource is absent.
pub(crate) fn absent_as_none(
    result: Result<Reply, RequestError>,
) -> Result<Option<Reply>, RequestError> {
    match result {
        Ok(reply) => Ok(Some(reply)),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The endpoint that the settings name, or else the one that is usual.
pub(crate) fn endpoint_of(settings: &Settings, usual: Url) -> Result<Url, ConnectError> {
    let Some(text) = &settings.endpoint else {
        return Ok(usual);
    };
    let wrong = |reason: String| ConnectError::Endpoint {
        endpoint: text.clone(),
        reason,
    };
    let url = Url::parse(text).map_err(|error| {
        wrong(format!(
            "expected an address such as `https://HOST`: {error}"
        ))
    })?;
    if !matches!(url.scheme(), "https" | "http") {
        let found = url.scheme();
        return Err(wrong(format!(
            "expected an address such as `https://HOST`, found one of `{found}`"
        )));
    }
    check_scheme(&url).map_err(|fault| wrong(fault.to_string()))?;
    if !matches!(url.path(), "" | "/") || url.query().is_some() {
        return Err(wrong(
            "expected an address without a path, which the Azure SDK would drop".to_owned(),
        ));
    }
    Ok(url)
}

/// How requests of a client travel.
pub(crate) fn way_to(settings: &Settings, endpoint: &Url) -> Result<Way, ConnectError> {
    if let Some(carrier) = &settings.carrier {
        return Ok(Way::Hand(Arc::clone(carrier)));
    }
    let builder = reqwest::Client::builder()
        .connect_timeout(settings.limits.connect_timeout)
        .redirect(reqwest::redirect::Policy::none());
    // Plain http is only for this machine, where a proxy has no business, and certificates, which
    // take longer to read than all else here, are of no use.
    let builder = match endpoint.scheme() {
        "http" => builder.no_proxy().tls_certs_only([]),
        _ => builder,
    };
    builder
        .build()
        .map(Way::Network)
        .map_err(ConnectError::Http)
}
