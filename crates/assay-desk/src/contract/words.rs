//! Words that weaken a criterion, and names.

/// Whether a text is lower-case words joined by dashes.
pub(crate) fn is_slug(text: &str) -> bool {
    text.len() <= 60
        && text.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Words that say nothing that could be measured.
pub(super) const VAGUE: [&str; 24] = [
    "appropriate",
    "appropriately",
    "as expected",
    "correct",
    "correctly",
    "easily",
    "efficient",
    "efficiently",
    "etc",
    "fast",
    "good",
    "intuitive",
    "nice",
    "normal",
    "properly",
    "quickly",
    "reasonable",
    "robust",
    "seamless",
    "soon",
    "suitable",
    "user-friendly",
    "well",
    "works",
];

/// Technical words: languages, stores, protocols. With them a criterion is tied to a stack.
pub(super) const STACK: [&str; 34] = [
    "api",
    "aws",
    "cargo",
    "class",
    "css",
    "database",
    "django",
    "docker",
    "endpoint",
    "express",
    "flask",
    "graphql",
    "html",
    "http",
    "javascript",
    "json",
    "kafka",
    "kubernetes",
    "mongodb",
    "mysql",
    "node",
    "postgres",
    "postgresql",
    "python",
    "react",
    "redis",
    "rest",
    "rust",
    "spring",
    "sql",
    "table",
    "typescript",
    "xml",
    "yaml",
];

/// Words of query languages.
pub(super) const SQL: [&str; 6] = ["select", "insert", "join", "foreign", "varchar", "rollback"];

/// Who may be meant by a criterion.
pub(super) const ACTORS: [&str; 32] = [
    "admin",
    "administrator",
    "agent",
    "auditor",
    "author",
    "buyer",
    "caller",
    "client",
    "clerk",
    "customer",
    "developer",
    "editor",
    "employee",
    "guest",
    "manager",
    "member",
    "operator",
    "owner",
    "patient",
    "payer",
    "person",
    "player",
    "reader",
    "receiver",
    "reviewer",
    "seller",
    "sender",
    "shopper",
    "student",
    "team",
    "user",
    "visitor",
];
