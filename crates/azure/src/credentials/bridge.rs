//! One token for all: a credential of the current SDK generation, cached, in the form that the
//! frozen Resource Manager clients ask for.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use azure_core::auth::AccessToken;
use azure_core1::credentials::TokenCredential as CurrentCredential;
use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;

/// A token with less time left than this is renewed: it must outlive the request it is put on.
const MARGIN: Duration = Duration::minutes(5);

/// A credential with a cache. Callers wait for one another, so that a thousand steps that start
/// at once ask for one token.
#[derive(Debug)]
pub(crate) struct Bridge {
    credential: Arc<dyn CurrentCredential>,
    tokens: Mutex<BTreeMap<String, AccessToken>>,
}

impl Bridge {
    /// A bridge to this credential.
    pub(crate) fn new(credential: Arc<dyn CurrentCredential>) -> Self {
        Self {
            credential,
            tokens: Mutex::default(),
        }
    }
}

#[async_trait]
impl azure_core::auth::TokenCredential for Bridge {
    async fn get_token(&self, scopes: &[&str]) -> azure_core::Result<AccessToken> {
        // Held while the token is fetched: that is what makes one request of many.
        let mut tokens = self.tokens.lock().await;
        let key = scopes.join(" ");
        let still_good =
            |token: &&AccessToken| token.expires_on - OffsetDateTime::now_utc() > MARGIN;
        if let Some(token) = tokens.get(&key).filter(still_good) {
            return Ok(token.clone());
        }
        let fetched = self.credential.get_token(scopes, None).await;
        let fetched = fetched.map_err(|error| {
            azure_core::Error::new(azure_core::error::ErrorKind::Credential, error)
        })?;
        let token = AccessToken::new(fetched.token.secret().to_owned(), fetched.expires_on);
        tokens.insert(key, token.clone());
        Ok(token)
    }

    async fn clear_cache(&self) -> azure_core::Result<()> {
        self.tokens.lock().await.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use azure_core::auth::TokenCredential;
    use azure_core1::credentials::TokenRequestOptions;

    use super::*;

    /// Counts how often it is asked, and gives tokens that live this long.
    #[derive(Debug)]
    struct Counting {
        asked: AtomicUsize,
        lives: Duration,
    }

    #[async_trait]
    impl CurrentCredential for Counting {
        async fn get_token(
            &self,
            _scopes: &[&str],
            _options: Option<TokenRequestOptions<'_>>,
        ) -> azure_core1::Result<azure_core1::credentials::AccessToken> {
            let number = self.asked.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Ok(azure_core1::credentials::AccessToken::new(
                format!("token {number}"),
                OffsetDateTime::now_utc() + self.lives,
            ))
        }
    }

    fn bridge(lives: Duration) -> (Arc<Counting>, Bridge) {
        let credential = Arc::new(Counting {
            asked: AtomicUsize::new(0),
            lives,
        });
        (Arc::clone(&credential), Bridge::new(credential))
    }

    #[tokio::test]
    async fn many_callers_share_one_fetch() {
        let (credential, bridge) = bridge(Duration::hours(1));
        let calls = (0..50).map(|_| bridge.get_token(&["scope"]));
        for token in futures::future::join_all(calls).await {
            assert_eq!(token.expect("a token").token.secret(), "token 0");
        }
        assert_eq!(credential.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_token_that_ends_soon_or_was_refused_is_renewed() {
        let (credential, bridge) = bridge(Duration::minutes(4));
        for _ in 0..2 {
            bridge.get_token(&["scope"]).await.expect("a token");
        }
        assert_eq!(credential.asked.load(Ordering::SeqCst), 2);
        let (credential, bridge) = self::bridge(Duration::hours(1));
        bridge.get_token(&["scope"]).await.expect("a token");
        bridge.clear_cache().await.expect("no error");
        bridge.get_token(&["scope"]).await.expect("a token");
        assert_eq!(credential.asked.load(Ordering::SeqCst), 2);
    }
}
