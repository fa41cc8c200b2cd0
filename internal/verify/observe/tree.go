package observe

import (
	"debug/dwarf"
	"path/filepath"
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// node is one entry of the debug information with its children.
type node struct {
	*dwarf.Entry
	children []*node
	files    []*dwarf.LineFile // of its compilation unit
}

// tree is the debug information of an object.
type tree struct {
	roots []*node // compilation units
	at    map[dwarf.Offset]*node
	// pointer is the size of a pointer in bytes, which clang omits from pointer types.
	pointer int64
	isC     bool // () takes any arguments, unlike in C++
}

func readTree(d *dwarf.Data) (*tree, error) {
	t := &tree{at: map[dwarf.Offset]*node{}}
	r := d.Reader()
	stack := []*node{{}}
	var files []*dwarf.LineFile
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			t.roots = stack[0].children
			return t, nil
		}
		if e.Tag == 0 {
			stack = stack[:max(1, len(stack)-1)]
			continue
		}
		if e.Tag == dwarf.TagCompileUnit {
			files = unitFiles(d, e)
			t.pointer, t.isC = int64(r.AddressSize()), isC(e)
		}
		n := &node{Entry: e, files: files}
		t.at[e.Offset] = n
		parent := stack[len(stack)-1]
		parent.children = append(parent.children, n)
		if e.Children {
			stack = append(stack, n)
		}
	}
}

// isC reports whether the language of a unit is a version of C.
func isC(unit *dwarf.Entry) bool {
	const c89, c, c99, c11, c17 = 0x01, 0x02, 0x0c, 0x1d, 0x2c
	language, _ := unit.Val(dwarf.AttrLanguage).(int64)
	return slices.Contains([]int64{c89, c, c99, c11, c17}, language)
}

// unitFiles returns no files if the line table cannot be read. Only positions are unknown then.
func unitFiles(d *dwarf.Data, unit *dwarf.Entry) []*dwarf.LineFile {
	lines, err := d.LineReader(unit)
	if err != nil || lines == nil {
		return nil
	}
	return lines.Files()
}

func (n *node) name() string {
	s, _ := n.Val(dwarf.AttrName).(string)
	return s
}

// number returns an integer attribute, or absent.
func (n *node) number(a dwarf.Attr, absent int64) int64 {
	if v, ok := n.Val(a).(int64); ok {
		return v
	}
	return absent
}

func (n *node) pos() diag.Pos {
	file := n.number(dwarf.AttrDeclFile, 0)
	if file <= 0 || file >= int64(len(n.files)) || n.files[file] == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: filepath.Clean(n.files[file].Name), Line: int(n.number(dwarf.AttrDeclLine, 0))}
}

// of returns the entry of the type, or nil for void.
func (t *tree) of(n *node) *node {
	off, ok := n.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return nil
	}
	return t.at[off]
}

// each calls f with every entry at file scope. Entries in namespaces have other names for clients.
func (t *tree) each(f func(*node)) {
	for _, unit := range t.roots {
		for _, n := range unit.children {
			f(n)
		}
	}
}
