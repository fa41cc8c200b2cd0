package object

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"strings"
)

const wasmMagic = "\x00asm"

var errTruncated = errors.New("it is truncated")

// readWasm reads the debug sections from the custom sections. LLVM leaves the relocated values in
// place, so the relocation sections are not needed.
func readWasm(data []byte) (*dwarf.Data, error) {
	if len(data) < 8 {
		return nil, errTruncated
	}
	sections := map[string][]byte{}
	for rest := data[8:]; len(rest) > 0; {
		id := rest[0]
		body, after, err := block(rest[1:])
		if err != nil {
			return nil, err
		}
		rest = after
		if id != 0 {
			continue
		}
		name, content, err := block(body)
		if err != nil {
			return nil, err
		}
		sections[string(name)] = content
	}
	return fromSections(sections)
}

// block returns the bytes after a LEB128 length.
func block(b []byte) (content, rest []byte, err error) {
	n, width := binary.Uvarint(b)
	if width <= 0 || n > uint64(len(b)-width) {
		return nil, nil, errTruncated
	}
	return b[width:][:n], b[uint64(width)+n:], nil
}

// fromSections builds the data from sections by name, ".debug_info" and so on.
func fromSections(s map[string][]byte) (*dwarf.Data, error) {
	if s[".debug_info"] == nil {
		return nil, errors.New("it contains no debug information")
	}
	d, err := dwarf.New(s[".debug_abbrev"], nil, nil, s[".debug_info"], s[".debug_line"], nil, s[".debug_ranges"],
		s[".debug_str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_str_offsets"} {
		if s[name] != nil {
			if err := d.AddSection(strings.TrimPrefix(name, "."), s[name]); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}
