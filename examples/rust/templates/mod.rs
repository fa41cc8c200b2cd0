//! DLPack for Rust: the structs of its ABI, and a type that owns a tensor.

mod layout;
mod owned;
pub mod sys;

pub use owned::Tensor;
