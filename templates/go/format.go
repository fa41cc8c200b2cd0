//go:build ignore && !(386 || arm || mips || mipsle || wasm)

package dlpack

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// The limits of Format: those of NumPy, and a limit on the number of elements, which many
// dimensions could multiply.
const (
	summarizeAbove = 1000 // elements
	edgeItems      = 3    // at either end of a dimension, in a summary
	lineWidth      = 75
)

// Format implements fmt.Formatter. %v and %s print type, shape and device, followed by the elements
// in NumPy's form, with "..." in the middle of a large tensor; at most about a thousand elements
// are read. %+v adds strides, flags and address, %#v is [Tensor.GoString]. All other verbs, and a
// precision, apply to the elements: %.2f, %x. Elements that the host cannot read are omitted.
func (t Tensor) Format(s fmt.State, verb rune) {
	if verb == 'v' && s.Flag('#') {
		io.WriteString(s, t.GoString())
		return
	}
	if t.dl == nil {
		io.WriteString(s, "released tensor")
		return
	}
	fmt.Fprintf(s, "%v%v on %v", t.DataType(), t.Shape(), t.Device())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, ", strides %v, flags %v, at %#x", t.Strides(), t.Flags(), t.Addr())
	}
	if why := t.hidden(); why != "" {
		io.WriteString(s, ", "+why)
		return
	}
	text, gap := newPreview(t, elementVerb(s, verb)).text(), " "
	if strings.Contains(text, "\n") {
		gap = "\n"
	}
	io.WriteString(s, gap+text)
}

// String returns the output of %v.
func (t Tensor) String() string { return fmt.Sprintf("%v", t) }

// GoString returns the properties of a tensor in the form of a Go literal, without its elements.
func (t Tensor) GoString() string {
	if t.dl == nil {
		return "Tensor{}"
	}
	return fmt.Sprintf("Tensor{DataType: %v, Shape: %v, Strides: %v, Device: %v, Flags: %v, Addr: %#x}",
		t.DataType(), t.Shape(), t.Strides(), t.Device(), t.Flags(), t.Addr())
}

// hidden returns why the elements cannot be shown.
func (t Tensor) hidden() string {
	scalar := t.DataType()
	scalar.Lanes = 1
	switch {
	case !t.Device().Type.HostReadable():
		return "which the host cannot read"
	case scalar.value(make([]byte, maxElement)) == nil:
		return "of a type without a name"
	}
	return ""
}

// elementVerb returns the verb for one element, without the width, which columns determine, and
// without the flags of %v, which apply to the tensor.
func elementVerb(s fmt.State, verb rune) string {
	var out strings.Builder
	out.WriteByte('%')
	if verb != 'v' && verb != 's' {
		for _, flag := range "+-# 0" {
			if s.Flag(int(flag)) {
				out.WriteRune(flag)
			}
		}
	}
	if precision, ok := s.Precision(); ok {
		out.WriteString("." + strconv.Itoa(precision))
	}
	if verb == 's' {
		verb = 'v'
	}
	out.WriteRune(verb)
	return out.String()
}

// preview writes the elements of a tensor that the host can read. The lanes of
// its elements are one more dimension.
type preview struct {
	verb     string
	dtype    DataType // of a single lane
	first    unsafe.Pointer
	shape    []int64
	strides  []int64 // in bits
	summary  bool
	width    int // of the longest element
	left     int // elements that may still be read
	measures bool
	column   int // on the line that is being written
	out      strings.Builder
}

func newPreview(t Tensor, verb string) *preview {
	p := &preview{verb: verb, dtype: t.DataType(), first: t.first()}
	lanes := max(int(p.dtype.Lanes), 1)
	p.dtype.Lanes = 1
	p.summary = t.Len() > summarizeAbove/lanes
	step := int64(elementBits(t.DataType(), t.flags))
	for i, extent := range t.Shape() {
		p.shape = append(p.shape, extent)
		p.strides = append(p.strides, t.Stride(i)*step)
	}
	if lanes != 1 {
		p.shape = append(p.shape, int64(lanes))
		p.strides = append(p.strides, int64(p.dtype.Bits))
	}
	return p
}

// text visits the elements twice, to find the width of the columns first.
func (p *preview) text() string {
	if slices.Contains(p.shape, 0) {
		return "[]"
	}
	for _, p.measures = range []bool{true, false} {
		p.left = summarizeAbove
		p.column = 0
		p.visit(0, 0)
	}
	return p.out.String()
}

// visit writes the elements below the leading dimensions, from a bit on.
func (p *preview) visit(dim int, bit int64) {
	if dim == len(p.shape) {
		p.left--
		p.element(p.read(bit))
		return
	}
	p.write("[")
	for i := int64(0); i < p.shape[dim]; i++ {
		if i > 0 {
			p.separate(dim, p.width)
		}
		if p.left <= 0 {
			p.write("...")
			break
		}
		p.visit(dim+1, bit+i*p.strides[dim])
		if p.summary && i == edgeItems-1 && p.shape[dim] > 2*edgeItems {
			p.separate(dim, len("..."))
			p.write("...")
			i = p.shape[dim] - edgeItems - 1
		}
	}
	p.write("]")
}

// separate begins the next item of a dimension. Items of the last dimension continue on the same
// line while it has room, including closing brackets. All others begin a new line, with blank lines
// between blocks.
func (p *preview) separate(dim, width int) {
	last := len(p.shape) - 1
	switch {
	case dim < last:
		p.write(strings.Repeat("\n", last-dim) + strings.Repeat(" ", dim+1))
	case p.column+1+width > lineWidth-len(p.shape):
		p.write("\n" + strings.Repeat(" ", dim+1))
	default:
		p.write(" ")
	}
}

func (p *preview) element(text string) {
	if p.measures {
		p.width = max(p.width, len(text))
		return
	}
	p.write(strings.Repeat(" ", p.width-len(text)) + text)
}

func (p *preview) write(text string) {
	if p.measures {
		return
	}
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		p.column = -at - 1
	}
	p.column += len(text)
	p.out.WriteString(text)
}

// maxElement is the size in bytes of the largest named type, complex128.
const maxElement = 16

func (p *preview) read(bit int64) string {
	var bytes [maxElement]byte
	at := place{p.first, bit}
	if p.dtype.Bits < packedBelow {
		bytes[0] = at.load(p.dtype.Bits)
	} else {
		copy(bytes[:], unsafe.Slice((*byte)(at.address()), p.dtype.Bits/8))
	}
	return fmt.Sprintf(p.verb, p.dtype.value(bytes[:]))
}

// load reads a T from bytes that need not be aligned.
func load[T Scalar](bytes []byte) any {
	var v T
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), bytes)
	return v
}
