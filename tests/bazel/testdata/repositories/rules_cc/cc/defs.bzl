"""What Bazel 4 loads of rules_cc: its own rules. Debian's rules_cc is for newer ones."""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
objc_library = native.objc_library

def _compiler_flag_impl(_ctx):
    return [config_common.FeatureFlagInfo(value = "")]

compiler_flag = rule(implementation = _compiler_flag_impl)
