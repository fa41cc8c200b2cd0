//! Tensors that Rust exchanges with NumPy, PyTorch and others by DLPack.

pub mod dlpack;

use dlpack::sys::{DLDataTypeCode, DLDeviceType};
use dlpack::Tensor;

/// Sums a one-dimensional, contiguous tensor of float32 on the CPU, or returns what it is instead.
pub fn sum(tensor: &Tensor) -> Result<f32, &'static str> {
    let dl = tensor.dl();
    if dl.device.device_type != DLDeviceType::kDLCPU {
        return Err("the tensor is not on the CPU");
    }
    if u32::from(dl.dtype.code) != DLDataTypeCode::kDLFloat.0
        || dl.dtype.bits != 32
        || dl.dtype.lanes != 1
    {
        return Err("the tensor is not of float32");
    }
    let &[n] = tensor.shape() else {
        return Err("the tensor does not have one dimension");
    };
    if n == 0 {
        return Ok(0.0);
    }
    let stride = if dl.strides.is_null() {
        1
    } else {
        unsafe { *dl.strides }
    };
    if n > 1 && stride != 1 {
        return Err("the tensor is not contiguous");
    }
    let first = unsafe {
        dl.data
            .cast::<u8>()
            .add(dl.byte_offset as usize)
            .cast::<f32>()
    };
    Ok(unsafe { std::slice::from_raw_parts(first, n as usize) }
        .iter()
        .sum())
}
