package golang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// neededFields are the structs and fields that the run time uses by name.
var neededFields = map[string]string{
	"DLPackVersion":            "major minor",
	"DLDevice":                 "device_type device_id",
	dtypeStruct:                "code bits lanes",
	"DLTensor":                 "data device ndim dtype shape strides byte_offset",
	"DLManagedTensor":          "dl_tensor manager_ctx deleter",
	"DLManagedTensorVersioned": "version manager_ctx deleter flags dl_tensor",
	"DLPackExchangeAPIHeader":  "version prev_api",
	"DLPackExchangeAPI": "header managed_tensor_allocator managed_tensor_from_py_object_no_sync " +
		"managed_tensor_to_py_object_no_sync dltensor_from_py_object_no_sync current_work_stream",
}

var neededFlags = []string{
	"DLPACK_FLAG_BITMASK_READ_ONLY", "DLPACK_FLAG_BITMASK_IS_COPIED", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED",
}

// checkNeeds reports what a spec of one's own lacks of the entities that the run
// time knows by name.
func (b *binding) checkNeeds() error {
	var errs []error
	for _, what := range b.enumNeeds() {
		errs = append(errs, b.lacks(what))
	}
	for _, name := range []string{"DLPACK_MAJOR_VERSION", "DLPACK_MINOR_VERSION"} {
		if spec.Find[*spec.Macro](b.release, name) == nil {
			errs = append(errs, b.lacks("the macro "+name))
		}
	}
	for _, name := range neededFlags {
		if spec.Find[*spec.Flag](b.release, name) == nil {
			errs = append(errs, b.lacks("the flag "+name))
		}
	}
	for _, what := range b.structNeeds() {
		errs = append(errs, b.lacks(what))
	}
	for _, name := range []string{"uint8", "uint16"} {
		if !slices.ContainsFunc(b.release.DTypes, func(d spec.DType) bool { return d.Name == name }) {
			errs = append(errs, b.lacks("the data type "+name))
		}
	}
	return errors.Join(errs...)
}

// enumNeeds names the enums, and of those that are there the enumerators, that
// the release lacks.
func (b *binding) enumNeeds() []string {
	var missing []string
	for _, need := range [][]string{{deviceEnum, "kDLCPU"}, {dtypeEnum, "kDLInt", "kDLUInt", "kDLFloat", "kDLComplex", "kDLBool"}} {
		e := spec.Find[*spec.Enum](b.release, need[0])
		if e == nil {
			missing = append(missing, "the enum "+need[0])
			continue
		}
		for _, name := range need[1:] {
			if !slices.ContainsFunc(e.Values, func(v spec.EnumValue) bool { return v.Name == name }) {
				missing = append(missing, "the enumerator "+need[0]+"."+name)
			}
		}
	}
	return missing
}

// structNeeds names the structs, and of those that are there the fields, that
// the release lacks.
func (b *binding) structNeeds() []string {
	var missing []string
	for name, fields := range neededFields {
		s := spec.Find[*spec.Struct](b.release, name)
		if s == nil {
			missing = append(missing, "the struct "+name)
			continue
		}
		for _, field := range strings.Fields(fields) {
			if !slices.ContainsFunc(s.Fields, func(f spec.Field) bool { return f.Name == field }) {
				missing = append(missing, "the field "+name+"."+field)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

func (b *binding) lacks(what string) error {
	return fmt.Errorf("the bindings build on %s, which DLPack %s of this spec lacks", what, b.release.Version)
}
