package cpp

import (
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// noExceptions are the flags for builds without exceptions and RTTI.
var noExceptions = []string{"-fno-exceptions", "-fno-rtti"}

// The same rule in C and in C++ must not diverge.
func TestValidatorsOfCAndOfCppAgree(t *testing.T) {
	for _, version := range []string{"1.2", "1.3", "main"} {
		dir := headers(t, version)
		passes(t, build(t, gcc, []string{"agree.cpp"}, flags([]string{testkit.Level(), "-I", dir}, strict)...),
			`\d{6,}`)
		if testing.Short() {
			break
		}
	}
}
