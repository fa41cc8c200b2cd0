package jax

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/traced"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// reader writes the lines of C that read a call frame, part by part in XLA's order.
type reader struct {
	k       *contract.Kernel
	lines   []string
	tensors int // that are read so far
}

// reads returns these lines.
func reads(k *contract.Kernel) []string {
	r := &reader{k: k}
	places := attributes(k)
	_, masked := places[maskName]
	if masked {
		r.lines = append(r.lines, "int64_t mask_ = 0;")
		r.try("dlpackgen_jax_mask(call_, &mask_)")
	} else {
		arguments, results := counts(k)
		r.try("dlpackgen_jax_counts(call_, %d, %d)", arguments, results)
	}
	for i, p := range k.Args {
		r.argument(i, p, places[p.Name])
	}
	for i, p := range k.Results {
		r.try("dlpackgen_jax_result(call_, results_++, %d, &made_[%d])", rank(p), i)
	}
	for i, p := range k.Args {
		if p.Kind == contract.Tensor && p.Writes() {
			r.whenPresent(i, p, func() {
				r.try("dlpackgen_jax_written(call_, results_++, (const DLTensor*)values_[%d].items)", i)
			})
		}
	}
	if masked {
		r.try("dlpackgen_jax_counts(call_, arguments_, results_)")
	}
	return r.lines
}

// counts returns the numbers of a call's arguments and results; written arguments are both.
func counts(k *contract.Kernel) (arguments, results int) {
	results = len(k.Results)
	for _, p := range k.Args {
		if p.Kind != contract.Tensor {
			continue
		}
		arguments++
		if p.Writes() {
			results++
		}
	}
	return arguments, results
}

// try adds a call that may fail.
func (r *reader) try(format string, args ...any) {
	r.lines = append(r.lines, "status_ = "+fmt.Sprintf(format, args...)+";",
		"if (DLPACKGEN_RARE(status_)) return status_;")
}

// whenPresent adds lines for an argument that may be None.
func (r *reader) whenPresent(i int, p contract.Param, lines func()) {
	if !p.Optional {
		lines()
		return
	}
	r.lines = append(r.lines, fmt.Sprintf("if (mask_ >> %d & 1) {", i))
	first := len(r.lines)
	lines()
	for n := range r.lines[first:] {
		r.lines[first+n] = "  " + r.lines[first+n]
	}
	r.lines = append(r.lines, "}")
}

func (r *reader) argument(i int, p contract.Param, place int) {
	if p.Optional || p.Kind != contract.Tensor {
		r.lines = append(r.lines, fmt.Sprintf("values_[%d] = (struct dlpackgen_traced_value){0};", i)) // None
	}
	if p.Optional {
		r.lines = append(r.lines, fmt.Sprintf("values_[%d].is_present = mask_ >> %d & 1;", i, i))
	}
	r.whenPresent(i, p, func() {
		if p.Kind != contract.Tensor {
			r.try("dlpackgen_jax_read(call_, %d, DLPACKGEN_JAX_%s, &values_[%d])", place,
				strings.ToUpper(traced.Form(p)), i)
			r.inRange(i, p)
			return
		}
		r.try("dlpackgen_jax_argument(call_, arguments_++, %d, %t, &tensors_[%d])", rank(p),
			p.Layout == contract.ColumnMajor, r.tensors)
		r.lines = append(r.lines, fmt.Sprintf("values_[%d].items = &tensors_[%d].tensor;", i, r.tensors))
	})
	if p.Kind == contract.Tensor {
		r.tensors++
	}
}

// rank returns the number of dimensions of a tensor, or -1 if it has "...".
func rank(p contract.Param) int {
	if n, ellipsis := p.Rank(); ellipsis == contract.None {
		return n
	}
	return -1
}

// inRange checks the range of an integer with fewer than 64 bits. kernels_jax.py has checked it
// too, but may belong to another version of the library.
func (r *reader) inRange(i int, p contract.Param) {
	if p.Kind != contract.Number || p.Var != contract.None || traced.Form(p) != "integer" || p.Types[0].Bits >= 64 {
		return
	}
	d := p.Types[0]
	site := fmt.Sprintf("at_%d_", i)
	r.lines = append(r.lines, fmt.Sprintf("static const struct dlpackgen_site %s = {%s, %s, %d};", site,
		emit.CLiteral(r.k.Name), emit.CLiteral(p.Name), i))
	r.try("dlpackgen_jax_fits(call_, &%s, DLPACKGEN_JAX_DTYPE(%s, %d), values_[%d].integer)", site, d.Code, d.Bits, i)
}
