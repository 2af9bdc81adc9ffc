//! Definition of a class while another class is being loaded.
//!
//! JNI is legal in the class-file load hook of the live phase. The JVM requests the supertypes of the new class from
//! the loader, as it does for the class that is being loaded, on the same thread and with the same locks. In the hook,
//! only this may run code of a loader. The new class is neither linked nor initialised.

use super::refs::{Local, LocalRef, jni};
use jni_sys::jint;
use std::ffi::CStr;
use std::ptr::null_mut;

/// The exception that was thrown.
#[derive(Debug)]
pub(crate) struct Thrown<'a> {
    /// Its class.
    pub class: Option<LocalRef<'a>>,
    /// Its message.
    pub message: Option<String>,
}

impl<'a> Local<'a> {
    /// Defines a class of this internal name in a loader; `None` is the bootstrap loader. No exception may be pending,
    /// before and after the call.
    ///
    /// # Errors
    ///
    /// The exception of the JVM or the loader.
    pub fn define_class(
        self,
        name: &CStr,
        loader: Option<&LocalRef<'_>>,
        bytes: &[u8],
    ) -> Result<(), Thrown<'a>> {
        let Ok(length) = jint::try_from(bytes.len()) else {
            return Err(Thrown {
                class: None,
                message: Some("it is longer than 2 GiB".to_owned()),
            });
        };
        let loader = loader.map_or(null_mut(), LocalRef::as_raw);
        let defined = self.adopt(jni!(
            self,
            v1_1.DefineClass,
            name.as_ptr(),
            loader,
            bytes.as_ptr().cast(),
            length
        ));
        match defined {
            Some(_) => Ok(()),
            None => Err(self.take_thrown()),
        }
    }

    fn take_thrown(self) -> Thrown<'a> {
        let thrown = self.adopt(jni!(self, v1_1.ExceptionOccurred));
        self.clear_exception();
        let class = thrown.as_ref().and_then(|thrown| self.object_class(thrown));
        // Fields of superclasses are found through a subclass.
        let message = class
            .as_ref()
            .and_then(|class| self.field_id(class, c"detailMessage", c"Ljava/lang/String;"));
        let message = thrown
            .zip(message)
            .and_then(|(thrown, field)| self.object_field(&thrown, field))
            .and_then(|text| self.string(&text));
        Thrown { class, message }
    }
}
