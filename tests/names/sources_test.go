package names

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// declaredInGo returns the exported names of a Go file: "package.Name", "package.Type.Member".
func declaredInGo(file, text string) (set, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := set{}
	add := func(owner string, names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				found[parsed.Name.Name+"."+owner+name.Name] = true
			}
		}
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d), d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					add("", spec.Names...)
				case *ast.TypeSpec:
					add("", spec.Name)
					if s, ok := spec.Type.(*ast.StructType); ok {
						for _, f := range s.Fields.List {
							add(spec.Name.Name+".", f.Names...)
						}
					}
				}
			}
		}
	}
	return found, nil
}

// receiver returns "Type." of a method, "" of a function.
func receiver(f *ast.FuncDecl) (owner string) {
	if f.Recv == nil {
		return ""
	}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && owner == "" {
			owner = name.Name + "."
		}
		return true
	})
	return owner
}

// inPython matches a function, a class or a variable of a Python module, and a method of a module
// or type in C.
var inPython = regexp.MustCompile(`(?m)^[ \t]*(?:(?:def|class) (\w+)|(\w+) = )|^[ \t]*\{"(\w+)", `)

func declaredInPython(_, text string) (set, error) {
	found := set{}
	for _, m := range inPython.FindAllStringSubmatch(text, -1) {
		found[m[1]+m[2]+m[3]] = true
	}
	return found, nil
}

// declaredInSchema returns the keys of a config, and the values of its enums.
func declaredInSchema(_, text string) (set, error) {
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, err
	}
	found := set{}
	collect(schema, found)
	return found, nil
}

func collect(schema any, found set) {
	switch schema := schema.(type) {
	case []any:
		for _, s := range schema {
			collect(s, found)
		}
	case map[string]any:
		for key, s := range schema {
			collect(s, found)
			if properties, ok := s.(map[string]any); ok && key == "properties" {
				for name := range properties {
					found[name] = true
				}
			}
			if values, ok := s.([]any); ok && key == "enum" {
				for _, value := range values {
					if name, ok := value.(string); ok {
						found[name] = true
					}
				}
			}
		}
	}
}

var code = regexp.MustCompile(`(?m)^## (\S+)$`)

// declaredCodes returns the codes of findings and the states of files.
func declaredCodes(_, text string) (set, error) {
	found := set{}
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found, nil
}
