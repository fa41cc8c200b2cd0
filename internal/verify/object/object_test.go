package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// custom returns a custom section of WebAssembly.
func custom(name, content string) string {
	body := string(rune(len(name))) + name + content
	return "\x00" + string(rune(len(body))) + body
}

const wasmHeader = "\x00asm\x01\x00\x00\x00"

func TestFilesThatAreNotObjectsAreRejected(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":                           "not ELF, COFF, Mach-O or WebAssembly",
		"int main(void)":             "not ELF, COFF, Mach-O or WebAssembly",
		"BC\xc0\xde....":             "compile without -flto",
		"\xca\xfe\xba\xbe...":        "compile for one",
		"\x7fELF":                    "ELF object: ",
		"\xcf\xfa\xed\xfe":           "Mach-O object: ",
		"\x00asm":                    "WebAssembly object: it is truncated",
		wasmHeader:                   "WebAssembly object: it contains no debug information",
		wasmHeader + "\x00\x7f":      "WebAssembly object: it is truncated",
		wasmHeader + "\x00":          "WebAssembly object: it is truncated",
		wasmHeader + "\x00\x01\x09":  "WebAssembly object: it is truncated",
		wasmHeader + custom("n", ""): "WebAssembly object: it contains no debug information",
	} {
		_, err := DWARF([]byte(data))
		assert.ErrorContains(t, err, want, "%q", data)
	}
}

func TestWasmSectionsAreFound(t *testing.T) {
	t.Parallel()
	// A unit without entries: length, version 4, abbreviations, 4-byte addresses.
	unit := "\x07\x00\x00\x00\x04\x00\x00\x00\x00\x00\x04"
	data := wasmHeader + "\x01\x01\x00" + custom(".debug_abbrev", "\x00") + custom(".debug_info",
		unit) + custom(".debug_str", "a\x00")
	d, err := DWARF([]byte(data))
	require.NoError(t, err)
	entry, err := d.Reader().Next()
	require.NoError(t, err)
	assert.Nil(t, entry)
}

func table(t *testing.T, relas ...elf.Rela32) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, binary.Write(&b, binary.LittleEndian, relas))
	return b.Bytes()
}

func TestX32Relocations(t *testing.T) {
	t.Parallel()
	symbols := []elf.Symbol{{Value: 100}, {Value: 7}}
	absolute := func(symbol uint32) uint32 { return elf.R_INFO32(symbol, uint32(elf.R_X86_64_32)) }
	data := make([]byte, 12)
	require.NoError(t, relocateX32(data, table(t,
		elf.Rela32{Off: 0, Info: absolute(1), Addend: 5},
		elf.Rela32{Off: 4, Info: elf.R_INFO32(1, uint32(elf.R_X86_64_64)), Addend: 5},
		elf.Rela32{Off: 8, Info: absolute(2), Addend: -7},
		elf.Rela32{Off: 8, Info: absolute(0), Addend: 9},
	), symbols))
	assert.Equal(t, []byte{105, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, data)

	for _, bad := range []elf.Rela32{{Off: 9, Info: absolute(1)}, {Off: 0, Info: absolute(3)}} {
		assert.ErrorIs(t, relocateX32(data, table(t, bad), symbols), errTruncated)
	}
	assert.Error(t, relocateX32(data, []byte{1, 2, 3}, symbols))
}
