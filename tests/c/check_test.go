package c

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit/emittest"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// The languages in which abi_check.h has a message for each assert, and the older ones, where it
// uses an array of negative size.
var (
	c11   = command("gcc", "c", "c11")
	c99   = command("gcc", "c", "c99")
	cxx11 = command("g++", "c++", "c++11")
)

// asserts counts the asserts for a release according to the spec, without the four guards of the
// probes.
func asserts(r *spec.Release, cxx bool) (all int) {
	for _, d := range r.Decls {
		switch d := d.(type) {
		case *spec.Macro, *spec.Alias, *spec.Callback:
			all++
		case *spec.Flag:
			all += len([]string{"value", "type"})
		case *spec.Enum:
			all += len([]string{"width"}) + len(d.Values)
			if cxx && d.CxxUnderlying != "" {
				all += len([]string{"sign"})
			}
		case *spec.Struct:
			all += len([]string{"alignment", "size"}) + len(d.Fields)*len([]string{"type", "width", "offset"})
		}
	}
	return all
}

// numbers counts the asserts that compare numbers instead of types, which are the only ones in old
// languages.
func numbers(r *spec.Release) int {
	all := asserts(r,
		false) - len(spec.Of[*spec.Flag](r)) - len(spec.Of[*spec.Alias](r)) - len(spec.Of[*spec.Callback](r))
	for _, s := range spec.Of[*spec.Struct](r) {
		all -= len(s.Fields)
	}
	return all
}

var (
	message  = regexp.MustCompile(`error: static assertion failed: (.*)`)
	negative = regexp.MustCompile(`error: size of array .* is negative`)
)

// messages returns the distinct asserts that failed.
func messages(output string) map[string]bool {
	out := map[string]bool{}
	for _, m := range message.FindAllStringSubmatch(output, -1) {
		out[m[1]] = true
	}
	return out
}

// wrong is a release in which everything differs: each number, type, width, alignment, sign and
// offset.
func wrong(r *spec.Release) *spec.Release {
	out := *r
	out.Decls = nil
	for _, d := range r.Decls {
		out.Decls = append(out.Decls, wrongDecl(d))
	}
	return &out
}

func wrongDecl(d spec.Decl) spec.Decl {
	switch d := d.(type) {
	case *spec.Macro:
		changed := *d
		changed.Literal = "1" + d.Literal
		return &changed
	case *spec.Flag:
		return &spec.Macro{Name: d.Name, Literal: "1024"}
	case *spec.Enum:
		return wrongEnum(d)
	case *spec.Struct:
		return wrongStruct(d)
	case *spec.Alias:
		return &spec.Alias{Name: d.Name, Target: "uint8"}
	case *spec.Callback:
		changed := *d
		changed.Func.Returns = builtin("int64")
		return &changed
	}
	return d
}

// wrongEnum shifts the values, and adds one of 8 bytes.
func wrongEnum(d *spec.Enum) *spec.Enum {
	changed := *d
	changed.Values = nil
	for _, v := range d.Values {
		v.Value += 1000
		changed.Values = append(changed.Values, v)
	}
	changed.Values = append(changed.Values, spec.EnumValue{Name: d.Name + "Wide", Value: 1 << 40})
	if d.CxxUnderlying != "" {
		changed.CxxUnderlying = "uint64"
	}
	return &changed
}

// wrongStruct moves each field by at least one byte, and swaps narrow and wide types.
func wrongStruct(d *spec.Struct) *spec.Struct {
	changed := *d
	changed.Fields = []spec.Field{{Name: "moved", Type: builtin("uint8")}}
	for _, f := range d.Fields {
		narrow := f.Type.Kind == spec.Builtin && strings.HasSuffix(f.Type.Name, "8") || f.Type.Name == "uint16"
		f.Type = builtin("uint8")
		if narrow {
			f.Type = builtin("uint64")
		}
		changed.Fields = append(changed.Fields, f)
	}
	return &changed
}

func builtin(name string) spec.Type { return spec.Type{Kind: spec.Builtin, Name: name} }

// mutant pairs the header of a wrong release with the checks of the right one.
func mutant(t *testing.T, version string) (*spec.Release, string) {
	t.Helper()
	right := emittest.Release(t, version)
	dir := headers(t, version)
	broken := write(t, wrong(right))
	put(t, dir, "dlpack/dlpack.h", get(t, broken, "dlpack/dlpack.h"))
	return right, dir
}

func TestEveryAssertFires(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			right, dir := mutant(t, version)
			out, err := compile(dir, include("dlpackgen/abi_check.h"), c11...)
			require.Error(t, err)
			assert.Len(t, messages(out), asserts(right, false), "C11")
			out, err = compile(dir, include("dlpackgen/abi_check.h"), cxx11...)
			require.Error(t, err)
			assert.Len(t, messages(out), asserts(right, true), "C++11")
			out, err = compile(dir, include("dlpackgen/abi_check.h"), c99...)
			require.Error(t, err)
			assert.Len(t, negative.FindAllString(out, -1), numbers(right), "C99: %s", out)
		})
	}
}

var (
	checkLine = regexp.MustCompile(`(?ms)^DLPACKGEN_ABI_(NUMBER|FLAG|ENUM|STRUCT|FIELD)\(([^;]*)\);$`)
	// trailing returns how many of a check's last arguments are numbers.
	trailing = map[string]int{"NUMBER": 1, "FLAG": 1, "ENUM": 1, "STRUCT": 2, "FIELD": 2}
)

// arguments splits at the commas outside parentheses.
func arguments(text string) (out []string) {
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out, start = append(out, text[start:i]), i+1
		}
	}
	return append(out, text[start:])
}

// The inverse: the header is right, and each number of the checks is off by one.
func TestEveryNumberCounts(t *testing.T) {
	for _, version := range versions() {
		dir := headers(t, version)
		changed := 0
		text := checkLine.ReplaceAllStringFunc(get(t, dir, "dlpackgen/abi_check.h"), func(line string) string {
			parts := checkLine.FindStringSubmatch(line)
			args := arguments(parts[2])
			for i := len(args) - trailing[parts[1]]; i < len(args); i++ {
				args[i] += " + 1"
				changed++
			}
			return "DLPACKGEN_ABI_" + parts[1] + "(" + strings.Join(args, ",") + ");"
		})
		put(t, dir, "dlpackgen/abi_check.h", text)
		require.Equal(t, numbers(emittest.Release(t, version)), changed, "each number has a check")
		for _, args := range [][]string{c11, cxx11} {
			out, err := compile(dir, include("dlpackgen/abi_check.h"), args...)
			require.Error(t, err)
			assert.Len(t, messages(out), changed, "%s of %s", args[0], version)
		}
	}
}
