package checks

import (
	"fmt"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// hasUsual tells whether a kernel has a short way for most calls: C-contiguous tensors with
// elements in the host's memory.
func hasUsual(k *contract.Kernel) bool {
	flagged := func(d contract.Dim) bool { return d.Flagged }
	if slices.ContainsFunc(k.Dims, flagged) || slices.ContainsFunc(k.Ellipses, flagged) {
		return false
	}
	if !slices.ContainsFunc(k.Devices, func(d contract.Device) bool { return d.Name == "kDLCPU" }) {
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

// isUsual tells whether a tensor can be checked in one pass.
func isUsual(p contract.Param) bool {
	narrow := func(d spec.DType) bool { return d.Bits%8 != 0 || d.Lanes != 1 }
	solved := func(e contract.Extent) bool { return e.Form == contract.Solved }
	return p.Layout == contract.Contiguous && p.Align == 0 && len(p.Types) > 0 &&
		!slices.ContainsFunc(p.Types, narrow) && !slices.ContainsFunc(p.Extents, solved)
}

// usual writes the short way: what does not fit is left to the checks that can say why.
func (c *checker) usual() {
	if !hasUsual(c.k) {
		return
	}
	c.locals = append(c.locals, "int usual = 0;")
	c.begin("most calls", "")
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.line("uint64_t bytes_%d = 0;", i)
		}
	}
	c.line("do {")
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.usualTensor(i, p)
		}
	}
	c.usualApart()
	c.line("call->device.device_type = kDLCPU;")
	c.line("call->device.device_id = 0;")
	c.line("usual = 1;")
	c.kept()
	c.line("} while (0);")
	for i := range c.k.Ellipses {
		c.line("if (!usual) span_%d.bound = 0;", i)
	}
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor {
			c.line("(void)bytes_%d;", i)
		}
	}
}

// kept leaves what it finds to the check of memory for results.
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

func (c *checker) usualTensor(i int, p contract.Param) {
	at := "call->args." + p.Name
	if p.Optional {
		c.line("if (%s) {", at)
		defer c.line("}")
	}
	rank, ellipsis := p.Rank()
	c.line("if (!dlpackgen_is_usual(%s, call->flags.%s, %d, %d, %d, &bytes_%d)) break;",
		at, p.Name, btoi(p.Writes()), rank, btoi(ellipsis != contract.None), i)
	c.usualType(i, p, at)
	for d, e := range p.Extents {
		c.usualExtent(i, d, p, e, at)
	}
}

// usualType compares the dtype.
func (c *checker) usualType(i int, p contract.Param, at string) {
	if p.Var == contract.None {
		c.line("{")
		c.line("static const uint32_t dtypes[] = { %s };", dtypes(p.Types))
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
	c.line("call->types.%s = dlpackgen_place_of(%s, %d, dlpackgen_dtype_of(%s));",
		contract.Member(v.Name), table(c.k, p.Var), len(v.Types), at)
	c.line("if (call->types.%s < 0) break;", contract.Member(v.Name))
}

// usualExtent binds or compares an extent.
func (c *checker) usualExtent(i, d int, p contract.Param, e contract.Extent, at string) {
	extent := fmt.Sprintf("%s->shape[%s]", at, dimension(p, d, at))
	switch e.Form {
	case contract.Fixed:
		c.line("if (%s != INT64_C(%d)) break;", extent, e.Number)
	case contract.Symbol:
		value := "call->dims." + contract.Member(c.k.Dims[e.Dim].Name)
		if c.k.Dims[e.Dim].Arg == i && c.first(i, d, e.Dim) {
			c.line("%s = %s;", value, extent)
		} else {
			c.line("if (%s != %s) break;", extent, value)
		}
	case contract.Ellipsis:
		rank, _ := p.Rank()
		c.line("if (!dlpackgen_fits_span(%s, %d, %d, %d, &span_%d)) break;", at, i, d, rank, e.Dim)
	}
}

// usualApart compares the byte ranges of what is written.
func (c *checker) usualApart() {
	for _, pair := range c.k.Apart() {
		a, b := c.k.Args[pair[0]], c.k.Args[pair[1]]
		c.line("if (%s%sdlpackgen_blocks_meet(call->args.%s, bytes_%d, call->args.%s, bytes_%d)) break;",
			present(a, "call->args."+a.Name), present(b, "call->args."+b.Name), a.Name, pair[0], b.Name, pair[1])
	}
}
