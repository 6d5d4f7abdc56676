//! Files and skills.

use super::{Named, named};
use utoipa::ToSchema;

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<File>(),
        named::<FileScope>(),
        named::<FileUpload>(),
        named::<FileList2023>(),
        named::<FileList2026>(),
        named::<Skill2023>(),
        named::<Skill2026>(),
        named::<SkillSource>(),
        named::<SkillList2023>(),
        named::<SkillList2026>(),
        named::<SkillUpload>(),
        named::<SkillVersion2023>(),
        named::<SkillVersion2026>(),
        named::<SkillVersionList2023>(),
        named::<SkillVersionList2026>(),
        named::<SkillVersionUpload>(),
    ]
}

#[derive(ToSchema)]
struct File {
    #[schema(pattern = "^file_")]
    id: String,
    #[schema(pattern = "^file$")]
    r#type: String,
    filename: String,
    mime_type: String,
    size_bytes: u64,
    downloadable: bool,
    scope: Option<FileScope>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// The session that left it.
#[derive(ToSchema)]
struct FileScope {
    #[schema(pattern = "^session$")]
    r#type: String,
    #[schema(pattern = "^sesn_")]
    id: String,
}

#[derive(ToSchema)]
struct FileUpload {
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
}

#[derive(ToSchema)]
struct FileList2023 {
    data: Vec<File>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

#[derive(ToSchema)]
struct FileList2026 {
    data: Vec<File>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct Skill2023 {
    #[schema(pattern = "^skill_")]
    id: String,
    #[schema(pattern = "^skill$")]
    r#type: String,
    display_title: String,
    #[schema(pattern = "^custom$")]
    source: String,
    latest_version: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

#[derive(ToSchema)]
struct SkillSource {
    #[schema(pattern = "^custom$")]
    r#type: String,
}

#[derive(ToSchema)]
struct Skill2026 {
    #[schema(pattern = "^skill_")]
    id: String,
    #[schema(pattern = "^skill$")]
    r#type: String,
    display_name: String,
    source: SkillSource,
    latest_version_id: String,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

#[derive(ToSchema)]
struct SkillList2023 {
    data: Vec<Skill2023>,
    has_more: bool,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct SkillList2026 {
    data: Vec<Skill2026>,
    next_page: Option<String>,
}

/// A folder with a `SKILL.md`: its files with their paths, or one zip.
#[derive(ToSchema)]
struct SkillUpload {
    #[schema(rename = "files[]")]
    files: Vec<String>,
    #[schema(min_length = 1, max_length = 256)]
    display_title: Option<String>,
    #[schema(min_length = 1, max_length = 256)]
    display_name: Option<String>,
}

#[derive(ToSchema)]
struct SkillVersion2023 {
    #[schema(pattern = "^skill_version_")]
    id: String,
    #[schema(pattern = "^skill_version$")]
    r#type: String,
    skill_id: String,
    name: String,
    description: String,
    version: String,
    directory: String,
    #[schema(format = DateTime)]
    created_at: String,
}

#[derive(ToSchema)]
struct SkillVersion2026 {
    #[schema(pattern = "^skill_version_")]
    id: String,
    #[schema(pattern = "^skill_version$")]
    r#type: String,
    skill_id: String,
    name: String,
    description: String,
    #[schema(format = DateTime)]
    created_at: String,
}

#[derive(ToSchema)]
struct SkillVersionList2023 {
    data: Vec<SkillVersion2023>,
    has_more: bool,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct SkillVersionList2026 {
    data: Vec<SkillVersion2026>,
    next_page: Option<String>,
}

/// A folder with a `SKILL.md`: its files with their paths, or one zip.
#[derive(ToSchema)]
struct SkillVersionUpload {
    #[schema(rename = "files[]")]
    files: Vec<String>,
}
