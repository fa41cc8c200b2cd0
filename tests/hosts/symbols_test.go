package hosts

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/hosts"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// exported reads which functions and tables libtorch and libstdc++ export, by their symbols.
func exported(t *testing.T, include string) map[string]bool {
	t.Helper()
	standard, err := exec.Command(testtool.Require(t, "g++", "g++"), "-print-file-name=libstdc++.so").Output()
	require.NoError(t, err)
	found := map[string]bool{}
	libraries := filepath.Join(filepath.Dir(include), "lib")
	for _, file := range []string{filepath.Join(libraries, "libc10.so"), filepath.Join(libraries, "libtorch_cpu.so"),
		strings.TrimSpace(string(standard))} {
		library, err := elf.Open(file)
		require.NoError(t, err)
		symbols, err := library.DynamicSymbols()
		require.NoError(t, err)
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				found[s.Name] = true
			}
		}
		require.NoError(t, library.Close())
	}
	return found
}

// demangled gives the declarations that symbols of C++ stand for.
func demangled(t *testing.T, symbols []string) []string {
	t.Helper()
	cmd := exec.Command(testtool.Require(t, "c++filt", "binutils"))
	cmd.Stdin = strings.NewReader(strings.Join(symbols, "\n"))
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Symbols of C++ are exported by libtorch and libstdc++, and are those of the functions whose types
// are compared. The symbols of the C shim are names of C.
func TestSymbolsOfCPlusPlus(t *testing.T) {
	h := hosts.Embedded("torch_cpp")
	include, _ := installed(t, h)
	known := exported(t, include)
	var symbols []string
	for _, f := range h.Functions {
		symbols = append(symbols, f.Symbol)
		assert.True(t, known[f.Symbol], "%s: no library exports %s", f.Name, f.Symbol)
		assert.False(t, known[f.Symbol+"x"], "every text is a symbol")
	}
	for i, text := range demangled(t, symbols) {
		if native := h.Functions[i].Native; strings.HasPrefix(symbols[i], "_Z") && native != "" {
			assert.Contains(t, text, native+"(", symbols[i])
		}
	}
	classes, err := os.ReadFile("../../templates/torchshim/raise.h")
	require.NoError(t, err)
	tables := regexp.MustCompile(`"(_ZT[IV]\w+)"`).FindAllStringSubmatch(string(classes), -1)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		assert.True(t, known[table[1]], "no library exports %s", table[1])
	}
}
