//! Vaults and credentials: what is shown of them, and what is not.

use super::{Metadata, MetadataChange, Named, named};
use utoipa::ToSchema;

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<Vault>(),
        named::<VaultList>(),
        named::<VaultWish>(),
        named::<VaultChange>(),
        named::<Credential>(),
        named::<CredentialAuth>(),
        named::<CredentialList>(),
        named::<CredentialWish>(),
        named::<CredentialChange>(),
        named::<CredentialRefresh>(),
        named::<CredentialValidation>(),
        named::<ClientAuth>(),
        named::<HttpResponse>(),
        named::<McpProbe>(),
        named::<RefreshTried>(),
        named::<RefreshWish>(),
        named::<ClientAuthWish>(),
        named::<Secret>(),
    ]
}

#[derive(ToSchema)]
struct Vault {
    #[schema(pattern = "^vlt_")]
    id: String,
    #[schema(pattern = "^vault$")]
    r#type: String,
    display_name: String,
    metadata: Metadata,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[schema(format = DateTime)]
    archived_at: Option<String>,
}

#[derive(ToSchema)]
struct VaultList {
    data: Vec<Vault>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct VaultWish {
    #[schema(min_length = 1, max_length = 256)]
    display_name: String,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct VaultChange {
    #[schema(min_length = 1, max_length = 256)]
    display_name: Option<String>,
    metadata: Option<MetadataChange>,
}

/// How it authenticates; never the secret.
#[derive(ToSchema)]
struct CredentialAuth {
    #[schema(pattern = "^(static_bearer|mcp_oauth)$")]
    r#type: String,
    mcp_server_url: String,
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    refresh: Option<CredentialRefresh>,
}

/// How its access token is renewed; never with what.
#[derive(ToSchema)]
struct CredentialRefresh {
    token_endpoint: String,
    client_id: String,
    scope: Option<String>,
    resource: Option<String>,
    token_endpoint_auth: ClientAuth,
}

#[derive(ToSchema)]
struct ClientAuth {
    #[schema(pattern = "^(none|client_secret_basic|client_secret_post)$")]
    r#type: String,
}

/// Whether it opens its server, and what failed if it does not.
#[derive(ToSchema)]
struct CredentialValidation {
    #[schema(pattern = "^vault_credential_validation$")]
    r#type: String,
    credential_id: String,
    vault_id: String,
    #[schema(format = DateTime)]
    validated_at: String,
    has_refresh_token: bool,
    #[schema(pattern = "^(valid|invalid|unknown)$")]
    status: String,
    mcp_probe: Option<McpProbe>,
    refresh: Option<RefreshTried>,
}

#[derive(ToSchema)]
struct McpProbe {
    method: String,
    http_response: Option<HttpResponse>,
}

#[derive(ToSchema)]
struct RefreshTried {
    #[schema(pattern = "^(succeeded|failed|connect_error|no_refresh_token)$")]
    status: String,
    http_response: Option<HttpResponse>,
}

/// What was answered, without what is secret.
#[derive(ToSchema)]
struct HttpResponse {
    status_code: u16,
    content_type: String,
    body: String,
    body_truncated: bool,
}

#[derive(ToSchema)]
struct Credential {
    #[schema(pattern = "^vcrd_")]
    id: String,
    #[schema(pattern = "^vault_credential$")]
    r#type: String,
    vault_id: String,
    auth: CredentialAuth,
    display_name: Option<String>,
    metadata: Metadata,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[schema(format = DateTime)]
    archived_at: Option<String>,
}

#[derive(ToSchema)]
struct CredentialList {
    data: Vec<Credential>,
    next_page: Option<String>,
}

/// How an access token is renewed. Where and by whom cannot be changed later.
#[derive(ToSchema)]
struct RefreshWish {
    #[schema(max_length = 2048)]
    token_endpoint: Option<String>,
    #[schema(min_length = 1, max_length = 1024)]
    client_id: Option<String>,
    #[schema(max_length = 4096)]
    scope: Option<String>,
    #[schema(max_length = 2048)]
    resource: Option<String>,
    #[schema(max_length = 16_384)]
    refresh_token: Option<String>,
    token_endpoint_auth: Option<ClientAuthWish>,
}

#[derive(ToSchema)]
struct ClientAuthWish {
    #[schema(pattern = "^(none|client_secret_basic|client_secret_post)$")]
    r#type: String,
    #[schema(max_length = 16_384)]
    client_secret: Option<String>,
}

/// `token` with `static_bearer`; `access_token`, `expires_at` and `refresh` with `mcp_oauth`.
#[derive(ToSchema)]
struct Secret {
    #[schema(pattern = "^(static_bearer|mcp_oauth)$")]
    r#type: String,
    #[schema(max_length = 2048)]
    mcp_server_url: Option<String>,
    #[schema(max_length = 16_384)]
    token: Option<String>,
    #[schema(max_length = 16_384)]
    access_token: Option<String>,
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    refresh: Option<RefreshWish>,
}

#[derive(ToSchema)]
struct CredentialWish {
    auth: Secret,
    #[schema(max_length = 256)]
    display_name: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct CredentialChange {
    auth: Option<Secret>,
    #[schema(max_length = 256)]
    display_name: Option<String>,
    metadata: Option<MetadataChange>,
}
