package cformat

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The right sides are clang-format's results for the left sides.
var folded = []struct{ name, line, want string }{
	{"a short line stays", "int f(int x);", "int f(int x);"},
	{"a prototype",
		"DLPACKGEN_KERNELS_API int dlpackgen_check_kernel_rms_norm(struct dlpackgen_kernel_rms_norm* call, " +
			"struct dlpackgen_message* message);",
		`DLPACKGEN_KERNELS_API int dlpackgen_check_kernel_rms_norm(struct dlpackgen_kernel_rms_norm* call,
                                                          struct dlpackgen_message* message);`},
	{"a pointer to a function among parameters", "typedef int (*dlpackgen_tvm_ffi_make_function)(void*, " +
		"int (*)(void*, const struct dlpackgen_tvm_ffi_any*, int32_t, struct dlpackgen_tvm_ffi_any*), " +
		"void (*)(void*), void**);",
		`typedef int (*dlpackgen_tvm_ffi_make_function)(void*,
                                               int (*)(void*, const struct dlpackgen_tvm_ffi_any*, int32_t,
                                                       struct dlpackgen_tvm_ffi_any*),
                                               void (*)(void*), void**);`},
	{"an assignment that fits below", "    error_ = dlpackgen_ort_input(api_, context_, 1, 0, &sites_[1], &input_1_, " +
		"&kernel_.args.weight, &status_, &message_);",
		`    error_ =
        dlpackgen_ort_input(api_, context_, 1, 0, &sites_[1], &input_1_, &kernel_.args.weight, &status_, &message_);`},
	{"an if and its statement", "    if ((status_ = dlpackgen_tvmffi_allocate(&sites_[3], &kernel_.results.y, " +
		"kernel_.device, &given_[0], &result_0_, message_))) goto done_;",
		`    if ((status_ = dlpackgen_tvmffi_allocate(&sites_[3], &kernel_.results.y, kernel_.device, &given_[0], ` +
			`&result_0_,
                                             message_)))
      goto done_;`},
	{"a condition", "  if (DLPACKGEN_RARE(!((dlpackgen_modulo(call->dims.n, INT64_C(2), &bad) == INT64_C(0)) && " +
		"(call->dims.n <= INT64_C(64))) || bad)) {",
		`  if (DLPACKGEN_RARE(
          !((dlpackgen_modulo(call->dims.n, INT64_C(2), &bad) == INT64_C(0)) && (call->dims.n <= INT64_C(64))) ||
          bad)) {`},
	{"a list in braces", "  const struct dlpackgen_ufunc_loop loop_ = {&dlpackgen_ufunc_of_rms_norm, " +
		"dlpackgen_ufunc_call_rms_norm, dtypes_, given_, sizes_, steps_};",
		`  const struct dlpackgen_ufunc_loop loop_ = {
      &dlpackgen_ufunc_of_rms_norm, dlpackgen_ufunc_call_rms_norm, dtypes_, given_, sizes_, steps_};`},
	{"a list that ends in a comma", "static const int all[] = {first, second, };",
		"static const int all[] = {\n    first,\n    second,\n};"},
	{"such a list in columns", "static const int all[] = {one, two, three, four, five, };",
		"static const int all[] = {\n    one, two, three, four, five,\n};"},
	{"designators", `    {.name = "x", .kind = DLPACKGEN_KIND_TENSOR, .optional = 0, .writable = 0, ` +
		`.devices = {kDLCPU}, .dtypes = {DLPACKGEN_DTYPE(kDLFloat, 32, 1)}},`,
		`    {.name = "x",
     .kind = DLPACKGEN_KIND_TENSOR,
     .optional = 0,
     .writable = 0,
     .devices = {kDLCPU},
     .dtypes = {DLPACKGEN_DTYPE(kDLFloat, 32, 1)}},`},
	{"a case", "    case 1: failure_ = scale_by_a_long_name(call_->args.the_first_one, call_->args.the_second_one, " +
		"the_result, stream); break;",
		`    case 1:
      failure_ = scale_by_a_long_name(call_->args.the_first_one, call_->args.the_second_one, the_result, stream);
      break;`},
	{"choices", "  given_[0] = kernel_.types.T == 0 ? dlpackgen_tvmffi_of_float((double)result_0_.as_float) : " +
		"kernel_.types.T == 1 ? dlpackgen_tvmffi_of_int((int64_t)result_0_.as_int16_t) : " +
		"dlpackgen_tvmffi_of_bool(result_0_.as_bool);",
		`  given_[0] = kernel_.types.T == 0   ? dlpackgen_tvmffi_of_float((double)result_0_.as_float)
              : kernel_.types.T == 1 ? dlpackgen_tvmffi_of_int((int64_t)result_0_.as_int16_t)
                                     : dlpackgen_tvmffi_of_bool(result_0_.as_bool);`},
	{"a short function", "static void f(int x) {\n  g(x);\n}", "static void f(int x) { g(x); }"},
	{"a branch", "  if (x) {\n    g(x);\n  }", "  if (x) {\n    g(x);\n  }"},
	{"an assignment through a pointer", "  *failure_ = names_backward(call_->args.gradients, call_->args.numbers, " +
		"call_->args.saved, call_->args.handle, given_back, stream);",
		`  *failure_ = names_backward(call_->args.gradients, call_->args.numbers, call_->args.saved, call_->args.handle,
                             given_back, stream);`},
	{"a line of a comment", " * " + strings.Repeat("x, ", 50), " * " + strings.Repeat("x, ", 50)},
	{"a comment", "/* " + strings.Repeat("x, ", 50) + "*/", "/* " + strings.Repeat("x, ", 50) + "*/"},
}

func TestLongLinesAreBroken(t *testing.T) {
	for _, c := range folded {
		assert.Equal(t, c.want+"\n", Fold(c.line+"\n"), c.name)
		assert.Equal(t, c.want+"\n", Fold(c.want+"\n"), "%s: it stays as it is", c.name)
	}
}

func TestTheTokensStay(t *testing.T) {
	long := "int f(" + strings.Repeat("const DLTensor* x, ", 20) + "void* stream);\n"
	for line := range strings.Lines(Fold(long)) {
		assert.LessOrEqual(t, len(line)-1, 120)
	}
	assert.Equal(t, strings.Fields(long), strings.Fields(Fold(long)))
}

func TestPointers(t *testing.T) {
	for declaration, want := range map[string]string{
		"int x": "int x", "void *data": "void* data", "uint8_t *const x": "uint8_t* const x",
		"void (*deleter)(struct T *self)": "void (*deleter)(struct T* self)",
		"const char *(*x)(void **)":       "const char* (*x)(void**)", "void *const *": "void* const*",
	} {
		assert.Equal(t, want, Pointers(declaration))
		assert.Equal(t, want, Pointers(want))
	}
}

func TestCommentsInOneColumn(t *testing.T) {
	assert.Equal(t, []string{"a = 1,   /* A */", "bcd = 2, /* B */", "c = 3,", "d, /* D */"},
		AlignComments([]string{"a = 1, /* A */", "bcd = 2, /* B */", "c = 3,", "d, /* D */"}))
}

// A text in chunks is folded like the whole, however it is written.
func TestWriterFoldsLikeTheWhole(t *testing.T) {
	part := "static void f(int x) {\n  g(x);\n}\n\n\nint f(" + strings.Repeat("const DLTensor* x, ", 20) +
		"void* stream);\n\nstatic const int all[] = {first, second, };\n"
	for _, text := range []string{"", part, strings.Repeat(part, 3000),
		strings.Repeat(strings.ReplaceAll(part, "\n\n", "\n"), 3000)} {
		for _, size := range []int{1, 1000, len(text)} {
			var out Writer
			for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
				if _, err := io.WriteString(&out, rest[:min(size, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			assert.True(t, Fold(text) == strings.Join(out.Texts(), ""), "%d bytes in pieces of %d", len(text), size)
		}
	}
}
