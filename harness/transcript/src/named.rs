//! Enums whose values have names: each name is written once, behind its value.

/// Declares an enum with a name behind each of its values, and gives it `ALL`, `name` and `named`.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $Type:ident { $($(#[$doc:meta])* $Value:ident $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $Type {
            $($(#[$doc])* $Value,)+
        }

        impl $Type {
            /// Every one, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Value),+];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $name),+
                }
            }

            /// The one of this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
