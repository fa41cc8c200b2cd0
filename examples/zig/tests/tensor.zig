const std = @import("std");
const example = @import("dlpack_example");
const dlpack = example.dlpack;
const legacy = example.legacy;
const sys = dlpack.sys;
const testing = std.testing;

extern fn peer_export() ?*sys.DLManagedTensorVersioned;
extern fn peer_export_legacy() ?*legacy.sys.DLManagedTensor;
extern fn peer_releases() c_int;
extern fn peer_consume(*sys.DLManagedTensorVersioned) f32;
extern fn peer_consume_legacy(*legacy.sys.DLManagedTensor) f32;

/// A tensor of a producer that counts its releases.
fn Counted(comptime Managed: type) type {
    return struct {
        managed: Managed,
        releases: usize = 0,

        fn deleter(managed: ?*Managed) callconv(.c) void {
            const self: *@This() = @alignCast(@fieldParentPtr("managed", managed.?));
            self.releases += 1;
        }
    };
}

fn counted(major: u32) Counted(sys.DLManagedTensorVersioned) {
    return .{ .managed = .{
        .version = .{ .major = major, .minor = 0 },
        .manager_ctx = null,
        .deleter = Counted(sys.DLManagedTensorVersioned).deleter,
        .flags = .{ .read_only = true },
        .dl_tensor = scalar(null),
    } };
}

fn scalar(data: ?*anyopaque) sys.DLTensor {
    return .{
        .data = data,
        .device = .{ .device_type = .cpu, .device_id = 0 },
        .ndim = 0,
        .dtype = dlpack.dtypes.float32,
        .shape = null,
        .strides = null,
        .byte_offset = 0,
    };
}

test "deinit calls the deleter once" {
    var producer = counted(sys.DLPACK_MAJOR_VERSION);
    var tensor: dlpack.Tensor = try .fromRaw(&producer.managed);
    try testing.expect(tensor.isReadOnly());
    try testing.expectError(error.ReadOnly, tensor.mutableItems(f32));
    try testing.expectEqual(0, producer.releases);
    tensor.deinit();
    try testing.expectEqual(1, producer.releases);
    tensor.deinit();
    try testing.expectEqual(1, producer.releases);
}

test "intoRaw passes the tensor on" {
    var producer = counted(sys.DLPACK_MAJOR_VERSION);
    var tensor: dlpack.Tensor = try .fromRaw(&producer.managed);
    const raw = tensor.intoRaw();
    tensor.deinit();
    try testing.expectEqual(0, producer.releases);
    var again: dlpack.Tensor = try .fromRaw(raw);
    again.deinit();
    try testing.expectEqual(1, producer.releases);
}

test "another major version is released and not read" {
    var producer = counted(sys.DLPACK_MAJOR_VERSION + 1);
    try testing.expectError(error.OtherMajorVersion, dlpack.Tensor.fromRaw(&producer.managed));
    try testing.expectEqual(1, producer.releases);
    try testing.expectError(error.NullTensor, dlpack.Tensor.fromRaw(null));
    try testing.expectError(error.NullTensor, legacy.LegacyTensor.fromRaw(null));
}

test "a tensor without a deleter is not released" {
    var producer = counted(sys.DLPACK_MAJOR_VERSION);
    producer.managed.deleter = null;
    var tensor: dlpack.Tensor = try .fromRaw(&producer.managed);
    tensor.deinit();
    producer.managed.version.major += 1;
    try testing.expectError(error.OtherMajorVersion, dlpack.Tensor.fromRaw(&producer.managed));
    try testing.expectEqual(0, producer.releases);
}

test "a tensor of either ABI comes from C" {
    const before = peer_releases();
    var tensor: dlpack.Tensor = try .fromRaw(peer_export());
    try testing.expectEqualSlices(i64, &.{ 2, 3 }, try tensor.shape());
    try testing.expectEqualSlices(f32, &.{ 1, 2, 3, 4, 5, 6 }, try tensor.items(f32));
    try testing.expectEqual(21, try example.sum(tensor.dl()));
    try testing.expect(tensor.isReadOnly());
    tensor.deinit();
    try testing.expectEqual(before + 1, peer_releases());

    var old: legacy.LegacyTensor = try .fromRaw(peer_export_legacy());
    try testing.expect(!old.isReadOnly());
    const elements = try old.mutableItems(f32);
    try testing.expectEqualSlices(f32, &.{ 1, 2, 3, 4, 5, 6 }, elements);
    old.deinit();
    try testing.expectEqual(before + 2, peer_releases());
}

test "a tensor of either ABI goes to C" {
    // The allocator of tests reports what is freed twice, or never.
    var tensor: dlpack.Tensor = try .alloc(testing.allocator, f32, &.{ 2, 3 });
    for (try tensor.mutableItems(f32), 1..) |*x, i| x.* = @floatFromInt(i);
    try testing.expectEqual(21, peer_consume(tensor.intoRaw()));

    var old: legacy.LegacyTensor = try .alloc(testing.allocator, f32, &.{ 3, 2 });
    defer old.deinit();
    @memset(try old.mutableItems(f32), 0.5);
    try testing.expectEqual(3, peer_consume_legacy(old.intoRaw()));
}

test "a failed allocation leaks nothing" {
    const alloc = struct {
        fn alloc(gpa: std.mem.Allocator) !void {
            var tensor: dlpack.Tensor = try .alloc(gpa, i16, &.{ 4, 5 });
            defer tensor.deinit();
            try testing.expectEqual(20, (try tensor.items(i16)).len);
        }
    }.alloc;
    try testing.checkAllAllocationFailures(testing.allocator, alloc, .{});
    const large = [_]i64{ 1 << 33, 1 << 33 }; // the product is 0 in 64 bits
    try testing.expectError(error.TooLarge, dlpack.Tensor.alloc(testing.allocator, f32, &large));
    try testing.expectError(error.InvalidShape, dlpack.Tensor.alloc(testing.allocator, f32, &.{-1}));
}

test "a tensor without elements has shape and strides" {
    var tensor: dlpack.Tensor = try .alloc(testing.allocator, i16, &.{ 4, 0, 5 });
    defer tensor.deinit();
    try testing.expectEqual(0, (try tensor.items(i16)).len);
    try testing.expectEqualSlices(i64, &.{ 4, 0, 5 }, try tensor.shape());
    try testing.expectEqualSlices(i64, &.{ 5, 5, 1 }, tensor.dl().strides.?[0..3]);
}

test "elements lie behind byte_offset" {
    var data = [_]f32{ 1, 2, 3 };
    var shape = [_]i64{2};
    var tensor = scalar(&data);
    tensor.ndim, tensor.shape, tensor.byte_offset = .{ 1, &shape, @sizeOf(f32) };
    try testing.expectEqual(5, try example.sum(&tensor));
    tensor.byte_offset = 2;
    try testing.expectError(error.MisalignedData, example.sum(&tensor));
    tensor.byte_offset = std.math.maxInt(u64);
    try testing.expectError(error.TooLarge, example.sum(&tensor));
}

test "null instead of strides means contiguous" {
    var data = [_]f32{ 1, 2, 3, 4, 5, 6 };
    var shape = [_]i64{ 3, 2 };
    var strides = [_]i64{ 2, 1 };
    var tensor = scalar(&data);
    tensor.ndim, tensor.shape = .{ 2, &shape };
    try testing.expectEqual(21, try example.sum(&tensor));
    tensor.strides = &strides;
    try testing.expectEqual(21, try example.sum(&tensor));
    strides = .{ 1, 3 };
    try testing.expectError(error.NotContiguous, example.sum(&tensor));
    shape = .{ 1, 2 };
    strides = .{ 77, 1 };
    try testing.expectEqual(3, try example.sum(&tensor));
}

test "what the host cannot read is an error" {
    var data: f32 = 7;
    var negative = [_]i64{-1};
    const plain = scalar(&data);
    try testing.expectEqual(7, try example.sum(&plain));

    var tensor = plain;
    tensor.data = null;
    try testing.expectError(error.NullData, example.sum(&tensor));
    tensor = plain;
    tensor.device.device_type = .cuda;
    try testing.expectError(error.NotOnHost, example.sum(&tensor));
    tensor.device.device_type = @fromBackingInt(12345); // of a later release
    try testing.expectError(error.NotOnHost, example.sum(&tensor));
    tensor = plain;
    tensor.dtype = dlpack.dtypes.of(i32);
    try testing.expectError(error.DtypeMismatch, example.sum(&tensor));
    tensor = plain;
    tensor.ndim, tensor.shape = .{ -1, &negative };
    try testing.expectError(error.InvalidShape, example.sum(&tensor));
    tensor.ndim = 1;
    try testing.expectError(error.InvalidShape, example.sum(&tensor));
    tensor.shape = null;
    try testing.expectError(error.InvalidShape, example.sum(&tensor));
}
