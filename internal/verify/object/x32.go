package object

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// readX32 applies the relocations of x32, 32-bit objects for x86-64, which
// debug/elf leaves out.
func readX32(f *elf.File) (*dwarf.Data, error) {
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	sections := map[string][]byte{}
	for i, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		if err := relocateX32(data, relocations(f, i), symbols); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		sections[s.Name] = data
	}
	return fromSections(sections)
}

// relocations returns the bytes of the relocation table of section i, if any.
func relocations(f *elf.File, i int) []byte {
	for _, s := range f.Sections {
		if s.Type == elf.SHT_RELA && int(s.Info) == i {
			table, err := s.Data()
			if err == nil {
				return table
			}
		}
	}
	return nil
}

func relocateX32(data, table []byte, symbols []elf.Symbol) error {
	for r := bytes.NewReader(table); r.Len() > 0; {
		var rela elf.Rela32
		if err := binary.Read(r, binary.LittleEndian, &rela); err != nil {
			return err
		}
		// Symbol 0 is the null symbol, which elf.File.Symbols leaves out.
		n := int(elf.R_SYM32(rela.Info)) - 1
		if elf.R_X86_64(elf.R_TYPE32(rela.Info)) != elf.R_X86_64_32 || n < 0 {
			continue
		}
		if n >= len(symbols) || uint64(rela.Off)+4 > uint64(len(data)) {
			return errTruncated
		}
		value := uint32(symbols[n].Value) + uint32(rela.Addend)
		binary.LittleEndian.PutUint32(data[rela.Off:], value)
	}
	return nil
}
