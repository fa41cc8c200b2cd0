//! Tensors that this program owns.

const std = @import("std");
const dtypes = @import("dtypes.zig");
const sys = @import("sys.zig");
const view = @import("view.zig");
const Allocator = std.mem.Allocator;

/// A tensor that is released once: by `deinit`, unless `intoRaw` passed it on. Copies of the value
/// share the tensor, so only one of them may do either.
///
/// `Managed` is `DLManagedTensorVersioned` or `DLManagedTensor`.
pub fn Owned(comptime Managed: type) type {
    return struct {
        raw: ?*Managed,

        const Self = @This();
        const is_versioned = @hasField(Managed, "version");

        /// Takes a tensor over. It is released at once where its major version is another one,
        /// since all but its deleter may lie elsewhere then.
        pub fn fromRaw(raw: ?*Managed) error{ NullTensor, OtherMajorVersion }!Self {
            const managed = raw orelse return error.NullTensor;
            var self: Self = .{ .raw = managed };
            if (is_versioned and managed.version.major != sys.DLPACK_MAJOR_VERSION) {
                self.deinit();
                return error.OtherMajorVersion;
            }
            return self;
        }

        /// Passes the tensor on: whoever gets the pointer calls its deleter.
        pub fn intoRaw(self: *Self) *Managed {
            defer self.raw = null;
            return self.raw.?;
        }

        /// Releases the tensor. It has no effect after itself or `intoRaw`.
        pub fn deinit(self: *Self) void {
            const managed = self.raw orelse return;
            self.raw = null;
            if (managed.deleter) |deleter| deleter(managed);
        }

        /// Allocates a contiguous tensor of the host, whose elements are undefined.
        pub fn alloc(
            gpa: Allocator,
            comptime T: type,
            extents: []const i64,
        ) (Allocator.Error || view.Error)!Self {
            return .{ .raw = try Exported(Managed, T).create(gpa, extents) };
        }

        /// The description of the tensor.
        pub fn dl(self: Self) *const sys.DLTensor {
            return &self.raw.?.dl_tensor;
        }

        /// The extents.
        pub fn shape(self: Self) view.Error![]const i64 {
            return view.shape(self.dl());
        }

        /// Whether consumers must not write to the elements. Tensors without flags do not say so.
        pub fn isReadOnly(self: Self) bool {
            return is_versioned and self.raw.?.flags.read_only;
        }

        /// The elements of a contiguous tensor that the host can read.
        pub fn items(self: Self, comptime T: type) view.Error![]const T {
            return view.slice(self.dl(), T);
        }

        /// The same elements, to be written to.
        pub fn mutableItems(self: Self, comptime T: type) (view.Error || error{ReadOnly})![]T {
            if (self.isReadOnly()) return error.ReadOnly;
            return view.slice(self.dl(), T);
        }
    };
}

/// An exported tensor and the memory that it keeps alive.
fn Exported(comptime Managed: type, comptime T: type) type {
    return struct {
        managed: Managed,
        gpa: Allocator,
        elements: []T,
        extents: []i64,
        strides: []i64,

        const Self = @This();

        fn create(gpa: Allocator, extents: []const i64) (Allocator.Error || view.Error)!*Managed {
            const ndim = std.math.cast(i32, extents.len) orelse return error.TooLarge;
            const n = try view.count(extents);
            const self = try gpa.create(Self);
            errdefer gpa.destroy(self);
            self.gpa = gpa;
            self.elements = try gpa.alloc(T, n);
            errdefer gpa.free(self.elements);
            self.extents = try gpa.dupe(i64, extents);
            errdefer gpa.free(self.extents);
            self.strides = try gpa.alloc(i64, extents.len);
            self.fillStrides();
            self.managed = self.describe(ndim);
            return &self.managed;
        }

        fn fillStrides(self: *Self) void {
            var stride: i64 = 1;
            var axis = self.extents.len;
            while (axis > 0) {
                axis -= 1;
                self.strides[axis] = stride;
                stride *= @max(self.extents[axis], 1); // view.count has shown that it fits
            }
        }

        fn describe(self: *Self, ndim: i32) Managed {
            var managed: Managed = undefined;
            managed.manager_ctx = null; // the deleter finds it by the address of managed
            managed.deleter = deleter;
            managed.dl_tensor.data = if (self.elements.len == 0) null else self.elements.ptr;
            @field(managed.dl_tensor, view.device_field) = .{ .device_type = .cpu, .device_id = 0 };
            managed.dl_tensor.ndim = ndim;
            managed.dl_tensor.dtype = dtypes.of(T);
            managed.dl_tensor.shape = self.extents.ptr;
            managed.dl_tensor.strides = self.strides.ptr;
            managed.dl_tensor.byte_offset = 0;
            if (@hasField(Managed, "version")) {
                managed.version = .{ .major = sys.DLPACK_MAJOR_VERSION, .minor = sys.DLPACK_MINOR_VERSION };
                managed.flags = .{};
            }
            return managed;
        }

        fn deleter(managed: ?*Managed) callconv(.c) void {
            const self: *Self = @alignCast(@fieldParentPtr("managed", managed orelse return));
            const gpa = self.gpa;
            gpa.free(self.strides);
            gpa.free(self.extents);
            gpa.free(self.elements);
            gpa.destroy(self);
        }
    };
}
