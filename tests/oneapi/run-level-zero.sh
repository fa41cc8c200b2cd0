#!/bin/sh
# Runs a program on the driver that fetch-level-zero.sh unpacked, which simulates GPUs
# on the CPU: devices, allocation, ownership and copies are real, and what is queued on
# a GPU in order is not. The program is started by the loader of the C library that the
# driver needs. usage: L0ROOT=DIR/root run-level-zero.sh PROGRAM [ARG ...]
# ROOTS cards of SUBS tiles; HIER=COMPOSITE|FLAT|COMBINED; EXTRA: more library folders.
lib=${L0ROOT:?set L0ROOT}/usr/lib/x86_64-linux-gnu
export ZE_ENABLE_ALT_DRIVERS="$lib/libze_intel_gpu.so.1" ZE_FLAT_DEVICE_HIERARCHY="${HIER:-COMPOSITE}"
export NEOReadDebugKeys=1 UseAubStream=0 SetCommandStreamReceiver=1 ProductFamilyOverride=pvc HardwareInfoOverride=8x8x8
export ExperimentalCopyThroughLock=1 ExperimentalForceCopyThroughLock=1
export CreateMultipleRootDevices="${ROOTS:-2}" CreateMultipleSubDevices="${SUBS:-2}"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib${EXTRA:+:$EXTRA}" "$@"
