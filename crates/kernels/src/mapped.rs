//! Files read as memory.

use std::fmt;
use std::fs::File;
use std::io;
use std::slice;

use memmap2::Mmap;

/// A file that only grows, read as memory.
///
/// Nothing is read when it is mapped; pages come as they are touched, and leave when memory is short.
///
/// Only prefixes are handed out. Whoever writes the file MUST keep to this: it never shrinks while it is mapped, and the
/// bytes of a prefix that a reader may ask for never change. What lies behind may be written at any time.
pub struct Mapped {
    /// `None` for an empty file, which some systems refuse to map.
    map: Option<Mmap>,
}

impl Mapped {
    /// Maps a file, as long as it is now.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the writer keeps to the type's rule. The file never shrinks, so no page of the map can vanish; slices
        // are only ever made of prefixes that no longer change (see `prefix`).
        let map = unsafe { Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }

    /// No file: nothing is mapped.
    pub const fn empty() -> Self {
        Self { map: None }
    }

    /// Says that places will be read here and there, so that reading one does not bring in those around it.
    pub fn expect_random(&self) {
        #[cfg(unix)]
        if let Some(map) = &self.map {
            // Only advice: a system that does not take it reads more than it needs to.
            drop(map.advise(memmap2::Advice::Random));
        }
    }

    /// How long the file was when it was mapped.
    pub fn len(&self) -> usize {
        self.map.as_ref().map_or(0, |map| map.len())
    }

    /// Whether the file was empty.
    pub fn is_empty(&self) -> bool {
        self.map.is_none()
    }

    /// The first `len` bytes, if there are as many.
    pub fn prefix(&self, len: usize) -> Option<&[u8]> {
        if len == 0 {
            return Some(&[]);
        }
        let map = self.map.as_ref().filter(|map| map.len() >= len)?;
        // SAFETY: `len` bytes are mapped for as long as `self` lives, and by the type's rule these no longer change. The
        // slice is made from the pointer so that it never covers the bytes behind, which may.
        Some(unsafe { slice::from_raw_parts(map.as_ptr(), len) })
    }

    /// The first `len` bytes as signed numbers, if there are as many.
    pub fn signed_prefix(&self, len: usize) -> Option<&[i8]> {
        let bytes = self.prefix(len)?;
        // SAFETY: `i8` and `u8` have the same size and alignment, and every byte is a value of both.
        Some(unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) })
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn prefixes_are_what_was_written() {
        let path = std::env::temp_dir().join(format!("mainstem-mapped-{}", std::process::id()));
        let mut file =
            File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        assert!(Mapped::open(&file).unwrap().is_empty());
        file.write_all(&[1, 2, 255]).unwrap();
        let mapped = Mapped::open(&file).unwrap();
        file.write_all(&[4]).unwrap();
        assert_eq!(mapped.prefix(2), Some([1, 2].as_slice()));
        assert_eq!(mapped.signed_prefix(3), Some([1, 2, -1].as_slice()));
        assert_eq!((mapped.prefix(4), mapped.prefix(0)), (None, Some([].as_slice())));
        std::fs::remove_file(path).unwrap();
    }
}
