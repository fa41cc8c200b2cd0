package emit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// neededFields are the structs and fields that every runtime uses by name.
var neededFields = map[string]string{
	"DLPackVersion":            "major minor",
	"DLDevice":                 "device_type device_id",
	"DLDataType":               "code bits lanes",
	"DLTensor":                 "data device ndim dtype shape strides byte_offset",
	"DLManagedTensor":          "dl_tensor manager_ctx deleter",
	"DLManagedTensorVersioned": "version manager_ctx deleter flags dl_tensor",
	"DLPackExchangeAPIHeader":  "version prev_api",
	"DLPackExchangeAPI": "header managed_tensor_allocator managed_tensor_from_py_object_no_sync " +
		"managed_tensor_to_py_object_no_sync dltensor_from_py_object_no_sync current_work_stream",
}

// NeededFlags are the flags that every runtime uses by name.
var NeededFlags = []string{
	"DLPACK_FLAG_BITMASK_READ_ONLY", "DLPACK_FLAG_BITMASK_IS_COPIED", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED",
}

// Lacking lists the entities that runtimes use by name and a user's spec lacks: "the enum
// DLDeviceType", "the field DLTensor.ndim".
func Lacking(r *spec.Release) []string {
	missing := LackingValues(r, "DLDeviceType", "kDLCPU")
	missing = append(missing, LackingValues(r, "DLDataTypeCode", "kDLInt", "kDLUInt", "kDLFloat", "kDLComplex",
		"kDLBool")...)
	for _, name := range []string{"DLPACK_MAJOR_VERSION", "DLPACK_MINOR_VERSION"} {
		if spec.Find[*spec.Macro](r, name) == nil {
			missing = append(missing, "the macro "+name)
		}
	}
	for _, name := range NeededFlags {
		if spec.Find[*spec.Flag](r, name) == nil {
			missing = append(missing, "the flag "+name)
		}
	}
	if r.Elements.PackedBelow == 0 {
		missing = append(missing, "the section elements")
	}
	if r.Limits.NDim == 0 {
		missing = append(missing, "the section limits")
	}
	return append(missing, lackingFields(r)...)
}

// LackingNames lists the names of the Python protocol that runtimes use and a user's spec lacks.
func LackingNames(r *spec.Release) (missing []string) {
	if r.NewestPython.Versioned.Fresh == "" {
		missing = append(missing, "the capsule of a versioned tensor")
	}
	if r.NewestPython.OlderExchange == "" || r.NewestPython.ExchangeCapsule == "" {
		missing = append(missing, "the two attributes with an exchange table")
	}
	return missing
}

// Needs returns an error for each entity that a target needs and a user's spec lacks. subject is
// the beginning of the sentence with its verb: "the headers build on".
func Needs(r *spec.Release, subject string, lacking ...string) error {
	var errs []error
	for _, what := range lacking {
		errs = append(errs, fmt.Errorf("%s %s, which DLPack %s of this spec lacks", subject, what, r.Version))
	}
	return errors.Join(errs...)
}

// LackingValues lists the enum, or its enumerators, that a release lacks.
func LackingValues(r *spec.Release, enum string, values ...string) []string {
	e := spec.Find[*spec.Enum](r, enum)
	if e == nil {
		return []string{"the enum " + enum}
	}
	var missing []string
	for _, name := range values {
		if !slices.ContainsFunc(e.Values, func(v spec.EnumValue) bool { return v.Name == name }) {
			missing = append(missing, "the enumerator "+enum+"."+name)
		}
	}
	return missing
}

// lackingFields lists the structs that a release lacks, and the missing fields of the others.
func lackingFields(r *spec.Release) []string {
	var missing []string
	for name, fields := range neededFields {
		s := spec.Find[*spec.Struct](r, name)
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
