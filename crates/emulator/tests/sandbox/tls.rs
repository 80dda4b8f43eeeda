//! The sandbox over https, on the port that it speaks http on.
//!
//! The certificate of these tests is made for localhost, signs for itself, and is used nowhere
//! else; so is its key.

use std::{path::PathBuf, sync::Arc};

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tensorform_emulator::{Options, Tls, TlsError};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

use crate::rig::Rig;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tls")
        .join(name)
}

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(file("cert.pem")).expect("a certificate");
    roots.add(certificate).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn one_port_speaks_http_and_https() {
    let tls = Tls::read(&file("cert.pem"), &file("key.pem")).expect("a pair");
    let rig = Rig::with(|options| Options {
        tls: Some(tls),
        ..options
    })
    .await;
    let path = "/metadata/endpoints?api-version=2022-09-01";
    let plain = rig.try_send("GET", path, &[], None).await;
    let login = "/authentication/loginEndpoint";
    assert_eq!(
        plain.expect("an answer").expect(200).text(login),
        rig.sandbox.endpoint()
    );
    let address = rig.sandbox.endpoint().trim_start_matches("http://");
    let port = address.rsplit(':').next().unwrap_or_default();
    let stream = TcpStream::connect(address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = connector().connect(name, stream).await.expect("trust");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .expect("a handshake");
    let driver = tokio::spawn(connection);
    let request = Request::builder()
        .uri(path)
        .header("host", format!("localhost:{port}"))
        .body(Full::new(Bytes::new()))
        .expect("a request");
    let answer = sender.send_request(request).await.expect("an answer");
    let bytes = answer.into_body().collect().await.expect("a body");
    let body: Value = serde_json::from_slice(&bytes.to_bytes()).expect("JSON");
    assert_eq!(
        body.pointer(login).and_then(Value::as_str),
        Some(format!("https://localhost:{port}").as_str())
    );
    drop(sender);
    let _ = driver.await;
    rig.sandbox.stop().await.expect("an end");
}

#[test]
fn files_that_are_no_pair_are_refused() {
    let error = Tls::read(&file("key.pem"), &file("key.pem")).expect_err("no certificate");
    assert!(
        matches!(
            error,
            TlsError::File {
                what: "certificate",
                ..
            }
        ),
        "{error}"
    );
    let error = Tls::read(&file("cert.pem"), &file("cert.pem")).expect_err("no key");
    assert!(
        matches!(
            error,
            TlsError::File {
                what: "private key",
                ..
            }
        ),
        "{error}"
    );
    let error = Tls::read(&file("absent.pem"), &file("key.pem")).expect_err("no file");
    assert!(
        error
            .to_string()
            .starts_with("cannot read the certificate in `")
    );
}
