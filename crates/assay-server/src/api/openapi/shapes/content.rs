//! Blocks of content.

use super::{Named, named, one_of};
use utoipa::ToSchema;

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<TextBlock>(),
        named::<ImageBlock>(),
        named::<DocumentBlock>(),
        named::<SearchResultBlock>(),
        named::<SearchResultCitations>(),
        named::<MessageBlock>(),
        named::<ResultBlock>(),
        named::<ImageSource>(),
        named::<DocumentSource>(),
        named::<Base64Image>(),
        named::<Base64Document>(),
        named::<PlainText>(),
        named::<UrlSource>(),
        named::<FileSource>(),
    ]
}

one_of!(
    /// What messages have.
    MessageBlock: TextBlock, ImageBlock, DocumentBlock
);

one_of!(
    /// What results of tools have.
    ResultBlock: TextBlock, ImageBlock, DocumentBlock, SearchResultBlock
);

/// More than white space.
#[derive(ToSchema)]
pub(super) struct TextBlock {
    #[schema(pattern = "^text$")]
    r#type: String,
    #[schema(pattern = r"\S")]
    text: String,
}

#[derive(ToSchema)]
struct ImageBlock {
    #[schema(pattern = "^image$")]
    r#type: String,
    source: ImageSource,
}

#[derive(ToSchema)]
struct DocumentBlock {
    #[schema(pattern = "^document$")]
    r#type: String,
    source: DocumentSource,
    title: Option<String>,
    context: Option<String>,
}

#[derive(ToSchema)]
struct SearchResultBlock {
    #[schema(pattern = "^search_result$")]
    r#type: String,
    #[schema(pattern = r"\S")]
    source: String,
    title: String,
    citations: SearchResultCitations,
    content: Vec<TextBlock>,
}

#[derive(ToSchema)]
struct SearchResultCitations {
    enabled: bool,
}

one_of!(
    /// Where an image is.
    ImageSource: Base64Image, UrlSource, FileSource
);

one_of!(
    /// Where a document is.
    DocumentSource: Base64Document, PlainText, UrlSource, FileSource
);

#[derive(ToSchema)]
struct Base64Image {
    #[schema(pattern = "^base64$")]
    r#type: String,
    #[schema(pattern = "^image/(png|jpeg|gif|webp)$")]
    media_type: String,
    #[schema(
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$"
    )]
    data: String,
}

#[derive(ToSchema)]
struct Base64Document {
    #[schema(pattern = "^base64$")]
    r#type: String,
    #[schema(pattern = "^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}$")]
    media_type: String,
    #[schema(
        pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$"
    )]
    data: String,
}

#[derive(ToSchema)]
struct PlainText {
    #[schema(pattern = "^text$")]
    r#type: String,
    #[schema(pattern = "^text/plain$")]
    media_type: String,
    #[schema(pattern = r"\S")]
    data: String,
}

#[derive(ToSchema)]
struct UrlSource {
    #[schema(pattern = "^url$")]
    r#type: String,
    #[schema(pattern = "^https?://[^/\\s]", max_length = 2048)]
    url: String,
}

/// A file of the workspace.
#[derive(ToSchema)]
struct FileSource {
    #[schema(pattern = "^file$")]
    r#type: String,
    #[schema(min_length = 1, max_length = 128)]
    file_id: String,
}
