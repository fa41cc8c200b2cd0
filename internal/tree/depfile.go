package tree

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/diag"
)

// depfileText tells make and ninja what a run depends on: one target, the stamp or else
// the lock, and the config, the spec, each go.mod that was read and the program as its
// inputs, all as seen from the current directory.
func depfileText(pos diag.Pos, target string, req Request) ([]byte, error) {
	inputs := req.Inputs
	if req.Binary != "" {
		inputs = append(slices.Clone(inputs), req.Binary)
	}
	var b bytes.Buffer
	for i, name := range append([]string{target}, inputs...) {
		if strings.ContainsAny(name, "\r\n") {
			return nil, fail(KindRequest, pos, "", "a depfile cannot name %q: there is a line break in it", name)
		}
		switch i {
		case 0:
		case 1:
			b.WriteString(": ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(escapeDep(filepath.ToSlash(name)))
	}
	if len(inputs) == 0 {
		b.WriteString(":")
	}
	b.WriteString("\n")
	for _, name := range inputs[min(1, len(inputs)):] { // rules of their own: make goes on where one has moved away
		b.WriteString(escapeDep(filepath.ToSlash(name)) + ":\n")
	}
	return b.Bytes(), nil
}

// escapeDep spells a path as both make and ninja read it.
func escapeDep(name string) string {
	return strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$").Replace(name)
}
