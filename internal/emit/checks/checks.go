package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
	"github.com/dlpackgen/dlpackgen/internal/kernel/notation"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// checker writes the body of a check function.
type checker struct {
	k      *contract.Kernel
	short  bool // has a short way for most calls
	locals []string
	steps  []step
	rules  [][]step // steps that the fast path makes unnecessary
	open   *step    // the lines of one argument
	depth  int      // of braces
}

// check writes all parts in the order in which mismatches are reported: first argument by argument,
// then the checks of several arguments.
func (c *checker) check() {
	c.declare()
	if c.returnsTensors() {
		c.begin("", "")
		c.line("call->is_usual = 0;")
	}
	c.usual()
	for i, p := range c.k.Args {
		c.argument(i, p)
	}
	c.oneDevice()
	for i, p := range c.k.Args {
		c.computed(i, p)
	}
	for _, cond := range c.k.Where {
		c.where(cond)
	}
	c.apart()
	for i, p := range c.k.Results {
		if p.Kind == contract.Tensor {
			c.result(i, p)
		}
	}
}

// begin starts a step, to which the following lines belong.
func (c *checker) begin(comment, condition string) {
	c.steps = append(c.steps, step{Comment: comment, If: condition})
	c.enter(&c.steps[len(c.steps)-1])
}

func (c *checker) enter(s *step) {
	c.open, c.depth = s, 1
	if s.If != "" {
		c.depth++
	}
}

// beginRules starts a step that the fast path makes unnecessary. Consecutive steps of this kind
// form a separate function, outside the code that most calls run.
func (c *checker) beginRules(comment, condition string) {
	if !c.short {
		c.begin(comment, condition)
		return
	}
	if last := len(c.steps) - 1; last < 0 || !c.steps[last].Apart {
		c.steps = append(c.steps, step{Apart: true, Rules: len(c.rules)})
		c.rules = append(c.rules, nil)
	}
	last := &c.rules[len(c.rules)-1]
	*last = append(*last, step{Comment: comment, If: condition})
	c.enter(&(*last)[len(*last)-1])
}

// line adds a line, indented by the number of open braces.
func (c *checker) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") {
		c.depth--
	}
	c.open.Lines = append(c.open.Lines, strings.Repeat("  ", c.depth)+text)
	if strings.HasSuffix(text, "{") {
		c.depth++
	}
}

// demand returns a line that ends the check if a condition fails.
func (c *checker) demand(format string, args ...any) {
	c.line("status = "+format+";", args...)
	c.line("if (DLPACKGEN_RARE(status)) return status;")
}

// declare declares variables for the results of the check, and assigns the symbols that are
// arguments.
func (c *checker) declare() {
	for i, d := range c.k.Dims {
		if d.Flagged {
			c.locals = append(c.locals, fmt.Sprintf("int bound_%d = 0; /* %s */", i, d.Name))
		}
	}
	var groups []string
	for _, e := range c.k.Ellipses {
		groups = append(groups, "..."+e.Name)
	}
	if len(groups) > 0 {
		const none = "struct dlpackgen_group groups[%d] = {{DLPACKGEN_CODES_NULL, 0, 0}}; /* %s */"
		c.locals = append(c.locals, fmt.Sprintf(none, len(groups), strings.Join(groups, ", ")))
	} else {
		c.locals = append(c.locals, "struct dlpackgen_group* const groups = DLPACKGEN_CODES_NULL;")
	}
	for i, d := range c.k.Dims {
		if c.k.Args[d.Arg].Kind != contract.Int {
			continue
		}
		at := "call->args." + d.Name
		if !d.Flagged {
			c.begin("", "")
			c.line("call->dims.%s = %s;", contract.Member(d.Name), at)
			continue
		}
		c.begin("", at)
		c.line("call->dims.%s = *%s;", contract.Member(d.Name), at)
		c.line("bound_%d = %d;", i, d.Arg+1)
	}
}

// argument writes the checks of one argument that depend only on this argument and on earlier ones.
func (c *checker) argument(i int, p contract.Param) {
	at := "call->args." + p.Name
	switch p.Kind {
	case contract.Tensor:
		if !p.Optional {
			c.beginRules(p.Name, "")
			c.demand("dlpackgen_check_there(&sites[%d], %s != DLPACKGEN_CODES_NULL, message)", i, at)
		} else {
			c.beginRules(p.Name, at)
		}
		c.tensor(i, p, at)
	case contract.Str:
		condition := ""
		if p.Optional {
			condition = at
		}
		c.begin(p.Name, condition)
		c.demand("dlpackgen_check_text(&sites[%d], %s, message)", i, at)
	case contract.Ints, contract.Floats:
		c.list(i, p, at)
	}
}

func (c *checker) list(i int, p contract.Param, at string) {
	condition := ""
	if p.Optional {
		condition = at + ".items"
	}
	c.begin(p.Name, condition)
	if p.Count == 0 {
		c.demand("dlpackgen_check_items(&sites[%d], %s.count, %d, 1, message)", i, at, p.Least)
	} else {
		c.demand("dlpackgen_check_items(&sites[%d], %s.count, %d, 0, message)", i, at, p.Count)
	}
	if !p.Optional {
		c.demand("dlpackgen_check_there(&sites[%d], %s.items || %s.count == 0, message)", i, at, at)
	}
}

// tensor writes the checks of one tensor.
func (c *checker) tensor(i int, p contract.Param, at string) {
	c.demand("dlpackgen_check_valid(&sites[%d], %s, call->flags.%s, message)", i, at, p.Name)
	if mayBeNarrow(p) {
		c.demand("dlpackgen_check_packed(&sites[%d], %s, call->flags.%s, message)", i, at, p.Name)
	}
	if p.Writes() {
		c.demand("dlpackgen_check_writable(&sites[%d], call->flags.%s, message)", i, p.Name)
	}
	c.dtype(i, p, at)
	rank, ellipsis := p.Rank()
	c.demand("dlpackgen_check_rank(&sites[%d], %s, %d, %d, message)", i, at, rank, btoi(ellipsis != contract.None))
	for d := range p.Extents {
		c.extent(i, p, d, at)
	}
	c.layout(i, p, at)
	if p.Writes() {
		c.demand("dlpackgen_check_overlap(&sites[%d], %s, message)", i, at)
	}
	list, count := c.devices(p)
	c.line("{")
	c.line("static const int32_t devices[] = {%s};", list)
	c.demand("dlpackgen_check_device(&sites[%d], %s->device, devices, %d, message)", i, at, count)
	c.line("}")
	c.demand("dlpackgen_check_memory(&sites[%d], %s, message)", i, at)
	c.demand("dlpackgen_check_alignment(&sites[%d], %s, message)", i, at)
	if p.Align > 0 {
		c.demand("dlpackgen_check_aligned(&sites[%d], %s, %d, message)", i, at, p.Align)
	}
}

// mayBeNarrow reports whether elements may be narrower than a byte.
func mayBeNarrow(p contract.Param) bool {
	return len(p.Types) == 0 || slices.ContainsFunc(p.Types, func(d spec.DType) bool { return d.Bits%8 != 0 })
}

// devices lists the device types of a tensor.
func (c *checker) devices(p contract.Param) (list string, count int) {
	if p.CPU {
		return "kDLCPU", 1
	}
	var all []string
	for _, d := range c.k.Devices {
		all = append(all, fmt.Sprint(d.Value))
	}
	return strings.Join(all, ", "), len(all)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dtype writes the check of the dtype. The argument that binds a variable also determines which of
// its dtypes is used. An earlier argument, which may be None, is compared there.
func (c *checker) dtype(i int, p contract.Param, at string) {
	if p.Var == contract.None {
		if len(p.Types) > 0 {
			c.line("{")
			c.line("static const uint32_t dtypes[] = {%s};", dtypes(p.Types))
			c.demand("dlpackgen_check_dtype(&sites[%d], %s, dtypes, %d, message)", i, at, len(p.Types))
			c.line("}")
		}
		return
	}
	v := c.k.Vars[p.Var]
	binder := "call->args." + c.k.Args[v.Arg].Name
	switch {
	case i > v.Arg:
		c.demand("dlpackgen_check_dtype(&sites[%d], %s, %s, %d, message)", i, at, table(c.k, p.Var), len(v.Types))
		c.demand("dlpackgen_check_same_dtype(&sites[%d], %s, &sites[%d], %s, message)", i, at, v.Arg, binder)
		return
	case i < v.Arg:
		c.demand("dlpackgen_check_dtype(&sites[%d], %s, %s, %d, message)", i, at, table(c.k, p.Var), len(v.Types))
		return
	}
	c.demand("dlpackgen_check_dtype(&sites[%d], %s, %s, %d, message)", i, at, table(c.k, p.Var), len(v.Types))
	c.line("call->types.%s = dlpackgen_place_of(%s, %d, dlpackgen_dtype_of(%s));", contract.Member(v.Name),
		table(c.k, p.Var), len(v.Types), at)
	for j, earlier := range c.k.Args[:i] {
		if earlier.Var == p.Var && earlier.Kind == contract.Tensor {
			before := "call->args." + earlier.Name
			c.line("if (%s) status = dlpackgen_check_same_dtype(&sites[%d], %s, &sites[%d], %s, message);", before,
				j, before, i, at)
			c.line("if (DLPACKGEN_RARE(status)) return status;")
		}
	}
}

// dimension returns the expression for the index of an extent.
func dimension(p contract.Param, d int, at string) string {
	_, ellipsis := p.Rank()
	if ellipsis == contract.None || d < ellipsis {
		return fmt.Sprint(d)
	}
	return fmt.Sprintf("%s->ndim - %d", at, len(p.Extents)-d)
}

// extent writes the check of an extent that depends only on this argument and on earlier ones.
func (c *checker) extent(i int, p contract.Param, d int, at string) {
	e := p.Extents[d]
	place := dimension(p, d, at)
	switch e.Form {
	case contract.Fixed:
		c.demand("dlpackgen_check_extent(&sites[%d], %s, %s, INT64_C(%d), message)", i, at, place, e.Number)
	case contract.Symbol:
		c.symbol(i, d, e, place, at)
	case contract.Solved:
		c.solved(i, e, place, at)
	case contract.Ellipsis:
		rank, _ := p.Rank()
		c.demand("dlpackgen_bind_group(sites, %d, %s, %d, %d, %s, &groups[%d], message)", i, at, d, rank,
			emit.CLiteral(c.k.Ellipses[e.Dim].Name), e.Dim)
	}
}

// symbol binds a symbol, or compares an extent with the symbol's value.
func (c *checker) symbol(i, d int, e contract.Extent, place, at string) {
	dim := c.k.Dims[e.Dim]
	value := "call->dims." + contract.Member(dim.Name)
	first := dim.Arg == i && c.first(i, d, e.Dim)
	switch {
	case dim.Flagged:
		c.demand("dlpackgen_bind_extent(sites, %d, %s, %s, %s, &%s, &bound_%d, message)", i, at, place,
			emit.CLiteral(dim.Name), value, e.Dim)
	case first:
		c.line("%s = %s->shape[%s];", value, at, place)
	default:
		c.demand("dlpackgen_check_symbol(&sites[%d], %s, %s, %s, %s, &sites[%d], message)", i, at, place,
			emit.CLiteral(dim.Name), value, dim.Arg)
	}
}

// first reports whether an extent is the first one of its argument that consists of a symbol.
func (c *checker) first(i, d, dim int) bool {
	return !slices.ContainsFunc(c.k.Args[i].Extents[:d], func(e contract.Extent) bool {
		return e.Form == contract.Symbol && e.Dim == dim
	})
}

// solved binds a symbol that appears in an expression.
func (c *checker) solved(i int, e contract.Extent, place, at string) {
	dim := c.k.Dims[e.Dim]
	number, solve := dim.Solve.Number, "dlpackgen_solve_sum"
	switch dim.Solve.Op {
	case notation.Subtract:
		number = -number
	case notation.Multiply:
		solve = "dlpackgen_solve_product"
	}
	c.demand("%s(&sites[%d], %s, %s, %s, INT64_C(%d), &call->dims.%s, message)", solve, i, at, place,
		emit.CLiteral(e.Size.String()), number, contract.Member(dim.Name))
	if dim.Flagged {
		c.line("bound_%d = %d;", e.Dim, i+1)
		c.line("(void)bound_%d;", e.Dim) // nothing else may refer to the symbol
	}
}

// layouts maps the layouts of package contract to those of the C checker.
var layouts = map[contract.Layout]string{
	contract.Contiguous: "DLPACKGEN_LAYOUT_C_CONTIGUOUS", contract.Inner: "DLPACKGEN_LAYOUT_INNER_CONTIGUOUS",
	contract.AnyOrder: "DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER",
}

func (c *checker) layout(i int, p contract.Param, at string) {
	if p.Layout == contract.ColumnMajor {
		c.demand("dlpackgen_check_column_major(&sites[%d], %s, message)", i, at)
	} else if name := layouts[p.Layout]; name != "" {
		c.demand("dlpackgen_check_layout_of(&sites[%d], %s, %s, message)", i, at, name)
	}
}

// oneDevice compares the devices of all tensors except those with the word `cpu`.
func (c *checker) oneDevice() {
	var which, tensors []string
	for i, p := range c.k.Args {
		if p.Kind == contract.Tensor && !p.CPU {
			which, tensors = append(which, fmt.Sprint(i)), append(tensors, "call->args."+p.Name)
		}
	}
	c.beginRules("the device", "")
	c.line("call->device.device_type = (DLDeviceType)%d;", c.k.Devices[0].Value)
	c.line("call->device.device_id = 0;")
	if len(which) == 0 {
		return
	}
	c.line("{")
	c.line("static const int which[] = {%s};", strings.Join(which, ", "))
	c.line("const DLTensor* const tensors[] = {%s};", strings.Join(tensors, ", "))
	c.demand("dlpackgen_check_one_device(sites, which, tensors, %d, &call->device, message)", len(which))
	c.line("}")
}

// computed writes the checks of extents that are expressions.
func (c *checker) computed(i int, p contract.Param) {
	at := "call->args." + p.Name
	for d, e := range p.Extents {
		if e.Form != contract.Computed {
			continue
		}
		condition := ""
		if p.Optional {
			condition = at
		}
		c.begin(p.Name+": "+emit.CComment(e.Size.String()), condition)
		c.line("bad = 0;")
		c.line("{")
		c.line("const int64_t expected = %s;", c.expr(e.Size))
		c.demand("dlpackgen_check_computed(&sites[%d], %s, %s, %s, expected, bad, message)", i, at,
			dimension(p, d, at), emit.CLiteral(e.Size.String()))
		c.line("}")
	}
}

// apart writes the checks that written tensors do not overlap others.
func (c *checker) apart() {
	for _, pair := range c.k.Apart() {
		i, j := pair[0], pair[1]
		p, other := c.k.Args[i], c.k.Args[j]
		a, b := "call->args."+p.Name, "call->args."+other.Name
		c.beginRules("", strings.TrimSuffix(present(p, a)+present(other, b), " && "))
		c.demand("dlpackgen_check_apart(&sites[%d], %s, &sites[%d], %s, message)", i, a, j, b)
	}
}

func present(p contract.Param, at string) string {
	if p.Optional {
		return at + " && "
	}
	return ""
}

// result writes the dtype and the shape of a result.
func (c *checker) result(i int, p contract.Param) {
	made := "call->results." + p.Name
	c.begin(p.Name, "")
	if p.Var != contract.None {
		c.line("%s.dtype = call->args.%s->dtype;", made, c.k.Args[c.k.Vars[p.Var].Arg].Name)
	} else {
		d := p.Types[0]
		c.line("%s.dtype.code = (uint8_t)%s;", made, d.Code)
		c.line("%s.dtype.bits = %d;", made, d.Bits)
		c.line("%s.dtype.lanes = %d;", made, d.Lanes)
	}
	c.line("%s.ndim = 0;", made)
	for _, e := range p.Extents {
		if e.Form == contract.Ellipsis {
			c.line("dlpackgen_add_group(&%s, &groups[%d]);", made, e.Dim)
			continue
		}
		c.line("bad = 0;")
		c.line("{")
		c.line("const int64_t extent = %s;", c.expr(e.Size))
		c.demand("dlpackgen_check_made(%s, %s, %s, extent, bad, message)", emit.CLiteral(c.k.Name),
			emit.CLiteral(p.Name), emit.CLiteral(e.Size.String()))
		c.line("dlpackgen_add_extent(&%s, extent);", made)
		c.line("}")
	}
	c.demand("dlpackgen_check_room(%s, %s, &%s, message)", emit.CLiteral(c.k.Name), emit.CLiteral(p.Name), made)
}
