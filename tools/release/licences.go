package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// linked is a module that a binary contains.
type linked struct {
	path, version, sum string
	licence            string // an SPDX expression
	text               string
}

// linkedModules reads the binaries. All modules of the Go project, and its standard library, have
// one licence text.
func (r *release) linkedModules(binaries []binary) ([]linked, error) {
	found := map[string]linked{}
	for _, b := range binaries {
		for _, dep := range b.info.Deps {
			found[dep.Path] = linked{path: dep.Path, version: dep.Version, sum: dep.Sum}
		}
	}
	var all []linked
	for _, m := range found {
		var err error
		if m.text, err = r.licenceText(m); err != nil {
			return nil, err
		}
		if m.licence = identify(m.text); m.licence == "" {
			return nil, fmt.Errorf("%s: unknown licence: tools/release/licences.go lists those that may be linked",
				m.path)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// licenceText joins the licence and notice files of a module.
func (r *release) licenceText(m linked) (string, error) {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"} {
		names, err := filepath.Glob(filepath.Join(r.modules(), escaped+"@"+m.version, pattern))
		if err != nil {
			return "", err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			text.WriteString(strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")) + "\n\n")
		}
	}
	return text.String(), nil
}

// identify returns the SPDX expression of a licence text, or "".
func identify(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	var ids []string
	for _, l := range []struct{ id, says string }{
		{"Apache-2.0", "Apache License, Version 2.0"}, {"Apache-2.0", "Apache License Version 2.0"},
		{"BSD-3-Clause", "Neither the name of"}, {"MIT", "Permission is hereby granted, free of charge"},
	} {
		if strings.Contains(words, l.says) && !slices.Contains(ids, l.id) {
			ids = append(ids, l.id)
		}
	}
	return strings.Join(ids, " AND ")
}

// thirdParty returns the file that the licences of linked modules require.
func thirdParty(modules []linked) file {
	var b strings.Builder
	fmt.Fprintf(&b, "The dlpackgen program contains the modules below, and the standard library of %s, which has\n"+
		"the licence of the golang.org modules.\n", goVersion())
	for _, m := range modules {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n\n%s", strings.Repeat("=", 80), m.path, m.version, m.licence, m.text)
	}
	return file{path: "LICENSES-THIRD-PARTY", data: []byte(b.String())}
}

// goVersion is the Go version of the binaries, because GOTOOLCHAIN is local.
func goVersion() string { return runtime.Version() }
