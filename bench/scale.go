package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
)

// The parts of the spec that a copy repeats: most of an emitter's input. Flags and linkage are
// omitted, because a spec has room for only one of each bit.
var (
	declarations = regexp.MustCompile(`(?ms)^declarations:\n(.*?)^\S`)
	entry        = regexp.MustCompile(`(?ms)^  - (?:struct|enum|alias|callback): .*?\n\n`)
	named        = regexp.MustCompile(`(?:- (?:struct|enum|alias|callback):|\bname:) (DL\w+|k[A-Z]\w+)`)
	word         = regexp.MustCompile(`[A-Za-z_]\w*`)
	semantics    = regexp.MustCompile(`(?m)^ +device: \{.*\n`)
)

// scale writes a spec with n times the declarations: each copy has the same structs, enums, aliases
// and callbacks under different names. It edits text, so that this program needs little memory.
func scale(w io.Writer, spec []byte, n int) error {
	at := declarations.FindSubmatchIndex(spec)
	if at == nil {
		return fmt.Errorf("the spec has no declarations")
	}
	end := at[3]
	var original bytes.Buffer
	for _, e := range entry.FindAll(spec[at[2]:end], -1) {
		original.Write(semantics.ReplaceAll(e, nil))
	}
	names := map[string]bool{}
	for _, m := range named.FindAllSubmatch(original.Bytes(), -1) {
		names[string(m[1])] = true
	}
	if _, err := w.Write(spec[:end]); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		copied := word.ReplaceAllFunc(original.Bytes(), func(name []byte) []byte {
			if names[string(name)] {
				return fmt.Appendf(name[:len(name):len(name)], "_%d", i)
			}
			return name
		})
		if _, err := w.Write(copied); err != nil {
			return err
		}
	}
	_, err := w.Write(spec[end:])
	return err
}
