//! Class files of a patch before and after they are fitted.

/// A class file of a patch, and the class that it is for.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'p> {
    /// The new class file.
    pub new: &'p [u8],
    /// The class file of the loaded class; none of a class that is not loaded.
    pub old: Option<&'p [u8]>,
}

/// A class file of a patch as it fits the loaded class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fitted {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The numbers that were kept, for the user.
    pub remarks: Vec<String>,
    /// What the program holds that would become something else.
    pub confused: Vec<String>,
    /// A class for the new code, of a class that stays as it is.
    pub companion: Option<Companion>,
}

/// A class that is to be defined beside the loaded ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    /// Internal name.
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}
