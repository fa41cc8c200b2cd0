package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
)

// withKernels is a minimal config with kernels of both forms.
const withKernels = "version: 1\ntargets: {c: {}, cpp: {}, torch: {}, kernels: {}}\n"

func TestDescribedKernelsAreRead(t *testing.T) {
	cfg, found := decode(t, withKernels+`devices: {kDLAcme: {value: 1000, torch: PrivateUse1}}
kernels:
  scale:
    args:
      x: float32[m, n] strided inout
      by: float32[]
    devices: {kDLAcme: {}}
`, Choice{})
	require.Empty(t, found)
	require.Len(t, cfg.Contracts, 1)
	assert.Equal(t, "scale", cfg.Contracts[0].Name)
	assert.Equal(t, int64(1000), cfg.Contracts[0].Devices[0].Value)
}

func TestLinesOfKernelsHavePositions(t *testing.T) {
	_, found := decode(t, withKernels+"kernels: {f: {args: {x: 'float32[n'}}}\n", Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:3:33: error: this [ is not closed [invalid-line]")
}

// Kernels in Go require the target that generates their library, and vice versa.
func TestKernelsInGoNeedTheirTarget(t *testing.T) {
	const head, kernel = "version: 1\ntargets: {c: {}, go: {}, kernels: {}",
		"kernels: {f: {lang: go, args: {x: 'int8[n]'}}}\n"
	for src, want := range map[string]string{
		head + "}\n" +
			kernel: "3:11: error: kernel f has lang: go, and no target of this config generates the library of kernels " +
			"in Go [needs-target]",
		head + ", gokernels: }\n" +
			kernel: "2:50: error: target gokernels needs option functions [missing-key]",
		head + ", gokernels: {functions: 'a b'}}\n" +
			kernel: "2:62: error: functions: \"a b\" is not an import path [invalid-option]",
		head +
			", gokernels: {functions: a/b}}\nkernels: {f: {args: {x: 'int8[n]'}}}\n": "target gokernels generates the library of kernels in Go, and no kernel has lang: go [no-kernels]",
		head + ", gokernels: {functions: a/b}}\nkernels: {f: {lang: go, args: {x: 'int4[n]', n: int}}}\n": "",
		head + ", gokernels: {functions: a/b}}\n" + kernel:                                                "",
		"version: 1\ntargets: {c: {}, kernels: {}, gokernels: {functions: a/b}}\n" +
			kernel: "target gokernels includes headers of target go for kernels with args or returns [needs-target]",
		head +
			", gokernels: {functions: a/b}}\nkernels: {f: {lang: go, types: {T: [int4]}, args: {x: 'T[n]'}}}\n": "3:11: error: target " +
			"gokernels: kernel f has dtype int4 for T, which Go has no type for in memory",
	} {
		_, found := decode(t, src, Choice{})
		if want == "" {
			assert.Empty(t, found, src)
		}
		assert.Contains(t, found, want, src)
	}
}

// Kernels require a target that uses them, and vice versa.
func TestDescribedKernelsNeedATarget(t *testing.T) {
	_, found := decode(t, "version: 1\ntargets: {c: {}}\nkernels: {f: {args: {x: int}}}\n", Choice{})
	assert.Contains(t, found,
		"dlpackgen.yaml:3:10: error: no target of this config uses the described kernels")
	_, found = decode(t, "version: 1\ntargets: {c: {}, cpp: {}, torch: {}}\nkernels: {f: {args: {x: int}}}\n", Choice{})
	assert.Contains(t, found,
		"2:34: error: target torch includes headers of target kernels for kernels with args or returns [needs-target]")
	_, found = decode(t, withKernels, Choice{})
	assert.Contains(t, found, "dlpackgen.yaml:2:47: warning: target kernels needs a kernel with args or returns")
	cfg, list := Default(spec.Embedded(), targets.Table(), Choice{})
	require.False(t, list.Failed())
	assert.NotContains(t, names(cfg.Selected), "kernels", "it is generated only on request")
}
