use super::sys::*;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A tensor of a producer, which is released once: when it is dropped, unless `into_raw` passed it
/// on. It is not Send, since DLPack does not say on which threads a deleter may run.
pub struct Tensor {
    raw: NonNull<DLManagedTensorVersioned>,
    _not_send: PhantomData<*mut c_void>,
}

impl Tensor {
    /// Takes a tensor over. Returns None for NULL and for another major version, whose layout is
    /// unknown; such a tensor is released if it has a deleter.
    ///
    /// # Safety
    /// The pointer is NULL, or leads to a valid tensor that nobody else releases.
    pub unsafe fn from_raw(raw: *mut DLManagedTensorVersioned) -> Option<Tensor> {
        let tensor = Tensor {
            raw: NonNull::new(raw)?,
            _not_send: PhantomData,
        };
        (tensor.managed().version.major == DLPACK_MAJOR_VERSION).then_some(tensor)
    }

    /// Passes the tensor on: whoever gets the pointer calls its deleter.
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        let raw = self.raw.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// Exports a vector. Returns None where the extents do not multiply to its length.
    pub fn from_vec(data: Vec<f32>, shape: Vec<i64>) -> Option<Tensor> {
        let mut size = 1usize;
        for extent in &shape {
            size = size.checked_mul(usize::try_from(*extent).ok()?)?;
        }
        if size != data.len() {
            return None;
        }
        let mut strides = vec![1i64; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = strides[i].checked_mul(shape[i].max(1))?;
        }
        Some(export(Box::new(Exported {
            data,
            shape,
            strides,
        })))
    }

    fn managed(&self) -> &DLManagedTensorVersioned {
        unsafe { self.raw.as_ref() }
    }

    /// The description of the tensor.
    pub fn dl(&self) -> &DLTensor {
        &self.managed().dl_tensor
    }

    /// Whether consumers must not write to the elements.
    pub fn is_read_only(&self) -> bool {
        self.managed().flags & DLPACK_FLAG_BITMASK_READ_ONLY != 0
    }

    /// The extents.
    pub fn shape(&self) -> &[i64] {
        let tensor = self.dl();
        if tensor.ndim <= 0 || tensor.shape.is_null() {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        if let Some(deleter) = self.managed().deleter {
            unsafe { deleter(self.raw.as_ptr()) }
        }
    }
}

/// What an exported tensor keeps alive.
struct Exported {
    data: Vec<f32>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

fn export(mut memory: Box<Exported>) -> Tensor {
    let dl_tensor = DLTensor {
        data: memory.data.as_mut_ptr().cast(),
        device: DLDevice {
            device_type: DLDeviceType::kDLCPU,
            device_id: 0,
        },
        ndim: memory.shape.len() as i32,
        dtype: DLDataType {
            code: DLDataTypeCode::kDLFloat.0 as u8,
            bits: 32,
            lanes: 1,
        },
        shape: memory.shape.as_mut_ptr(),
        strides: memory.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = Box::new(DLManagedTensorVersioned {
        version: DLPackVersion {
            major: DLPACK_MAJOR_VERSION,
            minor: DLPACK_MINOR_VERSION,
        },
        manager_ctx: Box::into_raw(memory).cast(),
        deleter: Some(release),
        flags: 0,
        dl_tensor,
    });
    let raw = unsafe { NonNull::new_unchecked(Box::into_raw(managed)) };
    Tensor {
        raw,
        _not_send: PhantomData,
    }
}

unsafe extern "C" fn release(managed: *mut DLManagedTensorVersioned) {
    let managed = unsafe { Box::from_raw(managed) };
    drop(unsafe { Box::from_raw(managed.manager_ctx.cast::<Exported>()) });
}
