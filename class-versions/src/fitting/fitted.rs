//! Class files of a patch before and after they are fitted.

/// A class file of a patch, and the loaded class.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'p> {
    /// The new class file.
    pub new: &'p [u8],
    /// The class file of the loaded class; absent for a class that is not loaded.
    pub old: Option<&'p [u8]>,
}

/// A class file of a patch, fitted to the loaded class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fitted {
    /// The class file.
    pub bytes: Vec<u8>,
    /// Messages about the kept numbers.
    pub remarks: Vec<String>,
    /// Messages about items of the program that would change their meaning.
    pub confused: Vec<String>,
    /// A class for the new code, next to a class that stays unchanged.
    pub companion: Option<Companion>,
}

/// A class to define in addition to the loaded ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    /// Internal name.
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}
