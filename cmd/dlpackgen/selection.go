package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/gomod"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// selection holds the flags that generate, check and clean share.
type selection struct {
	cmd      *cobra.Command
	config   string
	noConfig bool
	spec     string
	dlpack   string
	prefix   string
	out      string
	only     []string
}

func selectionFlags(cmd *cobra.Command) *selection {
	s := &selection{cmd: cmd}
	f := cmd.Flags()
	f.StringVar(&s.config, "config", "", "`FILE` to read instead of ./"+config.File)
	f.BoolVar(&s.noConfig, "no-config", false, "read no config")
	f.StringVar(&s.spec, "spec", "", "`FILE` with the spec, instead of the built-in spec")
	f.StringVar(&s.dlpack, "dlpack", "", "`VERSION` of DLPack for every target, such as 1.3, main or latest")
	f.StringVar(&s.prefix, "prefix", "", "`PREFIX` of C names, such as acme_, for a vendored copy")
	f.StringSliceVar(&s.only, "only", nil,
		"`TARGETS` to select, separated by commas; other targets are neither checked nor changed")
	f.StringVar(&s.out, "out", "",
		"`DIR` for the output, instead of the config's out; without a config, for all targets")
	completeList(cmd, "only", targets.Names)
	complete(cmd, "dlpack", versions)
	return s
}

// versions returns the values that --dlpack accepts.
func versions() []string {
	out := []string{"latest"}
	if sp, err := builtIn(); err == nil {
		for _, r := range sp.Releases() {
			out = append(out, r.Version)
		}
	}
	return out
}

// job is a selection together with the files that it names.
type job struct {
	spec   *spec.Spec
	config *config.Config
	only   bool   // --only was given
	dir    string // of the config
	out    string // of this system
	lock   string
	inputs []string // config and spec, as the user named them
	read   []string // other inputs: go.mod, templates
	mods   gomod.Reader
	notes  []diag.Diagnostic
	// folders are the template folders that were read, by their paths in the config.
	folders map[string]*emit.Folder
	spent   *emit.Spent // by their templates, in the run
}

// load reads the spec and the config. An error in either of them ends the run.
func (s *selection) load() (*job, error) {
	if err := notEmpty(s.cmd, "config", "spec", "dlpack", "prefix", "only", "out"); err != nil {
		return nil, err
	}
	if s.config != "" && s.noConfig {
		return nil, cannot("usage", "omit one of them", "--config cannot be used with --no-config")
	}
	go self() // its digest, which records need, takes as long as reading the spec
	j := &job{only: len(s.only) > 0}
	if err := j.loadSpec(s.spec); err != nil {
		return nil, err
	}
	return j, s.loadConfig(j)
}

func (j *job) loadSpec(file string) (err error) {
	if file == "" {
		j.spec, err = builtIn()
		return err
	}
	j.spec, j.notes, err = loadSpec(file)
	j.inputs = append(j.inputs, file)
	return err
}

// builtIn returns the built-in spec. Its errors, which a contributor sees, are those of --spec.
func builtIn() (*spec.Spec, error) {
	sp, findings := spec.LoadEmbedded()
	return sp, invalid(findings)
}

// loadSpec reads a valid spec, and returns the warnings about it.
func loadSpec(file string) (*spec.Spec, []diag.Diagnostic, error) {
	src, err := readInput(file)
	if err != nil {
		return nil, nil, err
	}
	sp, findings := spec.Load(file, src)
	return sp, findings.Sorted(), invalid(findings)
}

// loadConfig finds the config. With --out, the config is optional.
func (s *selection) loadConfig(j *job) error {
	file, src, err := s.readConfig()
	if err != nil {
		return err
	}
	choice := config.Choice{Release: s.dlpack, Only: s.only, Prefix: s.prefix}
	var findings *diag.List
	if file == "" {
		j.config, findings = config.Default(j.spec, targets.Table(), choice)
		file = config.File
	} else {
		j.config, findings = config.Decode(file, src, j.spec, targets.Table(), choice)
		j.inputs = append([]string{file}, j.inputs...)
	}
	if err := invalid(findings); err != nil {
		return err
	}
	j.notes = append(j.notes, findings.Sorted()...)
	j.dir = filepath.Dir(file)
	j.lock = config.LockName(filepath.ToSlash(file))
	j.out = s.out
	if j.out == "" {
		j.out = filepath.Join(filepath.Dir(file), filepath.FromSlash(j.config.Out))
	}
	return nil
}

// readConfig returns the config's name and bytes. The name is empty if there is no config and none
// is needed.
func (s *selection) readConfig() (string, []byte, error) {
	if s.config != "" {
		if ofProcess(s.config) {
			return "", nil, cannot("usage", "pass the file by its name",
				"--config %s has no folder, which the paths in a "+
					"config are relative to", s.config)
		}
		src, err := readInput(s.config)
		return s.config, src, err
	}
	if !s.noConfig {
		src, err := readInput(config.File)
		var missing *missingInput
		if !errors.As(err, &missing) {
			return config.File, src, err
		}
	}
	if s.out == "" {
		hint := otherConfig() + "write one with `dlpackgen init`, or pass the output directory: --out DIR"
		return "", nil, cannot("no-config", hint, "there is no %s here, and no --out", config.File)
	}
	return "", nil, nil
}

// otherConfig returns the beginning of a hint if this folder has a config with YAML's other
// extension, or a parent folder has one.
func otherConfig() string {
	if other := strings.TrimSuffix(config.File, ".yaml") + ".yml"; isRegular(other) {
		return "rename " + other + " to " + config.File + ", or pass --config " + other + "; or "
	}
	here, err := filepath.Abs(".")
	up := ".."
	for ; err == nil && filepath.Dir(here) != here; here, up = filepath.Dir(here), filepath.Join(up, "..") {
		file := filepath.Join(up, config.File)
		if isRegular(file) {
			return "use the one of a folder above, by --config " + file + "; or "
		}
	}
	return ""
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// ofProcess reports whether a name refers to an open file or a device, such as /dev/stdin. A run
// would write to its folder. Only /dev/shm has folders of users.
func ofProcess(file string) bool {
	full, err := filepath.Abs(file)
	full = filepath.ToSlash(full)
	device := strings.HasPrefix(full, "/dev/") && !strings.HasPrefix(full, "/dev/shm/")
	return err == nil && (device || strings.HasPrefix(full, "/proc/"))
}

// missingInput is the error for a file that does not exist, as opposed to one that cannot be read.
type missingInput struct{ *failure }

// Unwrap returns the failure itself.
func (m *missingInput) Unwrap() error { return m.failure }

// readInput reads a spec or config. It stops one byte after the limit, so that the parser reports a
// file that is too large.
func readInput(file string) ([]byte, error) {
	if file == "" {
		return nil, cannot("usage", "omit it, or pass the name of a file", "the name of a file is empty")
	}
	f, err := openInput(file)
	if err == nil {
		defer f.Close()
		var src []byte
		if src, err = io.ReadAll(io.LimitReader(f, yaml.MaxBytes+1)); err == nil {
			expectMuch(len(src))
			return src, nil
		}
	}
	failed := cannot("unreadable", "", "%v", reason(err))
	failed.findings[0].Pos.File = file
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		failed.findings[0].Hint = "pass a file in it, or " + strings.TrimRight(filepath.ToSlash(file), "/") + "/..." +
			" for each dlpackgen.yaml below it"
	}
	if errors.Is(err, fs.ErrNotExist) {
		failed.findings[0].Hint = cmp.Or(similar(file), lookedIn(file))
		return nil, &missingInput{failed}
	}
	return nil, failed
}

// lookedIn returns the hint for a missing file without a similar name, because a program may run in
// another folder than its user expects.
func lookedIn(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	return "dlpackgen looked for it in " + dir
}

// similar returns a hint for a missing file.
func similar(file string) string {
	if file == "-" {
		return "- is a file of that name: stdin is not read"
	}
	if target, err := os.Readlink(file); err == nil {
		return "it is a symbolic link to " + target + ", which does not exist"
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return "there is no folder " + filepath.Dir(file)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return diag.DidYouMean(filepath.Base(file), names)
}

// openInput opens a regular file. Opening a pipe could block forever.
func openInput(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it must be a regular file, not a folder, pipe or device (%s)", info.Mode().Type())
	}
	return os.Open(file)
}
