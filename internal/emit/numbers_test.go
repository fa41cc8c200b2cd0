package emit_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/templates"
)

// codeOf returns the code of a source, without its comments and the text of its literals.
func codeOf(l language, source string) string {
	var code strings.Builder
	l.scan(source, func(string) { code.WriteString(`""`) }, func(text string) { code.WriteString(text) })
	return code.String()
}

// number is a number of the spec, and the form of code that repeats it: NUMBER is the number.
type number struct {
	name, use, form string
	value           int
	wrong, right    []string
	others          []string // sources in which the number is another fact
}

// pattern matches code with the number.
func (n number) pattern() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(n.form, "NUMBER", strconv.Itoa(n.value)+`\b`))
}

func numbersOf(r *spec.Release) []number {
	cpu, _ := r.ValueOf("DLDeviceType", "kDLCPU")
	return []number{
		{name: "limits.ndim", use: "the rendered constant, such as DLPACKGEN_MAX_NDIM", value: r.Limits.NDim,
			form: `(?i)(?:ndim|extents?|shape|dims|strides)_?\s*(?:\[(?:\d+ \* )?|[=<>]=?)\s*NUMBER|c_int64 \* NUMBER`,
			wrong: []string{"int64_t extents[64];", "VIEW_NDIM = 64,", `("shape", _ctypes.c_int64 * 64)`,
				"if (ndim > 64)"},
			right: []string{"int64_t extents[DLPACKGEN_MAX_NDIM];", "char text[64];", "/* int64_t shape[64] */",
				"ndim > 640"}},
		{name: "elements.packed_below", use: "DLPACKGEN_PACKED_BELOW, or packedBelow in Go",
			value:  r.Elements.PackedBelow,
			form:   `(?i)(?:bits\s*[<>]=?|width\s*<)\s*NUMBER`,
			wrong:  []string{"if (dtype.bits < 8)", "want.Bits >= 8", "static_assert(width < 8, \"\");"},
			right:  []string{"bits << 8", "bits % 8 != 0", "dtype.bits < DLPACKGEN_PACKED_BELOW"},
			others: []string{"kernels/python/values.h"}}, // NumPy's narrowest integers
		{name: "elements.data_alignment", use: "DLPACKGEN_DATA_ALIGNMENT", value: r.Elements.DataAlignment,
			form:  `(?i)align\w*\s*(?:[=<>]=?|\(|\{)\s*NUMBER`,
			wrong: []string{"enum { ALIGNMENT = 256 };", "constexpr size_t alignment = 256;", "alignas(256)"},
			right: []string{"enum { ALIGNMENT = DLPACKGEN_DATA_ALIGNMENT };", "char name[256];"}},
		{name: "python.versioned.since", use: "DLPACKGEN_VERSIONED_MAJOR", value: r.NewestPython.VersionedMajor,
			form:  `(?i)(?:newest|version)\w*(?:\[0\])?\s*>=?\s*NUMBER`,
			wrong: []string{"options->versioned = newest[0] >= 1;"},
			right: []string{"newest[0] >= DLPACKGEN_VERSIONED_MAJOR"}},
		{name: "kDLCPU", use: "the enumerator, or _CPU in Python", value: int(cpu),
			form:  `(?i)device(?:_?type)?\s*(?:[=!]=|[=:])\s*NUMBER`,
			wrong: []string{"device = 1 if p.cpu else kernel.device", "DeviceType: 1", "device_type == 1"},
			right: []string{"device = 10", "device = _CPU if p.cpu else kernel.device"}},
	}
}

// The numbers of the spec are rendered as constants, which sources use: a user's spec may have
// others.
func TestNoSourceRepeatsANumberOfTheSpec(t *testing.T) {
	r, err := spec.Embedded().Release("main")
	require.NoError(t, err)
	sources := map[string]string{}
	require.NoError(t, fs.WalkDir(templates.Files, ".", func(file string, d fs.DirEntry, err error) error {
		l, ok := languageOf(file)
		if err != nil || d.IsDir() || !ok {
			return err
		}
		text, err := fs.ReadFile(templates.Files, file)
		sources[file] = codeOf(l, string(text))
		return err
	}))
	assert.Greater(t, len(sources), 200)
	for _, n := range numbersOf(r) {
		form := n.pattern()
		for file, code := range sources {
			assert.Equal(t, slices.Contains(n.others, file), form.MatchString(code),
				"%s repeats %s of spec/dlpack.yaml: use %s", file, n.name, n.use)
		}
		for _, line := range n.wrong {
			assert.Regexp(t, form, codeOf(languageC, line))
		}
		for _, line := range n.right {
			assert.NotRegexp(t, form, codeOf(languageC, line))
		}
	}
}
