package outputs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/jsontext"
)

// Text returns a line for each file: its path, its target ("-" for the lock) and its kind,
// separated by tabs.
func (l *List) Text() string {
	var b strings.Builder
	for _, o := range l.Outputs {
		target := o.Target
		if target == "" {
			target = "-"
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", o.Path, target, o.Kind)
	}
	return b.String()
}

// JSON returns the complete list; docs/schema/outputs.json describes it.
func (l *List) JSON() []byte { return jsontext.Of(l) }

// CMake returns a file that sets lists. Starter files are omitted, because they belong to the user.
func (l *List) CMake() string {
	var b strings.Builder
	fmt.Fprintf(&b, "set(DLPACKGEN_LIST_VERSION %d)\n", l.Version)
	for _, list := range []struct {
		name  string
		paths []string
	}{
		{"DLPACKGEN_INPUTS", l.Inputs},
		{"DLPACKGEN_OUTPUTS", l.paths()},
		{"DLPACKGEN_HEADERS", l.paths(Header)},
		{"DLPACKGEN_UNITS", l.paths(Unit)},
		{"DLPACKGEN_INCLUDE_DIRECTORIES", l.Includes},
	} {
		fmt.Fprintf(&b, "set(%s", list.name)
		for _, p := range list.paths {
			fmt.Fprintf(&b, "\n  \"%s\"", cmakeQuoted.Replace(p))
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// Text returns the lines of each config.
func (m Many) Text() string {
	var b strings.Builder
	for _, c := range m.Configs {
		b.WriteString((&List{m.Version, c.Files}).Text())
	}
	return b.String()
}

// JSON returns each config separately; docs/schema/outputs.json describes it.
func (m Many) JSON() []byte { return jsontext.Of(m) }

// CMake returns lists of the files of all configs.
func (m Many) CMake() string {
	all := &List{Version: m.Version}
	for _, c := range m.Configs {
		all.Inputs = append(all.Inputs, c.Inputs...)
		all.Outputs = append(all.Outputs, c.Outputs...)
		all.Includes = append(all.Includes, c.Includes...)
	}
	all.Inputs, all.Includes = unique(all.Inputs), unique(all.Includes)
	return all.CMake()
}

// unique removes duplicate paths, because several configs may read one go.mod.
func unique(paths []string) (out []string) {
	seen := map[string]bool{}
	for _, p := range paths {
		if !seen[p] {
			out = append(out, p)
		}
		seen[p] = true
	}
	return out
}

var cmakeQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, `;`, `\;`)

// Ninja returns a dyndep file. It adds the files of a run as implicit outputs to the build
// statement whose output is result: the stamp or the lock.
func (l *List) Ninja(result string) (string, error) {
	names := slices.DeleteFunc(l.paths(), func(p string) bool { return p == result })
	for i, name := range append([]string{result}, names...) {
		if strings.ContainsAny(name, "\r\n") {
			return "", fmt.Errorf("ninja cannot name %q: there is a line break in it", name)
		}
		if i > 0 {
			names[i-1] = ninjaPath.Replace(name)
		}
	}
	text := "ninja_dyndep_version = 1\nbuild " + ninjaPath.Replace(result)
	if len(names) > 0 {
		text += " | $\n    " + strings.Join(names, " $\n    ")
	}
	return text + ": dyndep\n  restat = 1\n", nil
}

var ninjaPath = strings.NewReplacer("$", "$$", " ", "$ ", ":", "$:")

// LockPath returns the path of the lock, or "" if a run has none.
func (l *List) LockPath() string { return strings.Join(l.paths(Lock), "") }
