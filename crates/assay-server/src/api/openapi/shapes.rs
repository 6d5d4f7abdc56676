//! The shapes of what is taken and given. Only their form counts: nothing is ever made of them.
#![expect(dead_code, reason = "what is read of these types is their form")]

mod agents;
mod content;
mod events;
mod library;
mod secrets;
mod work;

use utoipa::openapi::schema::{
    AdditionalProperties, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Notes of clients.
struct Metadata;

/// Changes of notes: null takes one away.
struct MetadataChange;

/// An object whose form is told by others: by tools, or by JSON Schema.
struct Open;

/// Always null: a field of the contract that means nothing here.
struct Nothing;

/// One of these shapes.
macro_rules! one_of {
    ($(#[$about:meta])* $name:ident: $($item:ident),+ $(,)?) => {
        $(#[$about])*
        pub(super) struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let shapes = utoipa::openapi::schema::OneOfBuilder::new();
                $(let shapes = shapes.item(super::reference::<$item>());)+
                shapes.into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}
use one_of;

fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

/// The id of something, or an object that says more about it.
fn id_or<T: ToSchema>() -> RefOr<Schema> {
    let id = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    OneOfBuilder::new().item(id.max_length(Some(256))).item(reference::<T>()).into()
}

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

impl PartialSchema for Open {
    fn schema() -> RefOr<Schema> {
        let more = Some(AdditionalProperties::FreeForm(true));
        ObjectBuilder::new().schema_type(Type::Object).additional_properties(more).into()
    }
}

impl PartialSchema for Nothing {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Null).into()
    }
}

impl ToSchema for Metadata {}
impl ToSchema for MetadataChange {}
impl ToSchema for Open {}
impl ToSchema for Nothing {}

/// A shape under its name.
type Named = (String, RefOr<Schema>);

fn named<T: ToSchema>() -> Named {
    (T::name().into_owned(), <T as PartialSchema>::schema())
}

/// All shapes.
pub fn all() -> Vec<Named> {
    let own = [
        named::<Open>(),
        named::<Nothing>(),
        named::<Metadata>(),
        named::<MetadataChange>(),
        named::<Health>(),
        named::<Deleted>(),
    ];
    let others =
        [agents::all(), content::all(), events::all(), library::all(), secrets::all(), work::all()];
    own.into_iter().chain(others.into_iter().flatten()).collect()
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
