package checks

import (
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// hasUsual reports whether a kernel has a fast path for most calls: C-contiguous, non-empty tensors
// on one device.
func hasUsual(k *contract.Kernel) bool {
	flagged := func(d contract.Dim) bool { return d.Flagged }
	if slices.ContainsFunc(k.Dims, flagged) || slices.ContainsFunc(k.Ellipses, flagged) {
		return false
	}
	if place(k) == contract.None && !slices.ContainsFunc(k.Devices, isCPU) {
		return false
	}
	tensors := 0
	for _, p := range k.Args {
		if p.Kind != contract.Tensor {
			continue
		}
		if tensors++; !isUsual(p) {
			return false
		}
	}
	return tensors > 0
}

func isCPU(d contract.Device) bool { return d.Name == "kDLCPU" }

// place returns the argument whose device most calls use. It returns None if that is the CPU, or if
// no required tensor determines it.
func place(k *contract.Kernel) int {
	if len(k.Devices) == 1 && isCPU(k.Devices[0]) {
		return contract.None
	}
	decides := func(p contract.Param) bool { return p.Kind == contract.Tensor && !p.Optional && !p.CPU }
	if i := slices.IndexFunc(k.Args, decides); i >= 0 {
		return i
	}
	return contract.None
}

// isUsual reports whether a tensor can be checked in one pass.
func isUsual(p contract.Param) bool {
	narrow := func(d spec.DType) bool { return d.Bits%8 != 0 || d.Lanes != 1 }
	solved := func(e contract.Extent) bool { return e.Form == contract.Solved }
	return p.Layout == contract.Contiguous && p.Align == 0 && len(p.Types) > 0 &&
		!slices.ContainsFunc(p.Types, narrow) && !slices.ContainsFunc(p.Extents, solved)
}

// usual writes the fast path. Calls that do not match it go to the checks that produce messages.
func (c *checker) usual() {
	if !c.short {
		return
	}
	c.locals = append(c.locals, "int usual = 0;")
	c.begin("most calls", "")
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.line("uint64_t bytes_%d = 0;", i)
		}
	}
	for _, d := range c.k.Dims {
		if c.k.Args[d.Arg].Kind == contract.Tensor {
			c.line("int64_t dim_%s = 0;", contract.Member(d.Name))
		}
	}
	for _, v := range c.k.Vars {
		if c.k.Args[v.Arg].Kind == contract.Tensor {
			c.line("int type_%s = 0;", contract.Member(v.Name))
		}
	}
	c.line("DLDevice place = dlpackgen_host();")
	c.line("do {")
	c.usualPlace()
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.usualTensor(i, p)
		}
	}
	c.usualApart()
	c.found()
	c.line("call->device = place;")
	c.line("usual = 1;")
	c.kept()
	c.line("} while (0);")
	for i := range c.k.Ellipses {
		c.line("if (!usual) groups[%d].bound = 0;", i)
	}
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.line("(void)bytes_%d;", i)
		}
	}
}

// found stores symbols and dtypes in the call. Until then they are local variables, because a
// compiler must assume that a tensor and the call may alias.
func (c *checker) found() {
	for _, d := range c.k.Dims {
		if c.k.Args[d.Arg].Kind == contract.Tensor {
			c.line("call->dims.%s = dim_%s;", contract.Member(d.Name), contract.Member(d.Name))
		}
	}
	for _, v := range c.k.Vars {
		if c.k.Args[v.Arg].Kind == contract.Tensor {
			c.line("call->types.%s = type_%s;", contract.Member(v.Name), contract.Member(v.Name))
		}
	}
}

// kept stores the results of the fast path for the check of memory for results.
func (c *checker) kept() {
	if !c.returnsTensors() {
		return
	}
	c.line("call->is_usual = 1;")
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.line("call->bytes.%s = bytes_%d;", p.Name, i)
		}
	}
}

func (c *checker) returnsTensors() bool {
	return slices.ContainsFunc(c.k.Results, func(p contract.Param) bool { return p.Kind == contract.Tensor })
}

// usualPlace determines the device of the call, if it is not always the CPU.
func (c *checker) usualPlace() {
	i := place(c.k)
	if i == contract.None {
		return
	}
	list, count := c.devices(c.k.Args[i])
	c.line("{")
	c.line("static const int32_t devices[] = {%s};", list)
	c.line("if (!dlpackgen_finds_place(call->args.%s, devices, %d, &place)) break;", c.k.Args[i].Name, count)
	c.line("}")
}

// expressions returns those for a tensor and its flags. The memory of a result is a parameter.
func expressions(p contract.Param) (tensor, flags string) {
	if p.Access == contract.OfResult {
		return passedPrefix + p.Name, "0"
	}
	return "call->args." + p.Name, "call->flags." + p.Name
}

func (c *checker) usualTensor(i int, p contract.Param) {
	at, flags := expressions(p)
	if p.Optional {
		c.line("if (%s) {", at)
		defer c.line("}")
	}
	rank, ellipsis := p.Rank()
	there := "place"
	if p.CPU {
		there = "dlpackgen_host()"
	}
	more := btoi(ellipsis != contract.None)
	c.line("if (!dlpackgen_has_dimensions(%s, %s, %d, %d)) break;", at, there, rank, more)
	c.usualType(i, p, at)
	// Extents that equal a symbol are in the range of its first extent, which a compiler can use.
	for d, e := range p.Extents {
		c.usualExtent(i, d, p, e, at)
	}
	c.line("if (!dlpackgen_is_block(%s, %s, %d, %d, %d, &bytes_%d)) break;", at, flags, btoi(p.Writes()), rank,
		more, i)
}

// usualType compares the dtype.
func (c *checker) usualType(i int, p contract.Param, at string) {
	if p.Var == contract.None {
		c.line("{")
		c.line("static const uint32_t dtypes[] = {%s};", dtypes(p.Types))
		c.line("if (dlpackgen_place_of(dtypes, %d, dlpackgen_dtype_of(%s)) < 0) break;", len(p.Types), at)
		c.line("}")
		return
	}
	v := c.k.Vars[p.Var]
	if i != v.Arg {
		binder := "call->args." + c.k.Args[v.Arg].Name
		c.line("if (!%s || dlpackgen_dtype_of(%s) != dlpackgen_dtype_of(%s)) break;", binder, at, binder)
		return
	}
	c.line("type_%s = dlpackgen_place_of(%s, %d, dlpackgen_dtype_of(%s));",
		contract.Member(v.Name), table(c.k, p.Var), len(v.Types), at)
	c.line("if (type_%s < 0) break;", contract.Member(v.Name))
}

// usualExtent binds or compares an extent.
func (c *checker) usualExtent(i, d int, p contract.Param, e contract.Extent, at string) {
	extent := fmt.Sprintf("%s->shape[%s]", at, dimension(p, d, at))
	switch e.Form {
	case contract.Fixed:
		c.line("if (%s != INT64_C(%d)) break;", extent, e.Number)
	case contract.Symbol:
		value := c.usualDim(e.Dim)
		if c.k.Dims[e.Dim].Arg == i && c.first(i, d, e.Dim) {
			c.line("%s = %s;", value, extent)
		} else {
			c.line("if (%s != %s) break;", extent, value)
		}
	case contract.Ellipsis:
		rank, _ := p.Rank()
		c.line("if (!dlpackgen_fits_group(%s, %d, %d, %d, &groups[%d])) break;", at, i, d, rank, e.Dim)
	}
}

// usualDim returns the expression for the value of a symbol.
func (c *checker) usualDim(i int) string {
	d := c.k.Dims[i]
	if c.k.Args[d.Arg].Kind == contract.Tensor {
		return "dim_" + contract.Member(d.Name)
	}
	return "call->dims." + contract.Member(d.Name)
}

// usualApart compares the byte ranges of written tensors.
func (c *checker) usualApart() {
	for _, pair := range c.k.Apart() {
		a, b := c.k.Args[pair[0]], c.k.Args[pair[1]]
		x, _ := expressions(a)
		y, _ := expressions(b)
		c.line("if (%s%sdlpackgen_blocks_meet(%s, bytes_%d, %s, bytes_%d)) break;", present(a, x), present(b, y), x,
			pair[0], y, pair[1])
	}
}
