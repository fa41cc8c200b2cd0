package tree

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxSource limits the sources that are searched for definitions.
const maxSource = 4 << 20

// findDefined finds the missing starter files that are not created, because another source in the
// folder defines one of their functions, for example after a kernel was renamed.
func (r *reader) findDefined() error {
	existing := r.existingStarters()
	for _, p := range slices.Sorted(maps.Keys(r.want.files)) {
		defines := r.want.files[p].defines
		if len(defines) == 0 || r.files[p].sum != none {
			continue
		}
		define := definition(defines)
		if slices.ContainsFunc(existing[path.Dir(p)], define.Match) {
			r.defined[p] = true
			continue
		}
		other, err := r.definer(path.Dir(p), define)
		if err != nil {
			return err
		}
		if other != "" {
			r.defined[p] = true
		}
	}
	return nil
}

// existingStarters returns the contents of the starter files on the disk, by folder. A file may
// define the functions of several kernels.
func (r *reader) existingStarters() map[string][][]byte {
	all := map[string][][]byte{}
	for p, want := range r.want.files {
		if data := r.files[p].data; want.once && len(data) > 0 {
			all[path.Dir(p)] = append(all[path.Dir(p)], data)
		}
	}
	return all
}

// definer returns the file of a folder that is not planned and defines a function, or "".
func (r *reader) definer(dir string, definition *regexp.Regexp) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(r.extra)) {
		if path.Dir(name) != dir || r.extra[name] {
			continue
		}
		info, err := r.disk.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
			continue // it went away, or is not a source
		}
		data, err := readAll(r.disk, name, maxSource)
		if isAbsent(err) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return "", failed(r.want.at(name), err)
		}
		if definition.Match(data) {
			return name, nil
		}
	}
	return "", nil
}

// definition finds one of several C functions on a line that is not indented, such as `int f(` or
// `AXPY(f, float);`. Calls are indented, and prototypes end in a semicolon.
func definition(names []string) *regexp.Regexp {
	const rest = `[ \t\r]*(?:$|[,)]|\([^;{\n]*(?:\{|$))`
	return regexp.MustCompile(`(?m)^(?:[A-Za-z_][^;{}=\n]*\b)?(?:` + strings.Join(names, "|") + `)\b` + rest)
}
