package golang

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

func TestNamesOfGo(t *testing.T) {
	for c, want := range map[string]string{
		"device_type":                           "DeviceType",
		"ndim":                                  "NDim",
		"dtype":                                 "DType",
		"dl_tensor":                             "DLTensor",
		"prev_api":                              "PrevAPI",
		"byte_offset":                           "ByteOffset",
		"managed_tensor_from_py_object_no_sync": "ManagedTensorFromPyObjectNoSync",
		"Float8_e4m3b11fnuz":                    "Float8E4M3B11FNUZ",
		"acme__x_":                              "AcmeX",
	} {
		assert.Equal(t, want, camel(c))
	}
	assert.Equal(t, "FlagIsSubbyteTypePadded", flag("DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED"))
	assert.Equal(t, "MajorVersion", macro("DLPACK_MAJOR_VERSION"))
	for c, want := range map[string]string{
		"uint8": "DTypeUint8", "int8": "DTypeInt8", "bool": "DTypeBool", "bfloat16": "DTypeBFloat16",
		"bcomplex32": "DTypeBComplex32", "float6_e2m3fn": "DTypeFloat6E2M3FN",
	} {
		assert.Equal(t, want, dtype(c))
	}
}

func TestValuesLoseTheirPrefixAndMirrorsKeepIt(t *testing.T) {
	b, err := newBinding(&emit.Model{Release: emittest.Release(t, "1.3")})
	assert.NoError(t, err)
	for c, want := range map[string]string{
		"DLDevice": "Device", "DLDataType": "DataType", "DLDeviceType": "DeviceType", "DLPackVersion": "Version",
		"DLTensor": "DLTensor", "DLManagedTensor": "DLManagedTensor",
		"DLPackExchangeAPIHeader": "DLPackExchangeAPIHeader",
	} {
		assert.Equal(t, want, b.typeName(c))
	}
	device := spec.Find[*spec.Struct](b.release, "DLDevice")
	assert.Equal(t, "Type", b.fieldName(device, "device_type"))
	assert.Equal(t, "ID", b.fieldName(device, "device_id"))
}

func TestSentence(t *testing.T) {
	assert.Equal(t, "Device is where data is.", sentence("Device", "Where data is."))
	assert.Equal(t, "T is a view.", sentence("T", "A view."))
	assert.Equal(t, "T is IEEE stuff.", sentence("T", "IEEE stuff."))
}
