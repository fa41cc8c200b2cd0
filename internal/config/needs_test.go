package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A config whose output cannot compile is rejected, and so is an unused section; both findings name
// what to add.
func TestNeedsAndUses(t *testing.T) {
	const kernels = "kernels: {f: {args: {x: \"int8[n] inout\"}}}\n"
	for src, want := range map[string]string{
		"targets: {torch: {}}":                      "target torch includes headers of target c, which this config does not generate",
		"targets: {c: {}, torch: {}}":               "target torch includes headers of target cpp",
		"targets: {python: {}}":                     "target python includes headers of target c",
		"targets: {cpp: }":                          "target cpp includes headers of target c",
		"targets: {torch: {}}\nelsewhere: [cpp]":    "target torch includes headers of target c,",
		"targets: {c: {}, cpp: {}}\nelsewhere: [c]": "target c is listed under targets too [elsewhere]",
		"targets: {c: {}}\nelsewhere: [cc]":         "a target of elsewhere must be one of c, go",
		"targets: {c: {}}\nelsewhere: c":            "elsewhere must be a list, not a value [type-mismatch]",
		"targets: {c: {}}\n" +
			kernels: "no target of this config uses the described kernels [unused-kernels]",
		"targets: {c: {}, cpp: {}, kernels: {}, torch: {}}\n" + kernels:      "",
		"targets: {kernels: {}, torch: {}}\nelsewhere: [c, cpp]\n" + kernels: "",
		"targets: {python: {}}\nelsewhere: [c]":                              "",
		"targets: {c: {}, go: {}, cuda: {}}\nelsewhere:":                     "",
		"targets: {c: {}}\nkernels: {}":                                      "",
		"targets: {c: {}, cpp: {single: true}}":                              "",
		"targets: {c: {}, cpp: {single: false}, torch: {}}":                  "",
		"targets: {c: {}, cpp: {single: true}, torch: {}}":                   "target torch includes headers of target cpp, which this config combines into one file [needs-folder]",
		"targets: {c: {}, cpp: {single: 1}}":                                 "single must be true or false",
		// Features of a newer release are not in an older header.
		"targets: {c: {dlpack: 1.0}, cpp: {dlpack: 1.3}}": "target cpp, for DLPack 1.3, includes headers of target c, which this config generates for 1.0 " +
			"[needs-release]",
		"dlpack: 1.3\ntargets: {c: {}, python: {dlpack: main}}":                  "which this config generates for 1.3 [needs-release]",
		"targets: {c: {dlpack: main}, cpp: {dlpack: 1.2}, torch: {dlpack: 1.3}}": "target torch, for DLPack 1.3, includes headers of target cpp, which this config generates for 1.2",
		"targets: {c: {dlpack: main}, cpp: {dlpack: 1.2}, python: {}}":           "",
		"dlpack: 1.2\ntargets: {go: {dlpack: main}, c: {}, shm: {}, cpp: {}}":    "",
	} {
		_, found := decode(t, "version: 1\n"+src+"\n", Choice{})
		if want == "" {
			assert.Empty(t, found, src)
			continue
		}
		first, _, _ := strings.Cut(found, "\n")
		assert.Contains(t, first, want, src)
	}
	_, found := decode(t, "version: 1\ntargets: {c: {}, cpp: {}, kernels: {}, torch: {}}\n"+kernels,
		Choice{Only: []string{"c"}})
	assert.Empty(t, found, "a selection does not take from the config")
	const mixed = "version: 1\ntargets: {c: {dlpack: 1.2}, cpp: {dlpack: main}}\n"
	_, found = decode(t, mixed, Choice{Release: "1.3"})
	assert.Empty(t, found, "the command line makes them equal")
	_, found = decode(t, mixed, Choice{Only: []string{"c"}})
	assert.Contains(t, found, "hint: generate target c for main or newer, or target cpp for 1.2")
	_, found = decode(t, "version: 1\ntargets: {torch: {}}\n", Choice{})
	assert.Contains(t, found,
		"hint: add `c: {}` to targets; or, if another config generates its headers, `elsewhere: [c]`")
}

// Without target device, the Go packages of several backends have separate types.
func TestSeparateTypesOfBackendsAreNoted(t *testing.T) {
	const pair = "note: the Go packages of targets cuda and rocm have separate types, such as cuda.Stream and rocm.Stream " +
		"[separate-types]"
	for src, want := range map[string]string{
		"targets: {go: {}, cuda: {}, rocm: {}}":                        pair,
		"targets: {cuda: {import: a/cuda}, rocm: {}}":                  pair,
		"targets: {go: {}, cuda: {}, shm: {}}":                         "of targets cuda and shm have",
		"targets: {go: {}, cuda: {}, rocm: {}, oneapi: {}, shm: {}}":   "of targets cuda and shm have",
		"targets: {go: {}, device: {}, cuda: {}, rocm: {}}":            "",
		"targets: {go: {}, cuda: {}, rocm: {}}\nelsewhere: [device]":   "",
		"targets: {go: {}, cuda: {}}":                                  "",
		"targets: {c: {}, cuda: {}, rocm: {}, oneapi: {}}":             "",
		"targets: {go: {}, device: {}, cuda: {}, shm: {}, oneapi: {}}": "",
	} {
		cfg, found := decode(t, "version: 1\n"+src+"\n", Choice{})
		if want == "" {
			assert.Empty(t, found, src)
			continue
		}
		assert.NotNil(t, cfg, "a note does not fail: %s", src)
		assert.Contains(t, found, want, src)
		assert.Contains(t, found, "hint: add `device: {}` to targets", src)
		assert.Equal(t, 1, strings.Count(found, "[separate-types]"), src)
	}
	for targets, want := range map[string]string{
		// acme has an import path
		"{cuda: {}}": "dlpackgen.yaml:4:3: note: the Go packages of targets cuda and acme have",
		"{}":         "", "{cuda: {}, device: {}}": "",
	} {
		_, found := decode(t, vendors[:strings.Index(vendors, "kernels:")]+"targets: "+targets+"\n", Choice{})
		assert.Equal(t, want == "", found == "", found)
		assert.Contains(t, found, want)
	}
}
