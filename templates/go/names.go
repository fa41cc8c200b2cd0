//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import "fmt"

// String returns the version, such as 1.3.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// String returns the name of a device, such as CPU:0.
func (d Device) String() string { return fmt.Sprintf("%v:%d", d.Type, d.ID) }

// String returns the usual name of a data type, such as float32, with several lanes as in
// float32x4; for a type without a name, the code and the bits.
func (t DataType) String() string {
	scalar := t
	scalar.Lanes = 1
	name := scalar.name()
	if name == "" {
		name = fmt.Sprintf("%v/%d", t.Code, t.Bits)
	}
	if t.Lanes != 1 {
		name += fmt.Sprintf("x%d", t.Lanes)
	}
	return name
}
