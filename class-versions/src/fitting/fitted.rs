//! Class files of a patch before and after they are fitted.

use crate::companion::Companion;

/// A class file of a patch, and the loaded class.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'p> {
    /// The new class file.
    pub new: &'p [u8],
    /// The class file whose code a loaded class executes; absent for a class that is not loaded.
    pub old: Option<&'p [u8]>,
    /// The class file that decides on the members: that of the loaded class, or the one that a loader would find.
    pub original: Option<&'p [u8]>,
    /// True if no loader has the class or finds it, so that the patch defines it.
    pub is_new: bool,
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
    /// Classes for the new code beside this one.
    pub companions: Vec<Companion>,
    /// Reasons why the class cannot be patched.
    pub refused: Vec<String>,
    /// Internal names of the classes of the patch whose companions it uses.
    pub needs: Vec<Vec<u8>>,
}
