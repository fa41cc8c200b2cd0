const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});

    const module = b.addModule("dlpack_example", .{
        .root_source_file = b.path("src/root.zig"),
        .target = target,
        .optimize = optimize,
    });

    const tests = b.addTest(.{
        .root_module = b.createModule(.{
            .root_source_file = b.path("tests/tensor.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "dlpack_example", .module = module }},
        }),
    });
    tests.root_module.addIncludePath(b.path("include"));
    tests.root_module.addCSourceFile(.{
        .file = b.path("tests/peer.c"),
        .flags = &.{ "-std=c11", "-Wall", "-Wextra", "-Werror" },
    });

    const test_step = b.step("test", "Run the tests");
    test_step.dependOn(&b.addRunArtifact(tests).step);
}
