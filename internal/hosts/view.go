package hosts

import (
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/cformat"
)

// View is the data of templates/hosts/host.h.tmpl.
type View struct {
	Title, Package, Version, Guard, Prefix string
	Constants                              []string // enumerators
	Structs                                []StructView
	Functions                              []FunctionView
	Lookup                                 bool
}

// StructView is a struct with the facts that the compiler asserts.
type StructView struct {
	Comment string
	C       string
	Lines   []string
	Size    int64
	Asserts []AssertView
}

// AssertView is the offset of a field.
type AssertView struct {
	Field  string
	Offset int64
}

// FunctionView is the type of a function that is looked up, and its symbol, with a question mark
// before it if the function may be missing.
type FunctionView struct {
	Type, Comment       string
	Name, Symbol, MacOS string
}

// View returns the declarations in C, with names that begin with dlpackgen_ and the host's name.
func (h *Host) View() View {
	prefix := "dlpackgen_" + h.Name + "_"
	v := View{Title: h.Title, Package: h.Source.Package, Version: h.Source.Version,
		Guard: "DLPACKGEN_" + strings.ToUpper(h.Name) + "_ABI_H_", Prefix: prefix, Lookup: h.Lookup}
	for _, c := range h.Constants {
		name := strings.ToUpper(prefix + c.Name)
		v.Constants = append(v.Constants, fmt.Sprintf("%s = %d, /* %s */", name, c.Value, c.Native))
	}
	v.Constants = cformat.AlignComments(v.Constants)
	for _, s := range h.Structs {
		v.Structs = append(v.Structs, viewStruct(s, prefix))
	}
	for _, f := range h.Functions {
		text := declare(f.Returns+" (*)("+f.Params+")", prefix+f.Name, prefix)
		v.Functions = append(v.Functions, FunctionView{Type: "typedef " + text + ";",
			Comment: f.Symbol + since(f.Since),
			Name:    f.Name, Symbol: marked(f.Symbol, f.Optional), MacOS: marked(f.MacOS, f.Optional)})
	}
	return v
}

func marked(symbol string, optional bool) string {
	if optional && symbol != "" {
		return "?" + symbol
	}
	return symbol
}

func since(version string) string {
	if version == "" {
		return ""
	}
	return ", since " + version
}

// owned adds the host's prefix to the struct names in a type.
func owned(text, prefix string) string {
	return structType.ReplaceAllString(text, "struct "+prefix+"$1")
}

// declare formats the declaration of a name in C.
func declare(text, name, prefix string) string {
	text = cformat.Pointers(owned(text, prefix))
	if m := arrayType.FindStringSubmatch(text); m != nil {
		return m[1] + " " + name + "[" + m[2] + "]"
	}
	if callbackType.MatchString(text) {
		return strings.Replace(text, "(*)", "(*"+name+")", 1)
	}
	return strings.TrimSpace(text) + " " + name
}

func viewStruct(s Struct, prefix string) StructView {
	v := StructView{Comment: s.Native, C: "struct " + prefix + s.Name, Size: s.Size}
	var end int64
	for rest := s.Fields; len(rest) > 0; {
		group := union(rest)
		rest = rest[len(group):]
		v.Lines = append(v.Lines, reserved(end, group[0].Offset)...)
		v.Lines = append(v.Lines, members(group, prefix)...)
		for _, f := range group {
			v.Asserts = append(v.Asserts, AssertView{Field: f.Name, Offset: f.Offset})
			end = max(end, f.Offset+f.size)
		}
	}
	v.Lines = cformat.AlignComments(append(v.Lines, reserved(end, s.Size)...))
	return v
}

// union returns the fields at the same offset as the first one.
func union(fields []Field) []Field {
	n := 1
	for n < len(fields) && fields[n].Offset == fields[0].Offset {
		n++
	}
	return fields[:n]
}

// reserved returns fields for bytes that the description omits, including padding, so that the
// layout does not depend on the compiler.
func reserved(from, to int64) []string {
	if from == to {
		return nil
	}
	return []string{fmt.Sprintf("  unsigned char reserved_%d_[%d];", from, to-from)}
}

func members(group []Field, prefix string) (lines []string) {
	for _, f := range group {
		line := "  " + declare(f.Type, f.Name, prefix) + ";"
		if f.Since != "" {
			line += " /* since " + f.Since + " */"
		}
		lines = append(lines, line)
	}
	if len(group) == 1 {
		return lines
	}
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return append(append([]string{"  union {"}, lines...), "  };")
}
