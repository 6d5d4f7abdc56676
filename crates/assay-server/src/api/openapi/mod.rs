//! `GET /openapi.json`: what this server serves, in the words of OpenAPI.
//!
//! The table of routes decides which operations there are, so that the document has all of them and
//! no other; `pages` says what each takes and gives, `shapes` what that looks like. Objects are
//! closed: a field that is not in the document is refused in requests, and not in answers.

mod pages;
mod shapes;

use super::routes::{Gate, ROUTES, Route};
use pages::{Answer, PAGES, Page, Takes};
use serde_json::Value;
use std::sync::LazyLock;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, Content, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, Paths, Ref,
    RefOr, Required, SecurityRequirement,
};

const JSON: &str = "application/json";
/// What every route with a key may answer besides 200.
const ERRORS: [u16; 7] = [400, 401, 404, 408, 413, 429, 529];
const INVALID: &str = "invalid_request_error";
/// The type of each error, and what it means.
const MEANINGS: [(u16, &str, &str); 8] = [
    (400, INVALID, "Something about the request is wrong; the message says what"),
    (401, "authentication_error", "No key, a wrong one or a revoked one"),
    (404, "not_found_error", "No such thing for this caller, or a beta header is missing"),
    (408, INVALID, "The body took too long"),
    (409, INVALID, "It does not fit to what is there; `x-should-retry` is false"),
    (
        413,
        "request_too_large",
        "The body, or a file in it, is larger than this route takes; or what was asked for would \
         make a record that is larger than can be kept. The message says which, and nothing was \
         done",
    ),
    (
        429,
        "rate_limit_error",
        "The workspace has too much of something; `retry-after` says when to try again",
    ),
    (
        529,
        "overloaded_error",
        "The server has too much of something; `retry-after` says when to try again",
    ),
];

/// The document. It is made once.
pub fn document() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut document = serde_json::to_value(describe()).expect("a description is JSON");
        let shapes = &mut document["components"]["schemas"];
        close_objects(shapes);
        document.to_string()
    });
    &TEXT
}

fn describe() -> OpenApi {
    let mut paths = Paths::new();
    for route in &ROUTES {
        let Some(page) = PAGES.iter().find(|page| page.endpoint == route.endpoint) else {
            continue;
        };
        let method = match route.method {
            "POST" => HttpMethod::Post,
            "DELETE" => HttpMethod::Delete,
            _ => HttpMethod::Get,
        };
        paths.add_path_operation(route.path, vec![method], operation(route, page));
    }
    let header = |name: &str| SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(name)));
    let components = shapes::all()
        .into_iter()
        .fold(ComponentsBuilder::new(), |all, (name, shape)| all.schema(name, shape));
    let components = MEANINGS.iter().fold(components, |all, (status, kind, what)| {
        all.schema(format!("Error{status}Reply"), error_shape(kind))
            .response(format!("Error{status}"), error(*status, what))
    });
    let components = components
        .security_scheme("key", header("x-api-key"))
        .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    let description = "Agent sessions over REST and server-sent events.";
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("assay serve")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(description))
                .build(),
        )
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

fn operation(route: &Route, page: &Page) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(format!("{:?}", route.endpoint)))
        .summary(Some(page.summary))
        .request_body(request_body(page.takes))
        .response("200", answer(page.answer));
    for part in route.path.split('/').filter_map(|part| part.strip_prefix('{')) {
        let name = part.trim_end_matches('}');
        operation = operation.parameter(parameter(name, ParameterIn::Path, Required::True));
    }
    for name in page.query {
        operation = operation.parameter(parameter(name, ParameterIn::Query, Required::False));
    }
    for name in page.headers {
        operation = operation.parameter(parameter(name, ParameterIn::Header, Required::False));
    }
    if matches!(route.gate, Gate::Open | Gate::Local) {
        return may_fail(operation, &[404]);
    }
    let version = parameter("anthropic-version", ParameterIn::Header, Required::True);
    operation = operation
        .parameter(version)
        .security(SecurityRequirement::new("key", [""; 0]))
        .security(SecurityRequirement::new("bearer", [""; 0]));
    if route.gate == Gate::Managed {
        let beta = parameter("anthropic-beta", ParameterIn::Header, Required::True);
        operation = operation.parameter(beta);
    }
    if page.conflicts {
        operation = may_fail(operation, &[409]);
    }
    may_fail(operation, &ERRORS)
}

fn may_fail(operation: OperationBuilder, statuses: &[u16]) -> OperationBuilder {
    statuses.iter().fold(operation, |operation, status| {
        let error = Ref::from_response_name(format!("Error{status}"));
        operation.response(status.to_string(), error)
    })
}

fn parameter(name: &str, place: ParameterIn, required: Required) -> Parameter {
    let kind = |kind: Type| ObjectBuilder::new().schema_type(kind);
    let text = kind(Type::String);
    let schema: Schema = match name {
        "limit" => kind(Type::Integer).minimum(Some(1)).into(),
        "version" | "agent_version" => kind(Type::Integer).minimum(Some(1)).into(),
        "order" => text.enum_values(Some(["asc", "desc"])).into(),
        "include_archived" => kind(Type::Boolean).into(),
        "anthropic-version" => text.enum_values(Some(["2023-06-01", "2026-10-21"])).into(),
        "anthropic-beta" => text.enum_values(Some([super::serve::MANAGED_BETA])).into(),
        "lifecycle[]" => {
            let stage = text.enum_values(Some(["active", "deprecated", "retired"]));
            ArrayBuilder::new().items(stage).into()
        }
        "statuses[]" | "types[]" | "ids[]" => ArrayBuilder::new().items(text).into(),
        name if name.starts_with("created_at") => text
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(
                utoipa::openapi::KnownFormat::DateTime,
            )))
            .into(),
        _ => text.min_length(Some(1)).into(),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .build()
}

fn request_body(takes: Takes) -> Option<RequestBody> {
    let (content_type, name) = match takes {
        Takes::Nothing => return None,
        Takes::Json(name) => (JSON, name),
        Takes::Parts(name) => ("multipart/form-data", name),
    };
    let content = Content::new(Some(Ref::from_schema_name(name)));
    let body = RequestBodyBuilder::new().content(content_type, content);
    Some(body.required(Some(Required::True)).build())
}

fn answer(answer: Answer) -> Response {
    let (content_type, schema): (&str, RefOr<Schema>) = match answer {
        Answer::Json(name) => (JSON, Ref::from_schema_name(name).into()),
        Answer::Either(names) => {
            let either = names.iter().fold(OneOfBuilder::new(), |either, name| {
                either.item(Ref::from_schema_name(*name))
            });
            (JSON, RefOr::T(either.into()))
        }
        Answer::Object => (JSON, RefOr::T(ObjectBuilder::new().schema_type(Type::Object).into())),
        Answer::Other(content_type) => {
            (content_type, RefOr::T(ObjectBuilder::new().schema_type(Type::String).into()))
        }
    };
    ResponseBuilder::new()
        .description("What was asked for")
        .content(content_type, Content::new(Some(schema)))
        .build()
}

fn error(status: u16, description: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name(format!("Error{status}Reply"))));
    ResponseBuilder::new().description(description).content(JSON, content).build()
}

/// The envelope of an error of this type.
fn error_shape(kind: &str) -> Schema {
    let object = || ObjectBuilder::new().schema_type(Type::Object);
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let one = |value: &str| text().enum_values(Some([value]));
    let detail = object()
        .property("type", one(kind))
        .required("type")
        .property("message", text())
        .required("message");
    let reply = object()
        .property("type", one("error"))
        .required("type")
        .property("error", detail)
        .required("error")
        .property("request_id", text().pattern(Some("^req_")))
        .required("request_id");
    reply.into()
}

/// Objects with named fields have no others, unless they say so.
fn close_objects(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".into(), false.into());
            }
            fields.values_mut().for_each(close_objects);
        }
        Value::Array(values) => values.iter_mut().for_each(close_objects),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_document_has_every_route_and_no_other_and_every_name_leads_somewhere() {
        let document: Value = serde_json::from_str(document()).expect("JSON");
        let paths = document["paths"].as_object().expect("paths");
        let methods = |(path, item): (&String, &Value)| {
            let methods = item.as_object().expect("methods").keys();
            methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
        };
        let documented: BTreeSet<(String, String)> = paths.iter().flat_map(methods).collect();
        let registered: BTreeSet<(String, String)> =
            ROUTES.iter().map(|r| (r.method.to_string(), r.path.to_string())).collect();
        assert_eq!(documented, registered);
        let mut named = BTreeSet::new();
        names(&document, &mut named);
        let components = ["schemas", "responses"].iter().flat_map(|kind| {
            let named = document["components"][kind].as_object().expect("named things");
            named.keys().map(move |name| format!("{kind}/{name}"))
        });
        let components: BTreeSet<String> = components.collect();
        assert_eq!(named, components, "each is there, and each is used");
    }

    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(name)) = fields.get("$ref") {
                    let name = name.strip_prefix("#/components/").expect("of this document");
                    found.insert(name.to_string());
                }
                fields.values().for_each(|value| names(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
}
