//! Tensors that Zig exchanges with NumPy, PyTorch and others by DLPack.

pub const dlpack = @import("dlpack/dlpack.zig");
pub const legacy = @import("legacy/dlpack.zig");

/// Sums the elements of a contiguous tensor of float32 on the host.
pub fn sum(tensor: *const dlpack.sys.DLTensor) dlpack.view.Error!f32 {
    var total: f32 = 0;
    for (try dlpack.view.slice(tensor, f32)) |x| total += x;
    return total;
}
