use dlpack_example::dlpack::sys::*;
use dlpack_example::dlpack::Tensor;
use dlpack_example::sum;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts its calls in manager_ctx.
unsafe extern "C" fn counting(managed: *mut DLManagedTensorVersioned) {
    unsafe { &*(*managed).manager_ctx.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
}

fn managed(count: &AtomicUsize, major: u32) -> DLManagedTensorVersioned {
    DLManagedTensorVersioned {
        version: DLPackVersion { major, minor: 0 },
        manager_ctx: count as *const AtomicUsize as *mut c_void,
        deleter: Some(counting),
        flags: DLPACK_FLAG_BITMASK_READ_ONLY,
        dl_tensor: DLTensor {
            data: null_mut(),
            device: DLDevice {
                device_type: DLDeviceType::kDLCPU,
                device_id: 0,
            },
            ndim: 0,
            dtype: DLDataType {
                code: 2,
                bits: 32,
                lanes: 1,
            },
            shape: null_mut(),
            strides: null_mut(),
            byte_offset: 0,
        },
    }
}

#[test]
fn a_drop_calls_the_deleter_once() {
    let count = AtomicUsize::new(0);
    let mut raw = managed(&count, DLPACK_MAJOR_VERSION);
    let tensor = unsafe { Tensor::from_raw(&mut raw) }.unwrap();
    assert!(tensor.is_read_only());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    drop(tensor);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn into_raw_passes_the_tensor_on() {
    let count = AtomicUsize::new(0);
    let mut raw = managed(&count, DLPACK_MAJOR_VERSION);
    let passed = unsafe { Tensor::from_raw(&mut raw) }.unwrap().into_raw();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    drop(unsafe { Tensor::from_raw(passed) });
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn another_major_version_is_released_and_not_read() {
    let count = AtomicUsize::new(0);
    let mut raw = managed(&count, DLPACK_MAJOR_VERSION + 1);
    assert!(unsafe { Tensor::from_raw(&mut raw) }.is_none());
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert!(unsafe { Tensor::from_raw(null_mut()) }.is_none());
}

#[test]
fn a_tensor_without_a_deleter_is_dropped() {
    let count = AtomicUsize::new(0);
    let mut raw = managed(&count, DLPACK_MAJOR_VERSION);
    raw.deleter = None;
    drop(unsafe { Tensor::from_raw(&mut raw) });
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_vector_is_exported() {
    let tensor = Tensor::from_vec(vec![1.0, 2.0, 3.5], vec![3]).unwrap();
    assert_eq!(sum(&tensor), Ok(6.5));
    let matrix = Tensor::from_vec(vec![0.0; 6], vec![2, 3]).unwrap();
    assert_eq!(matrix.shape(), [2, 3]);
    assert_eq!(sum(&matrix), Err("the tensor does not have one dimension"));
    assert!(Tensor::from_vec(vec![0.0; 6], vec![2, 2]).is_none());
    assert!(Tensor::from_vec(vec![], vec![i64::MAX, 2]).is_none());
}
