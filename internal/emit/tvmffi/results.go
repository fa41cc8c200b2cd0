package tvmffi

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

func (w *writer) allocates(format string, args ...any) {
	w.v.Allocate = append(w.v.Allocate, fmt.Sprintf(format, args...))
}

// results writes the memory of the results: that of the further arguments, or memory that the
// caller's library allocates.
func (w *writer) results() {
	var checked, made []string
	place, site, value := len(w.k.Args), len(w.k.Args), 0
	saved := len(w.k.Returned())
	for i, p := range w.k.Results {
		if p.Kind != contract.Tensor {
			w.local("%s;", scalarResult(p, i))
			w.v.Passing += fmt.Sprintf(", &result_%d_", i)
			value++
			continue
		}
		w.local("DLTensor* result_%d_ = NULL;", i)
		w.v.Passing += fmt.Sprintf(", result_%d_", i)
		if p.Saved {
			checked = append(checked, "NULL")
			w.saved(i, p, site, saved)
			saved++
		} else {
			w.outs(i, place, site)
			checked = append(checked, fmt.Sprintf("result_%d_", i))
			made = append(made, try("dlpackgen_tvmffi_allocate(&sites_[%d], &kernel_.results.%s, kernel_.device, "+
				"&returned_[%d], &result_%d_, message_)", site, p.Name, value, i))
			place++
			value++
		}
		site++
	}
	w.returned, w.v.Room = value, max(value, saved)
	if len(checked) > 0 {
		w.check(checked, made)
	}
}

// outs writes the reading of memory for a result.
func (w *writer) outs(i, place, site int) {
	w.local("struct dlpackgen_tvmffi_strided out_%d_;", i)
	w.reads("if (in_place_) {")
	w.tries("dlpackgen_tvmffi_read_tensor(&sites_[%d], &args_[%d], 0, &out_%d_, &result_%d_, message_)", site,
		place, i, i)
	w.reads("}")
}

// saved writes the allocation of a result that callers do not receive.
func (w *writer) saved(i int, p contract.Param, site, value int) {
	w.local("struct dlpackgen_tvmffi_memory saved_%d_;", i)
	w.local("saved_%d_.block = NULL;", i)
	w.v.Release = append(w.v.Release, fmt.Sprintf("free(saved_%d_.block);", i))
	w.allocates("%s", try("dlpackgen_tvmffi_make_saved(&sites_[%d], &kernel_.results.%s, kernel_.device, &saved_%d_, "+
		"&returned_[%d], &result_%d_, message_)", site, p.Name, i, value, i))
}

// check writes both forms. Memory is checked before anything is allocated.
func (w *writer) check(checked, made []string) {
	lines := []string{"if (in_place_) {",
		"  const DLTensor* const outs_[] = {" + strings.Join(checked, ", ") + "};",
		"  " + try("dlpackgen_check_results_kernel_%s(&kernel_, outs_, NULL, sites_ + %d, message_)", w.k.Name,
			len(w.k.Args)),
		"} else {"}
	for _, line := range made {
		lines = append(lines, "  "+line)
	}
	w.v.Allocate = append(append(lines, "}"), w.v.Allocate...)
}

// scalarResult declares the variable of a scalar result.
func scalarResult(p contract.Param, i int) string {
	return p.ZeroScalar(fmt.Sprintf("result_%d_", i))
}

// give writes the return value: the results in order, except those for which the caller provided
// memory.
func (w *writer) give() {
	gives := func(format string, args ...any) { w.v.Give = append(w.v.Give, fmt.Sprintf(format, args...)) }
	value := 0
	for i, p := range w.k.Results {
		if p.Saved {
			continue
		}
		if p.Kind != contract.Tensor {
			gives("returned_[%d] = %s;", value, w.scalarValue(i, p))
		}
		value++
	}
	if w.returned > 0 {
		gives("status_ = dlpackgen_tvmffi_return(%s, returned_, %d, result_, message_);", w.v.Function, w.returned)
	} else {
		gives("(void)result_;")
	}
	if w.v.Room > 0 {
		w.v.Release = append(w.v.Release, fmt.Sprintf("dlpackgen_tvmffi_drop(returned_, %d);", w.v.Room))
	}
}

// scalarValue writes the conversion of a scalar to a value.
func (w *writer) scalarValue(i int, p contract.Param) string {
	return w.k.ScalarOf(p, fmt.Sprintf("result_%d_", i), of)
}

// of writes the conversion of a scalar of a C type to a value.
func of(ctype, at string) string {
	switch ctype {
	case "float", "double":
		return "dlpackgen_tvmffi_of_float((double)" + at + ")"
	case "bool":
		return "dlpackgen_tvmffi_of_bool(" + at + ")"
	case "uint64_t":
		return "dlpackgen_tvmffi_of_natural(" + at + ")"
	}
	return "dlpackgen_tvmffi_of_int((int64_t)" + at + ")"
}
