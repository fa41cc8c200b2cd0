// Package object finds the debug information in an object file of any format that C compilers
// write: ELF, COFF, Mach-O and WebAssembly. It does not interpret code or the debug information
// itself.
package object

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"strings"
)

// ErrTarget is the error for valid objects whose debug information package elf cannot relocate.
var ErrTarget = errors.New("cannot relocate debug information of")

// DWARF returns the debug information of an object file that was compiled but not linked. The error
// names the format and what is missing.
func DWARF(data []byte) (*dwarf.Data, error) {
	for _, f := range formats {
		if bytes.HasPrefix(data, []byte(f.magic)) {
			d, err := f.read(data)
			if err != nil {
				return nil, fmt.Errorf("%s object: %w", f.name, err)
			}
			return d, nil
		}
	}
	return readPE(data)
}

// formats lists the formats with a magic number. COFF objects have none, so all other files are
// treated as COFF.
var formats = []struct {
	name, magic string
	read        func([]byte) (*dwarf.Data, error)
}{
	{"ELF", elf.ELFMAG, readELF},
	{"Mach-O", "\xcf\xfa\xed\xfe", readMachO},
	{"Mach-O", "\xce\xfa\xed\xfe", readMachO},
	{"Mach-O", "\xfe\xed\xfa", readMachO},
	{"universal Mach-O", "\xca\xfe\xba\xbe", reject("it contains several architectures; compile for one")},
	{"LLVM bitcode", "BC\xc0\xde", reject("it contains no debug sections; compile without -flto")},
	{"WebAssembly", wasmMagic, readWasm},
}

func reject(why string) func([]byte) (*dwarf.Data, error) {
	return func([]byte) (*dwarf.Data, error) { return nil, errors.New(why) }
}

func readELF(data []byte) (*dwarf.Data, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if f.Class == elf.ELFCLASS32 && f.Machine == elf.EM_X86_64 {
		return readX32(f)
	}
	d, err := f.DWARF()
	if err != nil && strings.Contains(err.Error(), "applyRelocations") { // package elf has no name for it
		return nil, fmt.Errorf("%w %s (%s)", ErrTarget, f.Machine, f.Class)
	}
	return d, err
}

func readMachO(data []byte) (*dwarf.Data, error) {
	f, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return f.DWARF()
}

// readPE needs no relocation: COFF stores addends in place, and relocations against the start of a
// section add nothing.
func readPE(data []byte) (*dwarf.Data, error) {
	f, err := pe.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("the object file is not ELF, COFF, Mach-O or WebAssembly")
	}
	d, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("COFF object: %w", err)
	}
	return d, nil
}
