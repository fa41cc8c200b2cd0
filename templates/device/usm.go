//go:build ignore && cgo && !nodevice

package device

/*
#cgo CFLAGS: -DDLPACKGEN_USM_ENTRY=dlpackgen_device_entry_usm
#cgo CXXFLAGS: -std=c++17 -DDLPACKGEN_DEVICE_NAME_ENTRY=dlpackgen_device_entry -DDLPACKGEN_USM_ENTRY=dlpackgen_device_entry_usm
#cgo sycl LDFLAGS: -lsycl
#include "device_answer.h"
#include "dlpackgen_usm.h"

#define USM dlpackgen_device_entry_usm()

static int go_usm_id(int32_t ordinal, answer *a) { return USM->id(ordinal, &a->id, &a->error); }

static int go_usm_set_device_ids(const dlpackgen_usm_id *ids, size_t count, answer *a) {
	return USM->set_device_ids(ids, count, &a->error);
}

static int go_usm_check_tensor(uintptr_t tensor, uint32_t flags, answer *a) {
	dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
	const int code = USM->check_tensor((const DLTensor *)tensor, flags, &p, &a->error);
	answer_pointer(a, &p);
	return code;
}
*/
import "C"

import "unsafe"

// The flags are those of C.
var _ [C.DLPACKGEN_USM_ALL_KINDS]struct{} = [AllKinds]struct{}{}

// USMTable returns the dlpackgen_usm_table, for code in C.
func USMTable() unsafe.Pointer { return unsafe.Pointer(C.dlpackgen_device_entry_usm()) }

// DeviceID returns the id of a device by its position among the devices that Probe counts.
func DeviceID(ordinal int) (int32, error) {
	a := answers.Get().(*C.answer)
	code := C.go_usm_id(C.int32_t(ordinal), a)
	id := int32(a.id)
	return id, failure(code, a)
}

// SetDeviceIDs declares how SYCL numbers the devices of Level Zero, by ze_device_handle_t; nil: no
// other library of the program uses SYCL, and the ids are Level Zero's. A map without devices is
// rejected, because its meaning would be ambiguous. Over SYCL, the function does nothing.
func SetDeviceIDs(ids map[uintptr]int32) error {
	var rows []C.dlpackgen_usm_id // only a nil map becomes NULL
	if ids != nil {
		rows = make([]C.dlpackgen_usm_id, 0, len(ids))
	}
	for device, id := range ids {
		row := C.dlpackgen_usm_id{id: C.int32_t(id)}
		*(*uintptr)(unsafe.Pointer(&row.device)) = device
		rows = append(rows, row)
	}
	a := answers.Get().(*C.answer)
	return failure(C.go_usm_set_device_ids(unsafe.SliceData(rows), C.size_t(len(rows)), a), a)
}

// CheckTensor checks the memory of another library's DLTensor in C memory. With an error, the
// result is undefined.
func CheckTensor(tensor TensorPointer, flags CheckFlags) (Pointer, error) {
	a := answers.Get().(*C.answer)
	return pointerOf(C.go_usm_check_tensor(C.uintptr_t(uintptr(tensor)), C.uint32_t(flags), a), a)
}
