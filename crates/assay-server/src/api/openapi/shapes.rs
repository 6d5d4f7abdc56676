//! The shapes of what is taken and given. Only their form counts: nothing is ever made of them.
#![expect(dead_code, reason = "what is read of these types is their form")]

mod library;
mod secrets;
mod work;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// Notes of clients.
struct Metadata;

/// Changes of notes: null takes one away.
struct MetadataChange;

/// An object whose form is not told here.
struct Free;

fn map_of(value: impl Into<SchemaType>) -> RefOr<Schema> {
    let value = ObjectBuilder::new().schema_type(value);
    let more = Some(AdditionalProperties::RefOr(value.into()));
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(more).into()
}

impl PartialSchema for Metadata {
    fn schema() -> RefOr<Schema> {
        map_of(Type::String)
    }
}

impl PartialSchema for MetadataChange {
    fn schema() -> RefOr<Schema> {
        map_of(SchemaType::from_iter([Type::String, Type::Null]))
    }
}

impl PartialSchema for Free {
    fn schema() -> RefOr<Schema> {
        let more = Some(AdditionalProperties::FreeForm(true));
        ObjectBuilder::new().schema_type(Type::Object).additional_properties(more).into()
    }
}

impl ToSchema for Metadata {}
impl ToSchema for MetadataChange {}
impl ToSchema for Free {}

/// A shape under its name.
type Named = (String, RefOr<Schema>);

fn named<T: ToSchema>() -> Named {
    (T::name().into_owned(), <T as PartialSchema>::schema())
}

/// All shapes.
pub fn all() -> Vec<Named> {
    let own = [
        named::<Free>(),
        named::<Metadata>(),
        named::<MetadataChange>(),
        named::<Health>(),
        named::<Deleted>(),
    ];
    own.into_iter().chain(work::all()).chain(library::all()).chain(secrets::all()).collect()
}

#[derive(ToSchema)]
struct Health {
    #[schema(pattern = "^ok$")]
    status: String,
}

#[derive(ToSchema)]
struct Deleted {
    id: String,
    #[schema(pattern = "_deleted$")]
    r#type: String,
}
