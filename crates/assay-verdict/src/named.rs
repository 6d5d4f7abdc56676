//! One way to write an enum whose values have names that people and files use.

/// Declares an enum with `ALL`, `name()` and `named()`; serde uses the same names.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident {
        $($(#[$doc:meta])* $value:ident = $name:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug,
            serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $vis enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $value,)*
        }

        impl $type {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$type] = &[$($type::$value),*];

            /// Its name, as files and screens spell it.
            pub const fn name(self) -> &'static str {
                match self { $($type::$value => $name),* }
            }

            /// The value with this name.
            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.name())
            }
        }
    };
}

pub(crate) use named;
