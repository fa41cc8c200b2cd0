//! Reads a tensor of any producer. Only its elements, and pointers that are not null, are trusted.

const std = @import("std");
const dtypes = @import("dtypes.zig");
const sys = @import("sys.zig");

pub const Error = error{
    NotOnHost,
    DtypeMismatch,
    InvalidShape,
    NotContiguous,
    NullData,
    MisalignedData,
    TooLarge,
};

/// The field with the device, which had another name before 0.4.
pub const device_field = if (@hasField(sys.DLTensor, "device")) "device" else "ctx";

/// The extents; none of a tensor without dimensions.
pub fn shape(tensor: *const sys.DLTensor) Error![]const i64 {
    if (tensor.ndim < 0) return error.InvalidShape;
    if (tensor.ndim == 0) return &.{};
    const extents = tensor.shape orelse return error.InvalidShape;
    return extents[0..@intCast(tensor.ndim)];
}

/// The number of elements.
pub fn size(tensor: *const sys.DLTensor) Error!usize {
    return count(try shape(tensor));
}

/// The number of elements of these extents. The product of those that are not 0 has to fit too,
/// since strides are made of it.
pub fn count(extents: []const i64) Error!usize {
    var product: i64 = 1;
    var is_empty = false;
    for (extents) |extent| {
        if (extent < 0) return error.InvalidShape;
        if (extent == 0) is_empty = true;
        product = std.math.mul(i64, product, @max(extent, 1)) catch return error.TooLarge;
    }
    if (is_empty) return 0;
    return std.math.cast(usize, product) orelse error.TooLarge;
}

/// Whether the elements follow each other in memory, the last index first. That is what null
/// instead of strides means.
pub fn isContiguous(tensor: *const sys.DLTensor) Error!bool {
    const extents = try shape(tensor);
    if (try count(extents) == 0) return true;
    const strides = tensor.strides orelse return true;
    var expected: i64 = 1;
    var axis = extents.len;
    while (axis > 0) {
        axis -= 1;
        if (extents[axis] == 1) continue; // its stride has no effect
        if (strides[axis] != expected) return false;
        expected *= extents[axis]; // count has shown that it fits
    }
    return true;
}

/// The elements of a contiguous tensor that the host can read.
pub fn slice(tensor: *const sys.DLTensor, comptime T: type) Error![]T {
    const device = @field(tensor, device_field);
    if (!device.device_type.isHostReadable()) return error.NotOnHost;
    if (!std.meta.eql(tensor.dtype, dtypes.of(T))) return error.DtypeMismatch;
    if (!try isContiguous(tensor)) return error.NotContiguous;
    const n = try size(tensor);
    if (n == 0) return &.{};
    const address = try firstByte(tensor);
    if (!std.mem.isAligned(address, @alignOf(T))) return error.MisalignedData;
    const bytes = std.math.mul(usize, n, @sizeOf(T)) catch return error.TooLarge;
    _ = std.math.add(usize, address, bytes) catch return error.TooLarge;
    return @as([*]T, @ptrFromInt(address))[0..n];
}

fn firstByte(tensor: *const sys.DLTensor) Error!usize {
    const data = @intFromPtr(tensor.data orelse return error.NullData);
    const offset = std.math.cast(usize, tensor.byte_offset) orelse return error.TooLarge;
    return std.math.add(usize, data, offset) catch error.TooLarge;
}
